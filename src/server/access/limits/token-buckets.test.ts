import { describe, expect, it } from 'vitest';
import { createTokenBuckets } from './token-buckets.ts';

function at(perSecond: number, burst: number) {
  let now = 0;
  const buckets = createTokenBuckets({ perSecond, burst, ticks: () => now });
  const wait = (ms: number): void => {
    now += ms;
  };
  return { ...buckets, size: () => buckets.size, wait };
}

describe('a token bucket', () => {
  it('gives its tokens, then what is refilled', () => {
    const { take, wait } = at(20, 40);
    for (let count = 0; count < 40; count += 1) expect(take('ann')).toBe(0);
    expect(take('ann')).toBe(50);
    wait(49);
    expect(take('ann')).toBe(1);
    wait(1);
    expect([take('ann'), take('ann')]).toEqual([0, 50]);
  });

  it('is separate for each name', () => {
    const { take } = at(1, 1);
    expect([take('ann'), take('ann'), take('bob')]).toEqual([0, 1000, 0]);
  });

  it('never holds more than its burst', () => {
    const { take, wait } = at(10, 5);
    wait(1_000_000);
    expect(Array.from({ length: 6 }, () => take('ann'))).toEqual([0, 0, 0, 0, 0, 100]);
  });

  it('gives an amount larger than itself when it is full, and is below zero then', () => {
    const { take, wait } = at(10, 100);
    expect(take('ann', 250)).toBe(0);
    expect(take('ann', 1)).toBe(15_100);
    wait(15_100);
    expect(take('ann', 1)).toBe(0);
  });

  it('can be charged for what was already used', () => {
    const { take, charge } = at(10, 10);
    charge('ann', 30);
    expect(take('ann')).toBe(2100);
  });

  it('limits nothing at a rate of 0', () => {
    const { take, charge, size } = at(0, 0);
    charge('ann', 1e9);
    expect([take('ann', 1e9), size()]).toEqual([0, 0]);
  });

  it('is forgotten when it is full', () => {
    const { take, wait, size } = at(1, 1);
    for (let count = 0; count < 10_000; count += 1) take(`stranger-${count}`);
    wait(2000);
    take('one more');
    expect(size()).toBe(1);
  });
});
