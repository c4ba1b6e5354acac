import type { Clock, Ids } from '#protocol';
import { systemClock } from '#protocol';

/** Milliseconds in base 36 take nine digits until the year 5188. */
const DIGITS = 9;

/**
 * Ids that begin with their time: in a store's index they come one after another, so a commit writes to one page of it and not to as
 * many as there are tasks. A random id follows whole, so they are as hard to guess; they do tell when they were made.
 */
export function timeOrderedIds(clock: Clock = systemClock): Ids {
  let [last, prefix] = [Number.NaN, ''];
  return {
    next: () => {
      const ms = clock.now().getTime();
      // Writing a number out in base 36 costs more than the random half, so it is done once a millisecond.
      if (ms !== last) [last, prefix] = [ms, `${ms.toString(36).padStart(DIGITS, '0')}-`];
      return `${prefix}${crypto.randomUUID()}`;
    },
  };
}
