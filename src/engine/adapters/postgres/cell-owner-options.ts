import type { LeaseClock } from './lease-watch.ts';
import type { ReplicaAddress } from './replica.ts';

export interface CellOwnerOptions {
  /** Holds while the tables are those of the store. */
  readonly still: string;
  /** Number of cells of the store. */
  readonly count: number;
  /** `fair`: the cells divided by the number of replicas. A number: so many free ones at most, and it gives none back. */
  readonly share: 'fair' | number;
  readonly leaseMs: number;
  /** The address of this replica, for people. */
  readonly url: string;
  readonly address?: ReplicaAddress | undefined;
  readonly report: (what: string, cause: unknown) => void;
  readonly clock: LeaseClock;
  readonly writing: CellWriting;
  /** Called when it joins under another number: others may have owned its cells meanwhile. */
  readonly onRejoin: () => void;
  /** Called when a replica has deleted realms. */
  readonly onDrops: () => void;
  /** Called when it has taken cells of a replica that has ended. */
  readonly onTakeover?: ((cells: number) => void) | undefined;
}

/** What the connection that commits does for the cells, each after all earlier commits of this process. */
export interface CellWriting {
  /** After this, no earlier statement of this process can change anything any more. */
  settle(replica: number): Promise<void>;
  /** Gives cells of this replica up, unless it is buried. `to`: the replica that gets them, if it is there; otherwise anybody can take them. */
  release(cells: readonly number[], replica: number, to?: number): Promise<void>;
}
