import type { ReadEnv } from '#protocol';
import { DEFAULT_READ_LIMITS } from '#protocol';

/** Counted ids: `minted-1`, `minted-2`. Every call starts again at 1, so that ids are predictable. */
export function countingEnv(): ReadEnv {
  let last = 0;
  return { ids: { next: () => `minted-${++last}` }, limits: DEFAULT_READ_LIMITS };
}
