import { describe, expect, it } from 'vitest';
import { timeOrderedIds } from './time-ordered-ids.ts';

describe('time-ordered ids', () => {
  it('are ordered by time and as random as others', () => {
    const at = (time: number) => timeOrderedIds({ now: () => new Date(time) }).next();
    const times = [0, 1, 1_000, 1_700_000_000_000, 1_700_000_000_001, 2_821_109_907_455, 2_821_109_907_456, 90_000_000_000_000];
    const ids = times.map(at);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[0-9a-z]{9}-[0-9a-v]{26}$/);
    expect(new Set(Array.from({ length: 1000 }, () => at(5))).size).toBe(1000);
  });

  it('use each random byte once, and each of the 32 characters about as often as the others', () => {
    const ids = timeOrderedIds();
    const random = Array.from({ length: 1000 }, () => ids.next().slice(-26));
    expect(new Set(random).size).toBe(1000);
    const counts = new Map<string, number>();
    for (const char of random.join('')) counts.set(char, (counts.get(char) ?? 0) + 1);
    expect(counts.size).toBe(32);
    // 26,000 characters, 812 of each on average, with a standard deviation of 28.
    for (const count of counts.values()) expect(Math.abs(count - 812)).toBeLessThan(300);
  });
});
