import type { LeaseClock } from './lease-watch.ts';
import { leaseClock } from './lease-watch.ts';
import type { ReplicaAddress, ReplicaOwner } from './replica.ts';
import type { ReplicaRow } from './replica-list.ts';
import type { StoreProblem } from './table-watch.ts';

/** Options of `openPostgresStore`. */
export interface PostgresOptions {
  /** The schema of the tables. Default `parley`. */
  readonly schema?: string;
  /** How long this process may own the store without renewing its lease. Default 10,000. */
  readonly leaseMs?: number;
  /** The address of this node, which another node names when it can't start. */
  readonly url?: string;
  /** Number of cells of a new store. It can't be changed later. Default 128. */
  readonly cells?: number;
  /**
   * `all` (default): this is the only writer. `fair`: one of several, each of which owns its share of the cells. A number: one of several, which
   * takes at most so many free cells and gives none back.
   */
  readonly share?: 'all' | 'fair' | number;
  /**
   * Called when another process owns the store: this one waits, and opens the store when the other one has ended. Absent: it throws a
   * StoreError.
   */
  readonly onStandby?: (owner: ReplicaOwner) => void;
  /** With `fair`: called when this process has taken cells of one that has ended, with their number. */
  readonly onTakeover?: (cells: number) => void;
  /** Called once, before this process joins the others. Returns where they reach it. Absent: they don't. */
  readonly announce?: (shared: ReplicaAccess) => Promise<ReplicaAddress>;
  /** Ends the wait while another process owns the store: opening fails with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Keep a full-text index (`search`). Default true. */
  readonly search?: boolean;
  /** Open a store although it lacks commits after a failover, and forget that it does. For operators. Default false. */
  readonly acceptLoss?: boolean;
  /** Called with what is missing, if `acceptLoss` was needed. */
  readonly onAcceptedLoss?: (missing: string) => void;
  /** Maximum number of connections for reads. Default 8. */
  readonly readers?: number;
  /** The server cancels a commit that waits longer than this for another one. Default 5,000. */
  readonly commitMsMax?: number;
  /**
   * Called when the store can't be used until somebody has corrected its database, for example because its schema was dropped, and with
   * undefined when it can be used again. Only `openPostgresStore` looks for that, once a second.
   */
  readonly onProblem?: (problem: StoreProblem | undefined) => void;
  /** Gets internal errors, for the log. */
  readonly report?: (what: string, cause: unknown) => void;
  /** The time of the lease. Default: the clocks of the machine. */
  readonly clock?: LeaseClock;
  /** For tests only: how the outcome of a lost commit is found. Default `fenced`. */
  readonly verdicts?: 'fenced' | 'plain';
}

/** What replicas of one database share. */
export interface ReplicaAccess {
  /** The processes that use the store now, oldest first. */
  replicas(): Promise<readonly ReplicaRow[]>;
  /** Returns a secret of the node, after storing `fresh` if there is none. */
  sharedSecret(name: string, fresh: string): Promise<string>;
}

type Defaulted =
  | 'schema'
  | 'leaseMs'
  | 'url'
  | 'cells'
  | 'share'
  | 'search'
  | 'acceptLoss'
  | 'commitMsMax'
  | 'report'
  | 'clock'
  | 'verdicts';

export const DEFAULTS: Required<Pick<PostgresOptions, Defaulted>> = {
  schema: 'parley',
  leaseMs: 10_000,
  url: '',
  cells: 128,
  share: 'all',
  search: true,
  acceptLoss: false,
  commitMsMax: 5000,
  report: () => {},
  clock: leaseClock,
  verdicts: 'fenced',
};
