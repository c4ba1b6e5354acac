import type { Clock, Ids } from '#protocol';
import { systemClock } from '#protocol';

/** Milliseconds in base 36 have nine digits until the year 5188. */
const DIGITS = 9;

/**
 * Ids that begin with their time. In a store's index they follow each other, so a commit writes one
 * index page and not one per task. A whole random id follows, so they are as hard to guess. They reveal
 * when they were made.
 */
export function timeOrderedIds(clock: Clock = systemClock): Ids {
  let [last, prefix] = [Number.NaN, ''];
  return {
    next: () => {
      const ms = clock.now().getTime();
      // Formatting in base 36 costs more than the random part, so it is done once per millisecond.
      if (ms !== last) [last, prefix] = [ms, `${ms.toString(36).padStart(DIGITS, '0')}-`];
      return `${prefix}${crypto.randomUUID()}`;
    },
  };
}
