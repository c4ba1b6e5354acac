import type { Clock, Ids } from '#protocol';
import { systemClock } from '#protocol';

/** Milliseconds in base 36 have nine digits until the year 5188. */
const TIME_CHARS = 9;
/** 26 characters with five random bits each: 130 bits, more than a UUID has. */
const RANDOM_CHARS = 26;
const ALPHABET: Uint8Array = new TextEncoder().encode('0123456789abcdefghijklmnopqrstuv');
/** Random bytes are asked for in bulk: one call costs more than an id. */
const POOL_BYTES = RANDOM_CHARS * 64;

/**
 * Ids that begin with their time. In a store's index they follow each other, so a commit writes one
 * index page and not one per task. 130 random bits follow, so they are as hard to guess as a UUID. They reveal
 * when they were made.
 */
export function timeOrderedIds(clock: Clock = systemClock): Ids {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let last = Number.NaN;
  // The id is made from character codes, because V8 keeps a text that is put together as a tree, which the first look-up has to copy.
  const codes: number[] = new Array(TIME_CHARS + 1 + RANDOM_CHARS).fill(0);
  return {
    next: () => {
      const ms = clock.now().getTime();
      if (ms !== last) {
        last = ms;
        const time = `${ms.toString(36).padStart(TIME_CHARS, '0')}-`;
        for (let at = 0; at <= TIME_CHARS; at += 1) codes[at] = time.charCodeAt(at);
      }
      if (used === POOL_BYTES) {
        crypto.getRandomValues(pool);
        used = 0;
      }
      for (let at = TIME_CHARS + 1; at < codes.length; at += 1, used += 1) codes[at] = ALPHABET[(pool[used] as number) & 31] as number;
      return String.fromCharCode(...codes);
    },
  };
}
