/**
 * Port: the lease of a store that other processes may take over. While it is held, no other process writes. The store refuses the commits
 * of a process that has lost it, so a process that notices late can't do harm in the store.
 */
export interface StoreLease {
  /** Tells from now on what happens to the lease. Called once. */
  follow(events: LeaseEvents): void;
}

/** What a store tells about its lease. */
export interface LeaseEvents {
  /** The lease may end soon, and was not renewed: runs must end now, because another process may start them again. */
  lost(): void;
  /** The lease is held again, and nobody else has held it meanwhile. */
  regained(): void;
}
