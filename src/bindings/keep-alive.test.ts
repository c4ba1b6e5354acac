import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KeepAliveStream } from './keep-alive.ts';
import { startKeepAlive, stopKeepAlive } from './keep-alive.ts';

function silent(): KeepAliveStream & { readonly ticks: () => number } {
  let count = 0;
  return {
    tick: () => {
      count += 1;
    },
    ticks: () => count,
  };
}

describe('idle streams', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('share one timer, which stops with the last stream', () => {
    const [one, two] = [silent(), silent()];
    startKeepAlive(one, 1000);
    vi.advanceTimersByTime(400);
    startKeepAlive(two, 1000);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(600);
    expect([one.ticks(), two.ticks()]).toEqual([2, 2]);
    stopKeepAlive(one, 1000);
    vi.advanceTimersByTime(500);
    expect([one.ticks(), two.ticks()]).toEqual([2, 3]);
    stopKeepAlive(two, 1000);
    stopKeepAlive(two, 1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('use one timer for each interval', () => {
    const [quick, slow] = [silent(), silent()];
    startKeepAlive(quick, 100);
    startKeepAlive(slow, 1000);
    vi.advanceTimersByTime(500);
    expect([quick.ticks(), slow.ticks()]).toEqual([10, 1]);
    stopKeepAlive(quick, 100);
    stopKeepAlive(slow, 1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, -1, Number.POSITIVE_INFINITY, 2 ** 40])('have no timer with the interval %s', (ms) => {
    startKeepAlive(silent(), ms);
    expect(vi.getTimerCount()).toBe(0);
  });
});
