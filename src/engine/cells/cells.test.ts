import { describe, expect, it, vi } from 'vitest';
import type { CallContext } from '#protocol';
import { contextId, externalId, seq, taskId } from '#protocol';
import { cluster, contextIn, elsewhere, pair, slow } from '../../../test/support/cells.ts';
import {
  AT_ONCE,
  agent,
  collect,
  ctx,
  echo,
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

describe('a call to one of several processes', () => {
  it('makes new conversations in a cell of that process', async () => {
    const { one, two } = await pair();
    expect(taskOf(await one.service.send(request('a'), ctx())).contextId).toMatch(/~[0-3]$/);
    expect(taskOf(await two.service.send(request('b'), ctx())).contextId).toMatch(/~[4-7]$/);
  });

  it('makes a conversation on behalf of a task in the cell of that task', async () => {
    const { shared, one } = await pair(slow([]));
    const message = user('a', { contextId: contextIn(2, shared) });
    const { id: beside } = taskOf(await one.service.send({ message, ...AT_ONCE }, ctx()));
    expect(taskOf(await one.service.send(request('b', AT_ONCE), ctx({ beside }))).contextId).toMatch(/~2$/);
    // A task that is not here decides nothing.
    expect(taskOf(await one.service.send(request('c', AT_ONCE), ctx({ beside: taskId('none') }))).contextId).toMatch(/~0$/);
  });

  it('is for another process if that has the conversation, in every operation that changes or follows a task', async () => {
    const { one, two } = await pair(slow([]));
    const task = taskOf(await two.service.send(request('a', AT_ONCE), ctx()));
    const told: number[] = [];
    const call = (): CallContext => ctx({ onElsewhere: (cell) => void told.push(cell) });
    const { id } = task;
    const config = { taskId: id, url: 'https://example.com/hook' };
    const calls: (() => Promise<unknown>)[] = [
      () => one.service.send(toTask(task, 'more'), call()),
      () => one.service.send(request('', { message: user('b', { contextId: contextId(task.contextId ?? '') }) }), call()),
      () => collect(one.service.stream(toTask(task, 'more'), call())),
      () => collect(one.service.subscribe({ id }, call())),
      () => one.service.get({ id, currentGeneration: seq(5) }, call()),
      () => one.service.cancel({ id }, call()),
      () => one.service.push.create(config as never, call()),
      () => one.service.push.delete({ taskId: id, id: 'x' as never }, call()),
    ];
    for (const run of calls) await expect(run()).rejects.toMatchObject(elsewhere(4));
    expect(told).toEqual(calls.map(() => 4));
    await expect(one.engine.admin.cancel(id)).rejects.toMatchObject(elsewhere(4));
    await expect(one.engine.admin.delete(id)).rejects.toMatchObject(elsewhere(4));
    expect((await two.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
  });

  it('asks the store nothing about a message for a conversation of another process', async () => {
    const shared = cluster();
    const { store } = shared.join([0, 1, 2, 3]);
    const send = vi.fn(store.send);
    const { service } = await world(echo, { store: { ...store, send } });
    const to = (cell: number) => service.send(request('', { message: user('a', { contextId: contextIn(cell, shared) }) }), ctx());
    await expect(to(5)).rejects.toMatchObject(elsewhere(5));
    expect(send).not.toHaveBeenCalled();
    await to(1);
    expect(send).toHaveBeenCalledTimes(1);
  });

  it('is for another process if that has forwarded it for another agent', async () => {
    const { one } = await pair();
    const told: unknown[] = [];
    const call = (forAgent: string): CallContext => ctx({ forAgent, onElsewhere: (...what) => void told.push(what) });
    await expect(one.service.send(request('a'), call('other'))).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await expect(collect(one.service.stream(request('a'), call('other')))).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    expect(told).toEqual([
      [-1, 'agent'],
      [-1, 'agent'],
    ]);
    expect((await one.service.list({}, ctx())).totalSize).toBe(0);
    expect(taskOf(await one.service.send(request('a'), call('agent'))).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('reads the tasks of all processes, as they are in the store', async () => {
    const { one, two } = await pair(slow([]));
    const { id } = taskOf(await two.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    expect(textOf(await one.service.get({ id }, ctx()))).toBe('try 1');
    await two.service.cancel({ id }, ctx());
    expect((await one.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_CANCELED');
    expect((await one.service.list({}, ctx())).totalSize).toBe(1);
    expect((await one.engine.admin.task(id)).state).toBe('TASK_STATE_CANCELED');
    expect(await one.engine.admin.events({ id })).toHaveLength(3);
    expect(one.engine.stats().liveTasks).toBe(0);
  });

  it('never shows a task as older than another process has shown it, also while the answer to a commit is missing', async () => {
    const { one, two } = await pair(slow([]));
    const { id } = taskOf(await two.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    const { promise, resolve } = Promise.withResolvers<void>();
    two.member.answers = promise;
    const canceling = two.service.cancel({ id }, ctx());
    await quiet();
    for (const { service } of [one, two]) expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_CANCELED');
    resolve();
    expect((await canceling).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('goes to any other process while this one has no cell', async () => {
    const { shared, one, two } = await pair();
    for (const cell of [0, 1, 2, 3]) shared.move(cell, two.member);
    await expect(one.service.send(request('a'), ctx())).rejects.toMatchObject(elsewhere(-1));
    shared.move(1, one.member);
    expect(taskOf(await one.service.send(request('a'), ctx())).contextId).toMatch(/~1$/);
  });

  it('is refused for a named context of a cell that nobody has, with that cell', async () => {
    const { shared, one } = await pair();
    shared.move(2);
    const message = user('a', { contextId: contextIn(2, shared) });
    await expect(one.service.send(request('', { message }), ctx())).rejects.toMatchObject(elsewhere(2));
  });

  it('finds the task of a caller’s own name wherever it is', async () => {
    const { one, two } = await pair(slow([]), withSemantics({ taskNames: 'once' }));
    const named = (text: string) => ({ message: user(text), alias: externalId('job'), ...AT_ONCE });
    await two.service.send(named('a'), ctx());
    await expect(one.service.send(named('b'), ctx())).rejects.toMatchObject(elsewhere(4));
    await expect(one.service.cancel({ id: 'job' as never }, ctx())).rejects.toMatchObject(elsewhere(4));
    expect((await one.service.get({ id: 'job' as never }, ctx())).id).toBe('job');
  });
});

describe('a send that two processes get', () => {
  it('makes one task, and the second process sends its caller to the first', async () => {
    const { one, two } = await pair();
    const message = user('a');
    const keyed = ctx({ idempotencyKey: 'k' });
    const task = taskOf(await one.service.send(request('', { message }), keyed));
    await expect(two.service.send(request('', { message }), keyed)).rejects.toMatchObject(elsewhere(0));
    expect(taskOf(await one.service.send(request('', { message }), keyed)).id).toBe(task.id);
  });

  it('makes one task also at the same moment', async () => {
    for (const idempotencyKey of ['k', undefined]) {
      const { one, two } = await pair();
      const message = user('a');
      const call = (): CallContext => ctx(idempotencyKey === undefined ? {} : { idempotencyKey });
      const sent = await Promise.allSettled([one, two].map(({ service }) => service.send(request('', { message }), call())));
      expect(sent.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const winner = sent.findIndex(({ status }) => status === 'fulfilled');
      const refused = sent.find((each): each is PromiseRejectedResult => each.status === 'rejected');
      expect(refused?.reason).toMatchObject(elsewhere(winner === 0 ? 0 : 4));
      expect((await one.service.list({}, ctx())).totalSize).toBe(1);
    }
  });

  it('is answered by anybody if its answer was a direct message', async () => {
    const direct = agent(async function* () {
      yield { kind: 'message', message: said('hi') };
    });
    const { one, two } = await pair(direct);
    const message = user('a');
    const keyed = ctx({ idempotencyKey: 'k' });
    const first = await one.service.send(request('', { message }), keyed);
    expect((await two.service.send(request('', { message }), keyed)).message?.messageId).toBe(first.message?.messageId);
  });
});
