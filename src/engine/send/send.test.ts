import { describe, expect, it } from 'vitest';
import type { SendRequest, Task } from '#protocol';
import { contextId, createAgentTextMessage, seq } from '#protocol';
import {
  AT_ONCE,
  agent,
  ctx,
  doing,
  echo,
  gate,
  hanging,
  historyOf,
  quiet,
  request,
  taskOf,
  textOf,
  toTask,
  user,
  withSemantics,
  world,
} from '../../../test/support/engine.ts';
import { eventually } from '../../../test/support/eventually.ts';

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

  it('waits for the end or a question, unless it returns immediately', async () => {
    const open = gate();
    const { service } = await world(later(open.wait));
    const waiting = service.send(request('a'), ctx());
    const early = taskOf(await service.send(request('b', AT_ONCE), ctx()));
    expect([early.status.state, textOf(early)]).toEqual(['TASK_STATE_WORKING', 'half']);
    open.open();
    expect(textOf(taskOf(await waiting))).toBe('half whole');
  });

  it('waits unless the caller asks for an immediate answer', async () => {
    const { service } = await world(hanging);
    expect(taskOf(await service.send(request('a', AT_ONCE), ctx())).status.state).toBe('TASK_STATE_WORKING');
    const { service: quick } = await world(echo);
    const wants: SendRequest = request('a', { configuration: { returnImmediately: false } });
    expect(taskOf(await quick.send(wants, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('continues when its caller disconnects', async () => {
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

  it('keeps its context or makes one, and keeps the metadata', async () => {
    const { service } = await world(echo);
    const given = taskOf(await service.send({ message: user('a', { contextId: contextId('mine') }), metadata: { k: 1 } }, ctx()));
    expect(given).toMatchObject({ contextId: 'mine', metadata: { k: 1 }, history: [{ contextId: 'mine', taskId: given.id }] });
    const made = taskOf(await service.send(request('b'), ctx()));
    expect(made.contextId).not.toBe('mine');
  });

  it('returns as much history as requested', async () => {
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
  });
});

describe('a get that waits for a newer generation', () => {
  it('waits for it, up to a limit, and not for a finished task', async () => {
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

describe('a caller that waits for a limited time', () => {
  it('gets the task as it is when the time is over, and the turn continues', async () => {
    const open = gate();
    const { service, time } = await world(later(open.wait), withSemantics({ sendMsMax: 50_000 }));
    const sent = service.send(request('go'), ctx());
    await quiet();
    await time.advance(50_001);
    const task = taskOf(await sent);
    expect(task.status.state).toBe('TASK_STATE_WORKING');
    open.open();
    await eventually(async () => expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_COMPLETED'));
    expect(textOf(await service.get({ id: task.id }, ctx()))).toBe('half whole');
  });
});
