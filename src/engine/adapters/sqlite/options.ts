import type { Store, TaskKey } from '../../ports.ts';
import type { Quarantined } from './damage/quarantine.ts';
import type { CopyProgress } from './files/copy-database.ts';
import type { PageUse } from './read/page-use.ts';
import type { StoreScan } from './read/scan.ts';

/** What a store lacks that was opened with `acceptLoss`. */
export interface AcceptedLoss {
  /** What is missing, or why that is unknown. */
  readonly missing: readonly string[];
  /** When the newest record that is left was made: what was stored later is lost. Absent: no record is left. */
  readonly since?: Date;
}

/** Options of `openSqliteStore`. */
export interface SqliteOptions {
  /** If false, a missing database is an error. Default true. */
  readonly create?: boolean;
  /**
   * Open although an unknown set of commits was lost. For operators, after they have read the error.
   * Default false.
   */
  readonly acceptLoss?: boolean;
  /** Called if `acceptLoss` opens a store that is refused without it. */
  readonly onAcceptedLoss?: (loss: AcceptedLoss) => void;
  /** A WAL larger than this is checkpointed. Default 16 MiB. */
  readonly walBytes?: number;
  /** At this size of the WAL, commits wait for the checkpoint. Default 64 MiB. */
  readonly walBytesMax?: number;
  /**
   * Size of a file that is deleted when the disk is full, to make room for the checkpoint. Default 16
   * MiB.
   */
  readonly ballastBytes?: number;
  /** A larger database is checked after it is opened, by a thread. Default 32 MiB. */
  readonly verifyBytesMax?: number;
  /** Size of SQLite's page cache. Default 32 MiB. */
  readonly cacheBytes?: number;
  /** Keep a full-text index in a file beside the database (`search`). Default false. */
  readonly search?: boolean;
  /** Gets internal errors, for the log. */
  readonly report?: (what: string, cause: unknown) => void;
}

/** A `Store` in a SQLite file. */
export interface SqliteStore extends Store {
  /** Random id of the store. A copy has the same. */
  readonly id: string;
  /** Tasks that are not served because part of them was lost or damaged. */
  damaged(): readonly Quarantined[];
  /**
   * Resolves when the whole file is checked. Rejects if it is damaged; the store then rejects all
   * calls.
   */
  readonly verified: Promise<void>;
  /** Signs page tokens, so that they stay valid after a restart. Belongs to the file. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** Whether the task exists. Used to delete files beside the store whose task is gone. */
  has(task: TaskKey): boolean;
  /** Reads everything in order, for a copy. */
  readonly scan: StoreScan;
  /** Empties the WAL and truncates its file. */
  checkpoint(): Promise<void>;
  /** What takes the space of the database, in bytes. Reads every page, in a thread. */
  pageUse(): Promise<PageUse>;
  /** Copies the database to a new file while commits continue. The copy needs no other file. */
  backup(to: string, onProgress?: (progress: CopyProgress) => void): Promise<void>;
}

const MIB = 2 ** 20;
export const DEFAULT_OPTIONS: Required<SqliteOptions> = {
  create: true,
  acceptLoss: false,
  onAcceptedLoss: () => {},
  walBytes: 16 * MIB,
  walBytesMax: 64 * MIB,
  ballastBytes: 16 * MIB,
  verifyBytesMax: 32 * MIB,
  cacheBytes: 32 * MIB,
  search: false,
  report: () => {},
};
