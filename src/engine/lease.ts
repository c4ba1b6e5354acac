import { A2AError } from '#protocol';

/**
 * Port: the lease of a store that other processes may take over. While it is held, no other process writes. The store refuses the commits
 * of a process that has lost it, so a process that notices late can't do harm in the store.
 */
export interface StoreLease {
  /** Tells from now on what happens to the lease. Called once. */
  follow(events: LeaseEvents): void;
  /** Whether the lease is held at this moment, by the clock. A process that was paused may learn here that it has lost the lease. */
  isHeld(): boolean;
}

/** What a store tells about its lease. */
export interface LeaseEvents {
  /** The lease may end soon, and was not renewed: runs must end now, because another process may start them again. */
  lost(): void;
  /** The lease is held again, and nobody else has held it meanwhile. */
  regained(): void;
}

/** What is in memory is outdated once another process may have written. A request about it must go to that process. */
export function checkLease(lease: StoreLease): void {
  if (!lease.isHeld()) throw new A2AError('UNAVAILABLE', 'the database can’t be used at the moment', { retryAfterMs: 1000 });
}
