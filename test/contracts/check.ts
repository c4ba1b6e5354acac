import type { Store } from '#engine';

/** One test of a contract, on a store that is empty. */
export type Check = (test: string, run: (store: Store) => Promise<void>) => void;
