import type { Clock, Timestamp } from '#protocol';

/** One instant in both spellings. Writing a date out costs more than all else about a status, so it is done once a millisecond. */
export interface Stamp {
  readonly ms: number;
  readonly iso: Timestamp;
}

export function createStamps(clock: Clock): () => Stamp {
  let last: Stamp = { ms: Number.NaN, iso: '' };
  return () => {
    const now = clock.now();
    const ms = now.getTime();
    if (ms !== last.ms) last = { ms, iso: now.toISOString() };
    return last;
  };
}
