import { describe, expect, it } from 'vitest';
import { watchLease } from './lease-watch.ts';

/** A lease of 8 seconds, with clocks that the test moves. */
function watched() {
  const now = { ticks: 1000, wall: 5_000_000 };
  const told: string[] = [];
  let look: () => void = () => {};
  const clock = {
    now: () => ({ ...now }),
    /** Time passes without a look. */
    move: (ms: number) => {
      now.ticks += ms;
    },
    later: () => () => {},
    every: (_: number, work: () => void) => {
      look = work;
      return () => {};
    },
  };
  const watch = watchLease(8000, clock);
  watch.renewed(clock.now());
  watch.follow({ lost: () => told.push('lost'), regained: () => told.push('regained') });
  const pass = (ms: { readonly ticks: number; readonly wall: number }): void => {
    now.ticks += ms.ticks;
    now.wall += ms.wall;
    look();
  };
  return { watch, told, pass, clock };
}

describe('the watch of a lease', () => {
  it('tells at seven eighths of the lease after the last renewal was sent, once', () => {
    const { watch, told, pass, clock } = watched();
    pass({ ticks: 3000, wall: 3000 });
    const sentAt = clock.now();
    pass({ ticks: 3000, wall: 3000 });
    watch.renewed(sentAt);
    pass({ ticks: 3999, wall: 3999 });
    expect(told).toEqual([]);
    pass({ ticks: 1, wall: 1 });
    pass({ ticks: 9000, wall: 9000 });
    expect(told).toEqual(['lost']);
    watch.renewed(clock.now());
    expect(told).toEqual(['lost', 'regained']);
  });

  it('can be asked, and looks at the clock then', () => {
    const { watch, told, pass, clock } = watched();
    expect(watch.isHeld()).toBe(true);
    pass({ ticks: 6999, wall: 6999 });
    expect(watch.isHeld()).toBe(true);
    clock.move(1);
    expect(watch.isHeld()).toBe(false);
    expect(told).toEqual(['lost']);
    watch.renewed(clock.now());
    expect(watch.isHeld()).toBe(true);
  });

  it('counts the time that a suspended machine slept, and ignores a wall clock that is set back', () => {
    const asleep = watched();
    asleep.pass({ ticks: 10, wall: 7000 });
    expect(asleep.told).toEqual(['lost']);
    const setBack = watched();
    setBack.pass({ ticks: 6999, wall: -60_000 });
    expect(setBack.told).toEqual([]);
    setBack.pass({ ticks: 1, wall: 1 });
    expect(setBack.told).toEqual(['lost']);
  });

  it('does not take a renewal that was sent too long ago for a lease', () => {
    const { watch, told, pass, clock } = watched();
    pass({ ticks: 7000, wall: 7000 });
    const sentAt = clock.now();
    pass({ ticks: 7000, wall: 7000 });
    watch.renewed(sentAt);
    expect(told).not.toContain('regained');
  });

  it('tells a follower that comes after the loss', () => {
    const { watch, pass } = watched();
    pass({ ticks: 7000, wall: 7000 });
    const late: string[] = [];
    watch.follow({ lost: () => late.push('lost'), regained: () => late.push('regained') });
    expect(late).toEqual(['lost']);
  });
});
