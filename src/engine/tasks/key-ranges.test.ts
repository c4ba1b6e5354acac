import { expect, it } from 'vitest';
import type { KeyRange } from '../commit/outcome.ts';
import { createKeys } from './key-ranges.ts';

it('counts up from the highest key of a store with one writer', async () => {
  const keys = createKeys({ lastKey: () => 7 });
  await keys.start();
  expect([keys.next(), keys.next()]).toEqual([8, 9]);
});

it('stays within the ranges that a shared store reserves, and refuses when there are none', async () => {
  const ranges: KeyRange[] = [
    { first: 1, last: 2 },
    { first: 1001, last: 1002 },
  ];
  const keys = createKeys({
    lastKey: () => 0,
    reserveKeys: async () => {
      const range = ranges.shift();
      if (range === undefined) throw new Error('the database is down');
      return range;
    },
  });
  await keys.start();
  const used = [keys.next()];
  await Promise.resolve();
  used.push(keys.next(), keys.next());
  await Promise.resolve();
  used.push(keys.next());
  expect(used).toEqual([1, 2, 1001, 1002]);
  expect(() => keys.next()).toThrow('no more keys');
});
