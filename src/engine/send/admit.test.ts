import { describe, expect, it } from 'vitest';
import type { Message, SendRequest } from '#protocol';
import { contextId, externalId, seq, taskId } from '#protocol';
import {
  agent,
  ask,
  BOB,
  collect,
  ctx,
  echo,
  hanging,
  historyOf,
  quiet,
  request,
  said,
  taskOf,
  textOf,
  toTask,
  user,
  withSemantics,
  world,
} from '../../../test/support/engine.ts';

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

  it('nowhere if the task is past the generation that the caller knows', async () => {
    const { service } = await world(async function* () {
      yield ask('more?');
    });
    const task = taskOf(await service.send(request('a'), ctx()));
    const at = (generation: number): SendRequest => ({ ...toTask(task, 'b'), configuration: { ifGenerationMatch: seq(generation) } });
    await expect(service.send(at(1), ctx())).rejects.toMatchObject({ kind: 'TASK_GENERATION_MISMATCH' });
    expect(taskOf(await service.send(at(2), ctx())).generation).toBe(4);
    expect(taskOf(await service.send(request('new', { configuration: { ifGenerationMatch: seq(9) } }), ctx())).generation).toBe(2);
  });

  it('to the one waiting task of its context, if the options say so', async () => {
    const run = agent(async function* ({ message, history }) {
      if (history.length === 0) yield ask('more?');
      else yield { kind: 'text', text: `${message.parts[0]?.text}` };
    });
    const inContext = (text: string): SendRequest => ({ message: user(text, { contextId: contextId('c') }) });
    const { service } = await world(run, withSemantics({ continuesByContext: true }));
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
  const named = withSemantics({ taskNames: 'reusable', tasksOnly: true });
  const thread = (text: string): SendRequest => ({ message: user(text), alias: externalId('thread-1') });
  const id = taskId('thread-1');

  it('continues over many messages, each a task in one context, all under that name', async () => {
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

  it('can stand in place of a task id while it is not finished', async () => {
    const { service } = await world(async function* ({ history }) {
      if (history.length === 0) yield ask('more?');
    }, named);
    await service.send(thread('a'), ctx());
    const next = taskOf(await service.send({ message: user('b', { taskId: id }) }, ctx()));
    expect([next.id, next.status.state, historyOf(next)]).toEqual([id, 'TASK_STATE_COMPLETED', ['a', 'more?', 'b']]);
    await expect(service.send({ message: user('c', { taskId: id }) }, ctx())).rejects.toMatchObject({ kind: 'TASK_FINISHED' });
  });

  it('works on one message at a time, and is canceled by its name', async () => {
    const { service, engine } = await world(hanging, named);
    const sent = [1, 2, 3].map((at) => service.send(thread(`m${at}`), ctx()));
    for (let at = 1; at <= 3; at += 1) {
      await quiet();
      expect((await engine.admin.tasks({})).totalSize).toBe(at);
      const canceled = await service.cancel({ id }, ctx());
      expect([canceled.id, canceled.status.state, historyOf(canceled)]).toEqual([id, 'TASK_STATE_CANCELED', [`m${at}`]]);
    }
    for (const each of sent) expect(taskOf(await each).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('means nothing to another caller, and is never the id of an answer without task names', async () => {
    const { service } = await world(echo, named);
    await service.send(thread('a'), ctx());
    await expect(service.get({ id }, ctx({ principal: BOB }))).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    const theirs = taskOf(await service.send(thread('b'), ctx({ principal: BOB })));
    expect(historyOf(theirs)).toEqual(['b']);
    const { service: plain } = await world(echo);
    const task = taskOf(await plain.send(thread('a'), ctx()));
    expect(task.id).not.toBe(id);
    expect((await plain.get({ id }, ctx())).id).toBe(task.id);
  });
});
