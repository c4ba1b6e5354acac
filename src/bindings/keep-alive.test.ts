import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Silent } from './keep-alive.ts';
import { joinRound, leaveRound } from './keep-alive.ts';

function silent(): Silent & { readonly ticks: () => number } {
  let count = 0;
  return {
    tick: () => {
      count += 1;
    },
    ticks: () => count,
  };
}

describe('streams that wait', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('share one timer, which ends with the last of them', () => {
    const [one, two] = [silent(), silent()];
    joinRound(one, 1000);
    vi.advanceTimersByTime(400);
    joinRound(two, 1000);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(600);
    expect([one.ticks(), two.ticks()]).toEqual([2, 2]);
    leaveRound(one, 1000);
    vi.advanceTimersByTime(500);
    expect([one.ticks(), two.ticks()]).toEqual([2, 3]);
    leaveRound(two, 1000);
    leaveRound(two, 1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are apart where their silences are', () => {
    const [quick, slow] = [silent(), silent()];
    joinRound(quick, 100);
    joinRound(slow, 1000);
    vi.advanceTimersByTime(500);
    expect([quick.ticks(), slow.ticks()]).toEqual([10, 1]);
    leaveRound(quick, 100);
    leaveRound(slow, 1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, -1, Number.POSITIVE_INFINITY, 2 ** 40])('have no timer at %s', (ms) => {
    joinRound(silent(), ms);
    expect(vi.getTimerCount()).toBe(0);
  });
});
