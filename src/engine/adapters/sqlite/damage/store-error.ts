/** Why a store is not opened, or does not go on. */
export type StoreFault =
  /** Another process has it. */
  | 'locked'
  /** The database is gone, but what belongs to it is there. */
  | 'missing'
  /** The file is not a store of ours. */
  | 'foreign'
  /** Made by a later version. */
  | 'newer'
  | 'read-only'
  /** Something that was kept is not there any more, or not as it was. */
  | 'damaged'
  /** The disk failed under it: nothing is promised any more. */
  | 'failed'
  /** The caller's idea of what is stored is wrong; nothing was written. */
  | 'conflict';

export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** Codes of sqlite3.h. */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const CONSTRAINT = 19;
const NOTADB = 26;
/** The shared memory of the WAL could not grow: a full disk too, since that file holds nothing that lasts. */
const IOERR_SHMSIZE = IOERR | (19 << 8);

type SqliteTrouble = 'busy' | 'read-only' | 'full' | 'corrupt' | 'constraint' | 'io' | 'other';

export function troubleOf(thrown: unknown): SqliteTrouble {
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
