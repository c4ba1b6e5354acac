import { describe, expect, it } from 'vitest';
import { BREAKER_FAILURES, BREAKER_MS, BREAKER_MS_MAX, createHosts } from './hosts.ts';
import type { Lane } from './lane.ts';

const lane = (): Lane => ({}) as Lane;

function setUp(options: { activeMax?: number; perHostMax?: number } = {}) {
  const time = { now: 0, reopened: 0 };
  const due: { at: number; work: () => void }[] = [];
  const hosts = createHosts({
    activeMax: 8,
    perHostMax: 4,
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
  const take = (origin: string): Lane | undefined => {
    hosts.queue(lane(), origin);
    return hosts.next();
  };
  return { hosts, time, advance, take };
}

describe('places', () => {
  it('are four at one origin, and go in turn', () => {
    const { hosts } = setUp({ activeMax: 100 });
    const lanes = Array.from({ length: 6 }, lane);
    for (const each of lanes) hosts.queue(each, 'a');
    const other = lane();
    hosts.queue(other, 'b');
    const taken = Array.from({ length: 6 }, () => hosts.next());
    expect(taken.slice(0, 5)).toEqual([lanes[0], other, lanes[1], lanes[2], lanes[3]]);
    expect(taken[5]).toBeUndefined();
    hosts.free(lanes[0] as Lane, true);
    expect(hosts.next()).toBe(lanes[4]);
  });

  it('are kept for those that answer', () => {
    const { hosts, take } = setUp({ activeMax: 8 });
    hosts.free(take('good') as Lane, true);
    const taken = Array.from({ length: 10 }, (_, at) => take(`unknown ${at}`)).filter((each) => each !== undefined);
    expect(taken).toHaveLength(6);
    hosts.queue(lane(), 'good');
    expect(hosts.next()).toBeDefined();
  });

  it('are not taken by what was dropped', () => {
    const { hosts } = setUp();
    const one = lane();
    hosts.queue(one, 'a');
    hosts.drop(one);
    hosts.drop(one);
    expect(hosts.next()).toBeUndefined();
  });
});

describe('an origin that fails', () => {
  const fail = ({ hosts, take }: ReturnType<typeof setUp>, times: number): void => {
    for (let at = 0; at < times; at += 1) hosts.free(take('a') as Lane, false);
  };

  it('is left alone after five times in a row, for longer each time, and one attempt decides', () => {
    const set = setUp();
    fail(set, BREAKER_FAILURES - 1);
    expect(set.hosts.open).toBe(0);
    fail(set, 1);
    expect(set.hosts.open).toBe(1);
    expect(set.take('a')).toBeUndefined();
    for (let ms = BREAKER_MS; ms < BREAKER_MS_MAX * 4; ms *= 2) {
      set.advance(Math.min(ms, BREAKER_MS_MAX) - 1);
      expect(set.hosts.next()).toBeUndefined();
      set.advance(1);
      const probe = set.hosts.next() ?? set.take('a');
      expect(probe).toBeDefined();
      expect(set.take('a')).toBeUndefined();
      set.hosts.free(probe as Lane, false);
    }
    set.advance(BREAKER_MS_MAX);
    set.hosts.free(set.hosts.next() as Lane, true);
    expect([set.take('a'), set.take('a')].filter((each) => each !== undefined)).toHaveLength(2);
    expect(set.time.reopened).toBeGreaterThan(3);
  });

  it('is tripped once by all that was under way', () => {
    const set = setUp();
    fail(set, BREAKER_FAILURES - 1);
    const under = Array.from({ length: 4 }, () => set.take('a') as Lane);
    for (const each of under) set.hosts.free(each, false);
    set.advance(BREAKER_MS);
    expect(set.take('a')).toBeDefined();
  });

  it('is forgiven by one success, and not blamed for what was called off', () => {
    const set = setUp();
    fail(set, BREAKER_FAILURES - 1);
    set.hosts.free(set.take('a') as Lane, undefined);
    set.hosts.free(set.take('a') as Lane, true);
    fail(set, BREAKER_FAILURES - 1);
    expect(set.hosts.open).toBe(0);
  });
});
