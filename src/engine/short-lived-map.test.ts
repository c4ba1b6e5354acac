import { describe, expect, it } from 'vitest';
import { ShortLivedMap } from './short-lived-map.ts';

describe('ShortLivedMap', () => {
  it('holds the same entries in the same order as a Map, however many come and go', () => {
    const [ours, native] = [new ShortLivedMap<string, number>(), new Map<string, number>()];
    for (let at = 0; at < 1000; at += 1) {
      ours.set(`k${at}`, at);
      native.set(`k${at}`, at);
      if (at % 3 > 0) expect(ours.delete(`k${at - 2}`)).toBe(native.delete(`k${at - 2}`));
      expect(ours.size).toBe(native.size);
    }
    ours.set('k0', -1);
    native.set('k0', -1);
    expect([...ours]).toEqual([...native]);
    expect([...ours.keys()]).toEqual([...native.keys()]);
    expect([...ours.values()]).toEqual([...native.values()]);
    expect([ours.get('k0'), ours.has('k0'), ours.has('k2'), ours.delete('k2')]).toEqual([-1, true, false, false]);
    ours.clear();
    expect([ours.size, ours.get('k0'), [...ours]]).toEqual([0, undefined, []]);
  });

  it('continues a loop that removes entries and adds one', () => {
    const map = new ShortLivedMap<number, number>();
    for (let at = 0; at < 10; at += 1) map.set(at, at);
    const seen: number[] = [];
    for (const [key] of map) {
      seen.push(key);
      map.delete(key + 1);
      if (key === 0) map.set(10, 10);
    }
    expect(seen).toEqual([0, 2, 4, 6, 8, 10]);
  });
});
