import type { Store } from '#engine';

/** Declares one test of the contract, on an empty store. */
export type Check = (test: string, run: (store: Store) => Promise<void>) => void;
