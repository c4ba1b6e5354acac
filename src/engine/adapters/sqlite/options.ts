import type { Store, TaskKey } from '../../ports.ts';
import type { Quarantined } from './damage/quarantine.ts';

export interface SqliteOptions {
  /** False: a database that is not there is an error. */
  readonly create?: boolean;
  /** Open although commits were lost and it can't be said which: an operator's word, after reading the refusal. */
  readonly acceptLoss?: boolean;
  /** The WAL is emptied when it is larger, and never much larger than the second. */
  readonly walBytes?: number;
  readonly walBytesMax?: number;
  /** Kept free for the moment when the disk is full. */
  readonly ballastBytes?: number;
  /** A larger file is checked after opening, in a thread. */
  readonly verifyBytesMax?: number;
  readonly cacheBytes?: number;
  readonly report?: (what: string, cause: unknown) => void;
}

export interface SqliteStore extends Store {
  /** Tasks that are not served, since part of them was lost or damaged. */
  damaged(): readonly Quarantined[];
  /** Resolves when the whole file has been checked; rejects if something is wrong with it, and nothing is served any more. */
  readonly verified: Promise<void>;
  /** For page tokens that outlive the process; goes with the file. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** Whether there is such a task: for what is kept beside the store, and must go when its task has gone. */
  has(task: TaskKey): boolean;
  /** Empties the WAL and gives its space back. */
  checkpoint(): Promise<void>;
}

const MIB = 2 ** 20;
export const DEFAULT_OPTIONS: Required<SqliteOptions> = {
  create: true,
  acceptLoss: false,
  walBytes: 16 * MIB,
  walBytesMax: 64 * MIB,
  ballastBytes: 16 * MIB,
  verifyBytesMax: 32 * MIB,
  cacheBytes: 32 * MIB,
  report: () => {},
};
