import type { ContextId } from '#protocol';
import type { Owner } from './ports.ts';

/** What each process on a store has to erase of one owner. */
export interface ErasePart {
  readonly owner: Owner;
  /** The owner's conversations, by agent: agents may keep something of them on each machine. */
  readonly contexts: Readonly<Record<string, readonly ContextId[]>>;
  /** Whether it deletes the tasks in its cells, too. They are stopped in any case. */
  readonly deletes: boolean;
}

/** Port: the other processes that work on the same store, when an operator erases the data of a caller. */
export interface ErasePeers {
  /**
   * Lets all of them erase their part. Resolves when each cell has an owner and every process has answered. Rejects with UNAVAILABLE if that
   * takes too long.
   */
  erase(part: ErasePart): Promise<void>;
  /** Called once: how this process erases its part when another one asks. */
  follow(eraseHere: (part: ErasePart) => Promise<void>): void;
}
