import { expect } from 'vitest';
import type { OutboxQuery, OutboxRow, Store, TaskKey, Write } from '#engine';
import { pushConfigId } from '#protocol';
import type { Check } from './check.ts';
import { aPush, aTask, entriesOf, rowOf, seqOf } from './rows.ts';

/** A write to the outbox. */
export function anOutbox(n: number, task: number, config: string, more: Partial<OutboxRow> = {}): Extract<Write, { kind: 'outbox' }> {
  const row: OutboxRow = {
    n,
    task: task as TaskKey,
    config: pushConfigId(config),
    done: seqOf(1),
    state: 'open',
    attempts: 0,
    dueAt: 1000,
    ...more,
  };
  return { kind: 'outbox', row };
}

const numbers = async (store: Store, query: Partial<OutboxQuery> = {}): Promise<readonly number[]> =>
  (await store.outbox({ limit: 100, ...query })).map(({ row }) => row.n);

/** The contract of the outbox: the queue of deliveries. */
export function outboxContract(check: Check): void {
  check('stores deliveries, and returns them with the current row of their task', async (store) => {
    const full = anOutbox(2, 1, 'a', {
      done: seqOf(4),
      upTo: seqOf(7),
      state: 'dead',
      attempts: 10,
      dueAt: 5,
      failingSince: 3,
      problem: 'HTTP 500 \ud83d "quote"',
    });
    await store.commit([aTask(1, {}, 2), aPush(1, 'a'), full, anOutbox(9, 1, 'a')]);
    expect(await store.outbox({ limit: 10 })).toEqual([
      { row: full.row, task: rowOf(1, { last: seqOf(2) }) },
      { row: anOutbox(9, 1, 'a').row, task: rowOf(1, { last: seqOf(2) }) },
    ]);
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(3) }), isNew: false, entries: entriesOf(3, 3) }]);
    expect((await store.outbox({ n: 9, limit: 1 }))[0]?.task.last).toBe(3);
    expect(await store.outboxStats()).toEqual({ last: 9, dead: 1 });
  });

  check('lists deliveries by number, state and page, and replaces them by number', async (store) => {
    const writes = [3, 1, 4, 2].map((n) => anOutbox(n, 1, 'a', n % 2 === 0 ? { state: 'dead' } : {}));
    await store.commit([aTask(1, {}, 1), aPush(1, 'a')]);
    for (const write of writes.toSorted((a, b) => a.row.n - b.row.n)) await store.commit([write]);
    expect(await numbers(store)).toEqual([1, 2, 3, 4]);
    expect(await numbers(store, { state: 'dead' })).toEqual([2, 4]);
    expect(await numbers(store, { state: 'open', limit: 1 })).toEqual([1]);
    expect(await numbers(store, { after: 2, limit: 1 })).toEqual([3]);
    expect(await numbers(store, { n: 5 })).toEqual([]);
    await store.commit([anOutbox(2, 1, 'a', { attempts: 3 })]);
    expect(await numbers(store, { state: 'dead' })).toEqual([4]);
    expect((await store.outbox({ n: 2, limit: 1 }))[0]?.row.attempts).toBe(3);
    await store.commit([
      { kind: 'unoutbox', n: 1 },
      { kind: 'unoutbox', n: 77 },
    ]);
    expect(await numbers(store)).toEqual([2, 3, 4]);
  });

  check('drops deliveries with their config and with their task, and ignores those for deleted ones', async (store) => {
    await store.commit([aTask(1, {}, 1), aPush(1, 'a'), aPush(1, 'b'), aTask(2, {}, 1), aPush(2, 'a')]);
    await store.commit([anOutbox(1, 1, 'a'), anOutbox(2, 1, 'b'), anOutbox(3, 2, 'a'), anOutbox(4, 1, 'a', { state: 'dead' })]);
    await store.commit([{ kind: 'unpush', task: 1 as TaskKey, id: pushConfigId('a') }]);
    expect(await numbers(store)).toEqual([2, 3]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await numbers(store)).toEqual([3]);
    await store.commit([anOutbox(5, 1, 'b'), anOutbox(6, 2, 'nobody'), anOutbox(7, 9, 'a')]);
    expect(await numbers(store)).toEqual([3]);
  });

  check('stores sealed secrets of a config unchanged', async (store) => {
    const push = (aPush(1, 'a') as Extract<Write, { kind: 'push' }>).push;
    await store.commit([aTask(1, {}, 1), { kind: 'push', task: 1 as TaskKey, push: { ...push, sealed: 'v1.k.AAAA' } }, aPush(1, 'b')]);
    expect(await store.pushConfigs(1 as TaskKey)).toEqual([{ ...push, sealed: 'v1.k.AAAA' }, (aPush(1, 'b') as { push: unknown }).push]);
    await store.commit([aPush(1, 'a')]);
    expect((await store.pushConfigs(1 as TaskKey))[0]).not.toHaveProperty('sealed');
  });
}
