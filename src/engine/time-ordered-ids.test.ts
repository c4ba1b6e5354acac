import { describe, expect, it } from 'vitest';
import { timeOrderedIds } from './time-ordered-ids.ts';

describe('time-ordered ids', () => {
  it('are ordered by time and as random as others', () => {
    const at = (time: number) => timeOrderedIds({ now: () => new Date(time) }).next();
    const times = [0, 1, 1_000, 1_700_000_000_000, 1_700_000_000_001, 2_821_109_907_455, 2_821_109_907_456, 90_000_000_000_000];
    const ids = times.map(at);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[0-9a-z]{9}-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(Array.from({ length: 1000 }, () => at(5))).size).toBe(1000);
  });
});
