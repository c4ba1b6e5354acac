import { describe, expect, it } from 'vitest';
import { BREAKER_FAILURES, BREAKER_MS, BREAKER_MS_MAX, createDestinations } from './destinations.ts';
import type { DeliveryQueue } from './queue.ts';

const newQueue = (): DeliveryQueue => ({}) as DeliveryQueue;

function setUp(options: { activeMax?: number; perDestinationMax?: number } = {}) {
  const time = { now: 0, reopened: 0 };
  const due: { at: number; work: () => void }[] = [];
  const destinations = createDestinations({
    activeMax: 8,
    hasBreaker: true,
    perDestinationMax: 4,
    ...options,
    now: () => time.now,
    later: (ms, work) => {
      due.push({ at: time.now + ms, work });
      return () => {};
    },
    onReopened: () => {
      time.reopened += 1;
    },
  });
  const advance = (ms: number): void => {
    time.now += ms;
    for (const timer of due.splice(0)) {
      if (timer.at <= time.now) timer.work();
      else due.push(timer);
    }
  };
  const take = (origin: string): DeliveryQueue | undefined => {
    destinations.queue(newQueue(), origin);
    return destinations.next();
  };
  return { destinations, time, advance, take };
}

describe('delivery slots', () => {
  it('are four per origin, and origins take turns', () => {
    const { destinations } = setUp({ activeMax: 100 });
    const queues = Array.from({ length: 6 }, newQueue);
    for (const each of queues) destinations.queue(each, 'a');
    const other = newQueue();
    destinations.queue(other, 'b');
    const taken = Array.from({ length: 6 }, () => destinations.next());
    expect(taken.slice(0, 5)).toEqual([queues[0], other, queues[1], queues[2], queues[3]]);
    expect(taken[5]).toBeUndefined();
    destinations.free(queues[0] as DeliveryQueue, true);
    expect(destinations.next()).toBe(queues[4]);
  });

  it('are reserved for receivers that answer', () => {
    const { destinations, take } = setUp({ activeMax: 8 });
    destinations.free(take('good') as DeliveryQueue, true);
    const taken = Array.from({ length: 10 }, (_, at) => take(`unknown ${at}`)).filter((each) => each !== undefined);
    expect(taken).toHaveLength(6);
    destinations.queue(newQueue(), 'good');
    expect(destinations.next()).toBeDefined();
  });

  it('are not used by a dropped queue', () => {
    const { destinations } = setUp();
    const one = newQueue();
    destinations.queue(one, 'a');
    destinations.drop(one);
    destinations.drop(one);
    expect(destinations.next()).toBeUndefined();
  });
});

describe('an origin that fails', () => {
  const fail = ({ destinations, take }: ReturnType<typeof setUp>, times: number): void => {
    for (let at = 0; at < times; at += 1) destinations.free(take('a') as DeliveryQueue, false);
  };

  it('opens its breaker after five consecutive failures, for longer each time, and closes it by one success', () => {
    const set = setUp();
    fail(set, BREAKER_FAILURES - 1);
    expect(set.destinations.open).toBe(0);
    fail(set, 1);
    expect(set.destinations.open).toBe(1);
    expect(set.take('a')).toBeUndefined();
    for (let ms = BREAKER_MS; ms < BREAKER_MS_MAX * 4; ms *= 2) {
      set.advance(Math.min(ms, BREAKER_MS_MAX) - 1);
      expect(set.destinations.next()).toBeUndefined();
      set.advance(1);
      const probe = set.destinations.next() ?? set.take('a');
      expect(probe).toBeDefined();
      expect(set.take('a')).toBeUndefined();
      set.destinations.free(probe as DeliveryQueue, false);
    }
    set.advance(BREAKER_MS_MAX);
    set.destinations.free(set.destinations.next() as DeliveryQueue, true);
    expect([set.take('a'), set.take('a')].filter((each) => each !== undefined)).toHaveLength(2);
    expect(set.time.reopened).toBeGreaterThan(3);
  });

  it('opens its breaker once for all deliveries that were under way', () => {
    const set = setUp();
    fail(set, BREAKER_FAILURES - 1);
    const under = Array.from({ length: 4 }, () => set.take('a') as DeliveryQueue);
    for (const each of under) set.destinations.free(each, false);
    set.advance(BREAKER_MS);
    expect(set.take('a')).toBeDefined();
  });

  it('is reset by one success, and aborted deliveries do not count', () => {
    const set = setUp();
    fail(set, BREAKER_FAILURES - 1);
    set.destinations.free(set.take('a') as DeliveryQueue, undefined);
    set.destinations.free(set.take('a') as DeliveryQueue, true);
    fail(set, BREAKER_FAILURES - 1);
    expect(set.destinations.open).toBe(0);
  });
});
