/** Why a store can't be opened, or has stopped. docs/store.md describes each. */
export type StoreFault =
  /** Another process has it open. */
  | 'locked'
  /** The database is missing, but files that belong to it exist. */
  | 'missing'
  /** The file is not a Parley store. */
  | 'foreign'
  /** Created by a later version of Parley. */
  | 'newer'
  | 'read-only'
  /** Stored data is lost or changed. */
  | 'damaged'
  /** The disk has failed. The store rejects all calls. */
  | 'failed'
  /** A write contradicts the stored data. Nothing was written. */
  | 'conflict';

/** An error of the store. `fault` tells programs what happened; the message tells people what to do. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  /** What happened, for programs. */
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** Result codes of sqlite3.h. */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const CONSTRAINT = 19;
const NOTADB = 26;
/**
 * The shared-memory file of the WAL could not grow. It holds no durable data, so this is treated as a
 * full disk.
 */
const IOERR_SHMSIZE = IOERR | (19 << 8);

type SqliteTrouble = 'busy' | 'read-only' | 'full' | 'corrupt' | 'constraint' | 'io' | 'other';

/** Classifies an error by SQLite's result code. A full disk can also meet the files that we write beside the database. */
export function troubleOf(thrown: unknown): SqliteTrouble {
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC') return 'full';
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return 'other';
  if (thrown.errcode === IOERR_SHMSIZE) return 'full';
  switch (thrown.errcode & 0xff) {
    case BUSY:
      return 'busy';
    case READONLY:
    case CANTOPEN:
      return 'read-only';
    case IOERR:
      return 'io';
    case CORRUPT:
    case NOTADB:
      return 'corrupt';
    case FULL:
      return 'full';
    case CONSTRAINT:
      return 'constraint';
    default:
      return 'other';
  }
}
