import { describe, expect, it } from 'vitest';
import type { Store } from '#engine';
import { seq, taskId } from '#protocol';
import {
  AT_ONCE,
  agent,
  BOB,
  ctx,
  echo,
  hanging,
  historyOf,
  quiet,
  request,
  said,
  seqsOf,
  taskOf,
  textOf,
  withSemantics,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';

describe('the operators’ service', () => {
  it('lists the tasks of all owners, filtered and in pages', async () => {
    const { service, engine, time } = await world(echo, { agents: { one: echo, two: hanging } });
    const mine = taskOf(await service.send(request('mine'), ctx()));
    await time.advance(1000);
    const theirs = taskOf(await engine.serviceOf('two').send(request('theirs', AT_ONCE), ctx({ principal: BOB, tenant: 'acme' as never })));
    const { admin } = engine;
    const all = await admin.tasks({});
    expect(all).toMatchObject({ totalSize: 2, nextPageToken: '' });
    expect(
      all.tasks.map(({ id, principal, tenant, agent: name, state, isRunning, attempt }) => [
        id,
        principal,
        tenant,
        name,
        state,
        isRunning,
        attempt,
      ]),
    ).toEqual([
      [theirs.id, 'bob', 'acme', 'two', 'TASK_STATE_WORKING', true, 1],
      [mine.id, 'alice', undefined, 'one', 'TASK_STATE_COMPLETED', false, 0],
    ]);
    expect((await admin.tasks({ principal: 'bob', tenant: 'acme' as never })).totalSize).toBe(1);
    expect((await admin.tasks({ principal: 'bob' })).totalSize).toBe(0);
    expect((await admin.tasks({ agent: 'one' })).totalSize).toBe(1);
    expect((await admin.tasks({ status: 'TASK_STATE_WORKING' })).tasks[0]?.id).toBe(theirs.id);
    expect((await admin.tasks({ statusTimestampAfter: '2026-01-01T00:00:00.500Z' })).totalSize).toBe(1);
    const first = await admin.tasks({ pageSize: 1 });
    const second = await admin.tasks({ pageSize: 1, pageToken: first.nextPageToken });
    expect([first.tasks[0]?.id, second.tasks[0]?.id, second.nextPageToken]).toEqual([theirs.id, mine.id, '']);
  });

  it('foretells what a restart does with a task', async () => {
    const waiting = agent(async function* () {
      yield { kind: 'ask' };
    });
    const { engine } = await world(echo, { agents: { done: echo, waiting, fails: { ...hanging, recovery: 'fail' }, repeats: hanging } });
    const foretold = async (name: string): Promise<string> => {
      const { id } = taskOf(await engine.serviceOf(name).send(request('go', /fails|repeats/.test(name) ? AT_ONCE : {}), ctx()));
      return (await engine.admin.task(id)).onRestart;
    };
    expect(await Promise.all(['done', 'waiting', 'fails', 'repeats'].map(foretold))).toEqual(['nothing', 'waits', 'fails', 'repeats']);
  });

  it('shows a task and its log', async () => {
    const { service, engine } = await world(async function* () {
      for (let at = 0; at < 1500; at += 1) yield { kind: 'text', text: `${at},` };
    });
    const task = taskOf(await service.send(request('go'), ctx()));
    const { admin } = engine;
    expect(await admin.task(task.id)).toMatchObject({ id: task.id, last: 1502, task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
    expect(seqsOf(await admin.events({ id: task.id }))).toEqual(upTo(1, 1000));
    expect(seqsOf(await admin.events({ id: task.id, after: seq(1000) }))).toEqual(upTo(1001, 1502));
    expect(seqsOf(await admin.events({ id: task.id, after: seq(10), limit: 3 }))).toEqual([11, 12, 13]);
    expect(await admin.events({ id: task.id, after: seq(1502) })).toEqual([]);
    expect(await admin.events({ id: task.id, limit: 1 })).toEqual([{ seq: 1, event: { task: expect.objectContaining({ id: task.id }) } }]);
    for (const call of [admin.task(taskId('x')), admin.events({ id: taskId('x') }), admin.retry(taskId('x')), admin.delete(taskId('x'))]) {
      await expect(call).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    }
  });

  it('shows only durable events', async () => {
    const kept = memoryStore();
    let door: Promise<void> = Promise.resolve();
    const held: Store = { ...kept, commit: (batch) => door.then(() => kept.commit(batch)) };
    const { promise, resolve: open } = Promise.withResolvers<void>();
    const { service, engine } = await world(hanging, { store: held });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await quiet(20);
    const { last } = await engine.admin.task(id);
    door = promise;
    const cancel = service.cancel({ id }, ctx());
    await quiet(20);
    expect(await engine.admin.task(id)).toMatchObject({ last, state: 'TASK_STATE_WORKING' });
    open();
    await cancel;
    expect(await engine.admin.task(id)).toMatchObject({ last: last + 1, state: 'TASK_STATE_CANCELED' });
  });

  it('shows a row and a task of one moment while the answer to a commit is under way', async () => {
    const kept = memoryStore();
    let answer: Promise<void> = Promise.resolve();
    const slow: Store = {
      ...kept,
      commit: async (batch) => {
        await kept.commit(batch);
        await answer;
      },
    };
    const { promise, resolve: open } = Promise.withResolvers<void>();
    const { service, engine } = await world(hanging, { store: slow });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await quiet(20);
    const { last, state, statusAt, task } = await engine.admin.task(id);
    answer = promise;
    const cancel = service.cancel({ id }, ctx());
    await quiet(20);
    expect((await kept.task('any', id))?.state).toBe('TASK_STATE_CANCELED');
    expect(await engine.admin.task(id)).toMatchObject({ last, state, statusAt, task });
    open();
    await cancel;
    expect(await engine.admin.task(id)).toMatchObject({ last: last + 1, state: 'TASK_STATE_CANCELED' });
  });

  it('retries a finished task with its last message, as its owner, in its context', async () => {
    let isBroken = true;
    const run = agent(async function* ({ message, principal }) {
      if (isBroken) yield { kind: 'fail', reason: said('not today') };
      yield { kind: 'text', text: `${message.parts[0]?.text} for ${principal.id}` };
    });
    const { service, engine } = await world(run);
    const failed = taskOf(await service.send(request('go'), ctx()));
    isBroken = false;
    const { id } = await engine.admin.retry(failed.id);
    await quiet();
    const again = await service.get({ id }, ctx());
    expect([again.contextId, textOf(again), historyOf(again)]).toEqual([failed.contextId, 'go for alice', ['go']]);
    expect(again.history?.[0]).toMatchObject({ referenceTaskIds: [failed.id] });
    expect(again.history?.[0]?.messageId).not.toBe(failed.history?.[0]?.messageId);
    expect(wordsOf(await service.get({ id: failed.id }, ctx()))).toBe('not today');
    const { engine: busy, service: other } = await world(hanging);
    const running = taskOf(await other.send(request('go', AT_ONCE), ctx()));
    await expect(busy.admin.retry(running.id)).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
  });

  it('retries under the caller’s name for the task', async () => {
    const { service, engine } = await world(echo, withSemantics({ taskNames: 'reusable' }));
    await service.send(request('go', { alias: 'thread' as never }), ctx());
    const { tasks } = await engine.admin.tasks({});
    const first = tasks[0];
    if (first === undefined) throw new Error('no task');
    const again = await engine.admin.retry(first.id);
    expect(again).toMatchObject({ alias: 'thread', contextId: first.contextId });
    await quiet();
    expect((await service.get({ id: taskId('thread') }, ctx())).history?.[0]?.referenceTaskIds).toEqual([first.id]);
  });

  it('deletes a task, running or not', async () => {
    const signals: AbortSignal[] = [];
    const { service, engine, store } = await world(
      agent(async function* ({ signal }) {
        signals.push(signal);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield { kind: 'text', text: 'late' };
      }),
    );
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await engine.admin.delete(id);
    await quiet();
    expect(signals[0]?.aborted).toBe(true);
    expect(await store.task('any', id)).toBeUndefined();
    expect(engine.stats()).toMatchObject({ running: 0, liveTasks: 0 });
  });
});
