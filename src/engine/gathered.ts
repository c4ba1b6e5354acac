import type { Live } from './live.ts';
import type { Write } from './ports.ts';

/** Somebody who hears when what has gathered is durable. */
export interface Waiter {
  readonly who: 'request' | 'run';
  /** How many tasks had been handed over when it came: when as many have been taken, all that it waits for is in a commit. */
  readonly after: number;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

interface Lazy {
  readonly write: Write;
  readonly onDurable: () => void;
}

/** Everything that waits for a commit, and then everything that is in one. */
export interface Gathered {
  readonly lives: Live[];
  readonly others: Write[];
  readonly lazies: Lazy[];
  readonly waiters: Waiter[];
}
