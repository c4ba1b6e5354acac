import { expect, it } from 'vitest';
import type { AdminReplica } from '#protocol';
import { changesBetween } from '../../src/console/replicas/changes.ts';

const node = (id: number, owned: readonly number[]): AdminReplica => ({
  ...{ id, url: `http://10.0.0.${id}:4000`, startedAt: '2026-11-17T10:00:00.000Z', leaseMs: 9000 },
  ...{ cells: owned.length, owned, isThis: id === 1 },
});

it('says which nodes came and went, and which cells changed hands', () => {
  expect(changesBetween([node(1, [0, 1]), node(2, [2, 3])], [node(1, [0, 1]), node(2, [2, 3])])).toEqual([]);
  expect(changesBetween([node(1, [0, 1]), node(2, [2, 3])], [node(1, [0, 1, 2]), node(3, [3])])).toEqual([
    '10.0.0.3:4000 has joined',
    '10.0.0.2:4000 is gone',
    '10.0.0.1:4000 took 1 cell over from 10.0.0.2:4000',
    '10.0.0.3:4000 took 1 cell over from 10.0.0.2:4000',
  ]);
  expect(changesBetween([node(1, [])], [node(1, [0, 1])])).toEqual(['10.0.0.1:4000 took 2 cells that nobody owned']);
});

it('names a node without an address by its number', () => {
  expect(changesBetween([], [{ ...node(4, []), url: '' }])).toEqual(['node 4 has joined']);
});
