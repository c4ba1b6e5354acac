import type { ReadEnv } from '#protocol';
import { DEFAULT_READ_LIMITS } from '#protocol';

/** Ids that count: `minted-1`, `minted-2`. Every call starts anew, so that a test says what it expects. */
export function countingEnv(): ReadEnv {
  let last = 0;
  return { ids: { next: () => `minted-${++last}` }, limits: DEFAULT_READ_LIMITS };
}
