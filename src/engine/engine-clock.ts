import type { Clock, Timestamp } from '#protocol';

/** One moment, as a number and as text. */
export interface Moment {
  readonly ms: number;
  readonly iso: Timestamp;
}

/** The engine's time. */
export interface EngineClock {
  /**
   * Wall-clock time, for timestamps. Formatting a date is the most expensive step of a status update,
   * so it is done once per millisecond.
   */
  now(): Moment;
  /** Monotonic milliseconds, for deadlines. */
  ticks(): number;
}

/** Caches the text of the current millisecond. */
export function createEngineClock(clock: Clock): EngineClock {
  let last: Moment = { ms: Number.NaN, iso: '' };
  return {
    now: () => {
      const now = clock.now();
      const ms = now.getTime();
      if (ms !== last.ms) last = { ms, iso: now.toISOString() };
      return last;
    },
    ticks: () => clock.ticks?.() ?? clock.now().getTime(),
  };
}
