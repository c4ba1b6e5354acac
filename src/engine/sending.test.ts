import { describe, expect, it } from 'vitest';
import type { Message, SendRequest, Task } from '#protocol';
import { contextId, createAgentTextMessage, createUserMessage, externalId, messageId, seq, taskId } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  BOB,
  collect,
  ctx,
  doing,
  echo,
  gate,
  hanging,
  historyOf,
  quiet,
  reader,
  request,
  said,
  shortly,
  taskOf,
  textOf,
  toTask,
  user,
  withTraits,
  wordsOf,
  world,
} from '../../test/support/engine.ts';

const direct = agent(async function* ({ message }) {
  yield { kind: 'message', message: said(`you said ${message.parts[0]?.text}`) };
});
const later = (open: Promise<void>) =>
  agent(async function* () {
    yield { kind: 'text', text: 'half' };
    await open;
    yield { kind: 'text', text: ' whole' };
  });

describe('a send', () => {
  it('costs one commit when the agent is quick', async () => {
    const { service, engine } = await world(echo);
    const task = taskOf(await service.send(request('hello'), ctx()));
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'hello' }] }] });
    expect(task.status.timestamp).toBe('2026-01-01T00:00:00.000Z');
    expect(engine.stats()).toMatchObject({ commits: 1, events: 3, liveTasks: 0, running: 0 });
  });

  it('waits for the end, or for a question, unless it asks not to', async () => {
    const open = gate();
    const { service } = await world(later(open.wait));
    const waiting = service.send(request('a'), ctx());
    const early = taskOf(await service.send(request('b', AT_ONCE), ctx()));
    expect([early.status.state, textOf(early)]).toEqual(['TASK_STATE_WORKING', 'half']);
    open.open();
    expect(textOf(taskOf(await waiting))).toBe('half whole');
  });

  it('waits or not by what its dialect is used to', async () => {
    const { service } = await world(hanging, withTraits({ blockingDefault: false }));
    expect(taskOf(await service.send(request('a'), ctx())).status.state).toBe('TASK_STATE_WORKING');
    const { service: quick } = await world(echo, withTraits({ blockingDefault: false }));
    const wants: SendRequest = request('a', { configuration: { returnImmediately: false } });
    expect(taskOf(await quick.send(wants, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('goes on when its caller has left', async () => {
    const [left, open] = [new AbortController(), gate()];
    const { service } = await world(later(open.wait));
    const sent = service.send(request('a'), ctx({ signal: left.signal }));
    await quiet();
    left.abort();
    await expect(sent).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    open.open();
    await quiet();
    const [task] = (await service.list({ includeArtifacts: true }, ctx())).tasks;
    expect([task?.status.state, task && textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'half whole']);
  });

  it('keeps the context it is given, makes one otherwise, and keeps the metadata', async () => {
    const { service } = await world(echo);
    const given = taskOf(await service.send({ message: user('a', { contextId: contextId('mine') }), metadata: { k: 1 } }, ctx()));
    expect(given).toMatchObject({ contextId: 'mine', metadata: { k: 1 }, history: [{ contextId: 'mine', taskId: given.id }] });
    const made = taskOf(await service.send(request('b'), ctx()));
    expect(made.contextId).not.toBe('mine');
  });

  it('shows as much of the history as is asked for', async () => {
    const { service } = await world(async function* ({ message }) {
      yield { kind: 'status', message: createAgentTextMessage(`heard ${message.parts[0]?.text}`) };
      yield { kind: 'ask', question: createAgentTextMessage('more?') };
    });
    const first = taskOf(await service.send(request('one'), ctx()));
    const all = ['one', 'heard one', 'more?', 'two', 'heard two'];
    const sent = async (historyLength?: number): Promise<Task> => {
      const configuration = historyLength === undefined ? {} : { configuration: { historyLength } };
      return taskOf(await service.send({ ...toTask(first, 'two'), ...configuration }, ctx()));
    };
    expect(historyOf(await sent())).toEqual(all);
    expect(await sent(0)).not.toHaveProperty('history');
    expect(historyOf(await sent(2))).toEqual(['two', 'heard two']);
    const got = async (historyLength?: number) =>
      service.get({ id: first.id, ...(historyLength === undefined ? {} : { historyLength }) }, ctx());
    expect(historyOf(await got())).toHaveLength(11);
    expect(await got(0)).not.toHaveProperty('history');
    expect(historyOf(await got(99))).toHaveLength(11);
    const { service: brief } = await world(echo, withTraits({ historyDefault: 'none' }));
    const task = taskOf(await brief.send(request('a'), ctx()));
    expect(task).not.toHaveProperty('history');
    expect(historyOf(await brief.get({ id: task.id, historyLength: 1 }, ctx()))).toEqual(['a']);
  });
});

describe('where a message goes', () => {
  it('to the task it names, of the same caller and agent, in the same context', async () => {
    const other = agent(async function* () {
      yield ask('other?');
    });
    const { service, engine } = await world(async function* () {
      yield ask('more?');
    }, {});
    const task = taskOf(await service.send(request('a'), ctx()));
    const named = (more: Partial<Message>): SendRequest => ({ message: user('b', { taskId: task.id, ...more }) });
    await expect(service.send(named({ taskId: taskId('nobody') }), ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(service.send(named({}), ctx({ principal: BOB }))).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(service.send(named({}), ctx({ tenant: 'x' as never }))).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(service.send(named({ contextId: contextId('wrong') }), ctx())).rejects.toMatchObject({
      kind: 'INVALID_PARAMS',
      details: { field: 'message.contextId' },
    });
    expect(historyOf(await service.get({ id: task.id }, ctx()))).toEqual(['a']);
    await service.send(named(task.contextId === undefined ? {} : { contextId: task.contextId }), ctx());
    expect(engine.stats()).toMatchObject({ liveTasks: 0 });
    const two = await world(other, { agents: { one: other, two: other } });
    const mine = taskOf(await two.engine.serviceOf('one').send(request('a'), ctx()));
    await expect(two.engine.serviceOf('two').send(toTask(mine, 'b'), ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(two.engine.serviceOf('two').get({ id: mine.id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    expect(() => two.engine.serviceOf('three')).toThrow('there is no agent three');
  });

  it('nowhere if the task has moved on from the generation that the caller knows', async () => {
    const { service } = await world(async function* () {
      yield ask('more?');
    });
    const task = taskOf(await service.send(request('a'), ctx()));
    const at = (generation: number): SendRequest => ({ ...toTask(task, 'b'), configuration: { ifGenerationMatch: seq(generation) } });
    await expect(service.send(at(1), ctx())).rejects.toMatchObject({ kind: 'TASK_GENERATION_MISMATCH' });
    expect(taskOf(await service.send(at(2), ctx())).generation).toBe(4);
    expect(taskOf(await service.send(request('new', { configuration: { ifGenerationMatch: seq(9) } }), ctx())).generation).toBe(2);
  });

  it('to the one waiting task of its context, where a dialect has it so', async () => {
    const run = agent(async function* ({ message, history }) {
      if (history.length === 0) yield ask('more?');
      else yield { kind: 'text', text: `${message.parts[0]?.text}` };
    });
    const inContext = (text: string): SendRequest => ({ message: user(text, { contextId: contextId('c') }) });
    const { service } = await world(run, withTraits({ resumesByContext: true }));
    const first = taskOf(await service.send(inContext('a'), ctx()));
    const stranger = taskOf(await service.send(inContext('not yours'), ctx({ principal: BOB })));
    expect(stranger.id).not.toBe(first.id);
    const second = taskOf(await service.send(inContext('b'), ctx()));
    expect([second.id, textOf(second)]).toEqual([first.id, 'b']);
    const [third, fourth] = [taskOf(await service.send(inContext('c'), ctx())), taskOf(await service.send(inContext('x'), ctx()))];
    expect(fourth.id).toBe(third.id);
    await Promise.all([
      service.send({ message: user('d', { contextId: contextId('two') }) }, ctx()),
      service.send({ message: user('e', { contextId: contextId('two') }) }, ctx()),
    ]);
    const ambiguous = taskOf(await service.send({ message: user('f', { contextId: contextId('two') }) }, ctx()));
    expect(historyOf(ambiguous)).toEqual(['f']);
    const { service: strict } = await world(run);
    const one = taskOf(await strict.send(inContext('a'), ctx()));
    expect(taskOf(await strict.send(inContext('b'), ctx())).id).not.toBe(one.id);
  });
});

describe('a task that its caller names', () => {
  const named = withTraits({ callerNamesTask: true, directMessage: 'as-task' });
  const thread = (text: string): SendRequest => ({ message: user(text), alias: externalId('thread-1') });
  const id = taskId('thread-1');

  it('goes on over many messages, each a task of its own in one context, all under that name', async () => {
    const { service, engine } = await world(async function* ({ message }) {
      yield { kind: 'status', message: said('busy') };
      yield { kind: 'text', text: `re: ${message.parts[0]?.text}` };
    }, named);
    const contexts = new Set<unknown>();
    for (let at = 0; at < 20; at += 1) {
      const task = taskOf(await service.send(thread(`m${at}`), ctx()));
      contexts.add(task.contextId);
      expect([task.id, textOf(task), task.status.state]).toEqual([id, `re: m${at}`, 'TASK_STATE_COMPLETED']);
      expect(JSON.stringify(task)).not.toContain('id-');
      expect(textOf(await service.get({ id }, ctx()))).toBe(`re: m${at}`);
    }
    expect(contexts.size).toBe(1);
    expect((await engine.admin.tasks({})).totalSize).toBe(20);
    const stream = await collect(service.stream(thread('last'), ctx()));
    expect(new Set(stream.map(({ event }) => event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId))).toEqual(
      new Set([id]),
    );
    expect((await service.list({}, ctx())).tasks.map((task) => task.id)).toEqual(Array(21).fill(id));
  });

  it('is also what a message may say in place of a task id, while it is not finished', async () => {
    const { service } = await world(async function* ({ history }) {
      if (history.length === 0) yield ask('more?');
    }, named);
    await service.send(thread('a'), ctx());
    const next = taskOf(await service.send({ message: user('b', { taskId: id }) }, ctx()));
    expect([next.id, next.status.state, historyOf(next)]).toEqual([id, 'TASK_STATE_COMPLETED', ['a', 'more?', 'b']]);
    await expect(service.send({ message: user('c', { taskId: id }) }, ctx())).rejects.toMatchObject({ kind: 'TASK_FINISHED' });
  });

  it('is one task for messages that come at once, and is cancelled by its name', async () => {
    const { service, engine } = await world(hanging, named);
    const sent = [1, 2, 3].map((at) => service.send(thread(`m${at}`), ctx()));
    await quiet();
    expect((await engine.admin.tasks({})).totalSize).toBe(1);
    const canceled = await service.cancel({ id }, ctx());
    expect([canceled.id, canceled.status.state]).toEqual([id, 'TASK_STATE_CANCELED']);
    for (const each of sent) expect(taskOf(await each).status.state).toBe('TASK_STATE_CANCELED');
    expect(historyOf(canceled)).toEqual(['m1', 'm2', 'm3']);
  });

  it('means nothing to another caller, and nothing in a dialect without names', async () => {
    const { service } = await world(echo, named);
    await service.send(thread('a'), ctx());
    await expect(service.get({ id }, ctx({ principal: BOB }))).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    const theirs = taskOf(await service.send(thread('b'), ctx({ principal: BOB })));
    expect(historyOf(theirs)).toEqual(['b']);
    const { service: plain } = await world(echo);
    const task = taskOf(await plain.send(thread('a'), ctx()));
    expect(task.id).not.toBe(id);
    await expect(plain.get({ id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });
});

describe('a direct message', () => {
  it('is the answer, and leaves no task', async () => {
    const { service, engine } = await world(direct);
    const { message, task } = await service.send(request('hi'), ctx());
    expect(task).toBeUndefined();
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'you said hi' }] });
    expect(message).not.toHaveProperty('taskId');
    expect(message?.contextId).toMatch(/^id/);
    expect((await service.list({}, ctx())).totalSize).toBe(0);
    expect(engine.stats()).toMatchObject({ commits: 1, events: 0, liveTasks: 0 });
  });

  it('is one to a send that does not wait too, if it comes at once', async () => {
    const { service } = await world(direct);
    expect((await service.send(request('hi', AT_ONCE), ctx())).message).toBeDefined();
  });

  it('needs no commit at all if nothing has to be remembered', async () => {
    const { service, engine } = await world(direct);
    const { message } = await service.send({ message: createUserMessage('hi', { messageId: messageId('') }) }, ctx());
    expect(message).toBeDefined();
    expect(engine.stats().commits).toBe(0);
  });

  it('is a stream of one event', async () => {
    const { service } = await world(direct);
    expect(shortly(await collect(service.stream(request('hi'), ctx())))).toEqual(['message']);
  });

  it('is a stream of one event also if the agent took a moment, but not if it took longer', async () => {
    for (const [ms, events] of [
      [200, ['message']],
      [300, ['task WORKING', 'COMPLETED']],
    ] as const) {
      const { service, time } = await world(async function* () {
        await new Promise<void>((resolve) => time.timers.later(ms, resolve));
        yield { kind: 'message', message: said('hi') };
      });
      const stream = reader(service.stream(request('hi'), ctx()));
      await quiet();
      expect(stream.seen).toEqual([]);
      await time.advance(ms);
      await stream.done;
      expect(shortly(stream.seen)).toEqual(events);
    }
  });

  it('takes a task back that is on disk already, if nobody can have heard of it', async () => {
    const open = gate();
    const { service, engine } = await world(async function* () {
      await open.wait;
      yield { kind: 'message', message: said('late') };
    });
    const sent = service.send(request('hi'), ctx());
    await quiet();
    expect(engine.stats().commits).toBe(1);
    open.open();
    expect((await sent).message?.parts).toEqual([{ text: 'late' }]);
    expect((await service.list({}, ctx())).totalSize).toBe(0);
  });

  it('is the end of the task if somebody has heard of it, if more was said, or if the dialect has only tasks', async () => {
    const open = gate();
    const slow = await world(async function* () {
      await open.wait;
      yield { kind: 'message', message: said('late') };
    });
    const sent = slow.service.send(request('hi'), ctx());
    await quiet();
    expect((await slow.service.list({}, ctx())).totalSize).toBe(1);
    open.open();
    expect(wordsOf(taskOf(await sent))).toBe('late');
    const both = await world(async function* () {
      yield { kind: 'text', text: 'made' };
      yield { kind: 'message', message: said('said') };
    });
    const task = taskOf(await both.service.send(request('hi'), ctx()));
    expect([textOf(task), wordsOf(task)]).toEqual(['made', 'said']);
    const tasks = await world(direct, withTraits({ directMessage: 'as-task' }));
    expect(taskOf(await tasks.service.send(request('hi'), ctx())).status.state).toBe('TASK_STATE_COMPLETED');
    expect(shortly(await collect(tasks.service.stream(request('hi'), ctx())))).toEqual(['task WORKING', 'COMPLETED']);
  });
});

describe('a get that asks for news', () => {
  it('waits for them, but not for ever, and not for a finished task', async () => {
    const open = gate();
    const { service, time } = await world(doing(() => open.wait));
    const { id } = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    let got: Task | undefined;
    const poll = (known: number) => service.get({ id, currentGeneration: seq(known) }, ctx()).then((task) => (got = task));
    await poll(0);
    expect(got?.generation).toBe(1);
    got = undefined;
    const waiting = poll(1);
    await quiet();
    await time.advance(24_000);
    expect(got).toBeUndefined();
    await time.advance(1000);
    await waiting;
    expect(got).toMatchObject({ generation: 1, status: { state: 'TASK_STATE_WORKING' } });
    const next = poll(1);
    open.open();
    await next;
    expect(got).toMatchObject({ generation: 2, status: { state: 'TASK_STATE_COMPLETED' } });
    await poll(2);
  });
});
