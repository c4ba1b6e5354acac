import { A2AError } from '#protocol';
import type { KeyRange } from '../commit/outcome.ts';
import type { Store, TaskKey } from '../ports.ts';
import { taskKey } from '../ports.ts';

/** The keys of new tasks. */
interface Keys {
  /** Must be called before the first `next`. */
  start(): Promise<void>;
  /** A key that was never used. Throws UNAVAILABLE if the reserved keys are used up and the store gives no more. */
  next(): TaskKey;
}

/** Counts up from the highest key, or within ranges that a store shared by several processes reserves. */
export function createKeys(store: Pick<Store, 'lastKey' | 'reserveKeys'>): Keys {
  let range: KeyRange = { first: 1, last: 0 };
  let spare: KeyRange | undefined;
  let isReserving = false;
  const reserve = async (): Promise<void> => {
    if (isReserving || store.reserveKeys === undefined) return;
    isReserving = true;
    try {
      spare = await store.reserveKeys();
    } catch {
      // The next key asks again.
    } finally {
      isReserving = false;
    }
  };
  return {
    start: async () => {
      if (store.reserveKeys !== undefined) range = await store.reserveKeys();
      else range = { first: (await store.lastKey()) + 1, last: Number.MAX_SAFE_INTEGER };
    },
    next: () => {
      if (range.first > range.last && spare !== undefined) {
        range = spare;
        spare = undefined;
      }
      // Asks for the next range long before it is needed.
      if (spare === undefined && range.last - range.first < KEYS_LOW) void reserve();
      const { first, last } = range;
      if (first > last) throw new A2AError('UNAVAILABLE', 'the store has reserved no more keys', { retryAfterMs: 1000 });
      range = { first: first + 1, last };
      return taskKey(first);
    },
  };
}

const KEYS_LOW = 32_768;
