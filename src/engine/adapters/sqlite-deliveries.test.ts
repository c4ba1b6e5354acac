import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALICE, aSend, aTask } from '../../../test/contracts/rows.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';
import type { SendName, Write } from '../ports.ts';
import { createRecentSteps, runsOf } from './sqlite/tables/recent-steps.ts';
import type { SqliteStore } from './sqlite.ts';
import { openSqliteStore } from './sqlite.ts';

const folder = scratchFolder();
const nameOf = (key: number): SendName => ({ owner: ALICE, agent: 'echo', token: `id m${key}` });
const deliver = (key: number): Write => ({ kind: 'delivered', name: nameOf(key) });
const open = (name: string): SqliteStore => openSqliteStore(join(folder, `${name}.db`), { ballastBytes: 0 });

function deliveredIn(store: SqliteStore, keys: readonly number[]): readonly number[] {
  return keys.filter((key) => {
    const record = store.send(nameOf(key));
    return !(record instanceof Promise) && record?.delivered === true;
  });
}

describe('a mark of delivery in a SQLite store', () => {
  const keys = [1, 2, 3, 4, 5, 6, 7];
  const sends = keys.flatMap((key) => [aTask(key, {}, 1), aSend(key)]);

  it('is set for the named sends only, in any order', async () => {
    const store = open('order');
    await store.commit(sends);
    await store.commit([deliver(6), deliver(2), deliver(3), deliver(99), aTask(8, {}, 1), aSend(8), deliver(8)]);
    expect(deliveredIn(store, [...keys, 8, 99])).toEqual([2, 3, 6, 8]);
    await store.commit([deliver(3), deliver(4)]);
    expect(deliveredIn(store, keys)).toEqual([2, 3, 4, 6]);
    await store.close();
  });

  it('is removed when the name is used again in the same commit', async () => {
    const store = open('again');
    await store.commit(sends);
    await store.commit([deliver(1), aTask(8, {}, 1), aSend(8, { token: 'id m1' }), deliver(2)]);
    expect(deliveredIn(store, keys)).toEqual([2]);
    await store.commit([deliver(1)]);
    expect(deliveredIn(store, keys)).toEqual([1, 2]);
    await store.close();
  });

  it('is set by a process that did not store the send', async () => {
    const first = open('restart');
    await first.commit(sends);
    await first.close();
    const second = open('restart');
    await second.commit([deliver(2), deliver(5)]);
    expect(deliveredIn(second, keys)).toEqual([2, 5]);
    await second.close();
  });

  it('does not reach another send if the first one was rolled back', async () => {
    const store = open('rollback');
    expect(() => store.commit([aTask(1, {}, 1), aSend(1), aTask(1, {}, 1)])).toThrow();
    await store.commit([aTask(2, {}, 1), aSend(2)]);
    await store.commit([deliver(1)]);
    expect(store.send(nameOf(1))).toBeUndefined();
    expect(deliveredIn(store, [2])).toEqual([]);
    await store.close();
  });
});

describe('runs of consecutive numbers', () => {
  it('hold exactly the numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40)), (numbers) => {
        const runs = runsOf([...numbers]);
        const within = runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
        expect(within).toEqual([...new Set(numbers)].sort((left, right) => left - right));
        // Two runs never touch: then they would be one.
        for (const [at, [first]] of runs.slice(1).entries()) expect(first).toBeGreaterThan((runs[at]?.[1] ?? 0) + 1);
      }),
    );
  });
});

describe('the steps of a send', () => {
  it('share what is known of its name, until it is delivered or there are too many', () => {
    const steps = createRecentSteps(3);
    const first = steps.of(1, 'id a');
    first.n = 7;
    expect(steps.of(1, 'id a').n).toBe(7);
    expect(steps.of(2, 'id a').n).toBeUndefined();
    expect(steps.of(2, 'id a').hash).not.toBe(first.hash);
    steps.end(first);
    expect(steps.of(1, 'id a')).toEqual({ realm: 1, token: 'id a', hash: first.hash });
    for (const token of ['b', 'c', 'd']) steps.of(1, token).n = 1;
    expect(steps.of(1, 'id a').n).toBeUndefined();
    expect(steps.of(1, 'b').n).toBeUndefined();
  });
});
