import { afterEach, expect, it, vi } from 'vitest';
import { watchStalls } from './stalls.ts';

afterEach(() => void vi.useRealTimers());

it('adds the time that a process was stopped to the age of messages, until a round trip to the broker', async () => {
  vi.useFakeTimers();
  let now = 0;
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    await vi.advanceTimersByTimeAsync(ms);
  };
  const trips: PromiseWithResolvers<void>[] = [];
  const roundTrip = (): Promise<void> => {
    const trip = Promise.withResolvers<void>();
    trips.push(trip);
    return trip.promise;
  };
  const stalls = watchStalls({ roundTrip, now: () => now });
  for (let at = 0; at < 10; at += 1) {
    await pass(500);
    expect(stalls.lagMs()).toBe(0);
  }
  now += 6000; // stopped: no timer runs
  expect(stalls.lagMs()).toBeGreaterThanOrEqual(5500);
  await pass(500);
  expect([stalls.lagMs() > 5000, trips.length]).toEqual([true, 1]);
  now += 3000; // and once more before the broker has answered
  expect(stalls.lagMs()).toBeGreaterThanOrEqual(5500);
  trips[0]?.resolve();
  await pass(0);
  expect(stalls.lagMs()).toBeGreaterThanOrEqual(5500);
  trips[1]?.reject(new Error('the connection is closed'));
  await pass(0);
  expect(stalls.lagMs()).toBe(0);
  stalls.close();
});
