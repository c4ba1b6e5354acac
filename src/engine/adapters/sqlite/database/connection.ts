import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../shared/store-error.ts';

/**
 * Pragmas that are set and read back on every connection. SQLite ignores unknown pragmas in silence,
 * and builds differ in their defaults: with `synchronous = NORMAL` a power failure loses acknowledged
 * commits.
 */
const SETTINGS: readonly (readonly [pragma: string, value: string | number, isNow: string | number])[] = [
  ['page_size', 4096, 4096],
  ['journal_mode', 'wal', 'wal'],
  ['synchronous', 'full', 2],
  ['wal_autocheckpoint', 0, 0],
  ['journal_size_limit', -1, -1],
  ['mmap_size', 0, 0],
  ['cell_size_check', 1, 1],
  ['trusted_schema', 0, 0],
  ['temp_store', 'memory', 2],
];

/** Options of a connection. */
export interface SqliteConnectionOptions {
  readonly cacheBytes: number;
  /**
   * How long to wait for another connection. Keep it short on the thread of the event loop, which
   * retries later.
   */
  readonly busyMs?: number;
  /** The file is empty, and the caller syncs it. */
  readonly isNew?: boolean;
}

/** A database that was made or rewritten with this setting can give pages back to the file system. */
const CAN_SHRINK = 'PRAGMA auto_vacuum = incremental';

/** Short, because the event loop waits meanwhile. */
const BUSY_MS = 100;

/** Opens a connection, and sets and checks its pragmas. */
export function connect(path: string, { cacheBytes, busyMs = BUSY_MS, isNew = false }: SqliteConnectionOptions): DatabaseSync {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  try {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    // Only in a new file: in another one this writes. The settings below write to it too; `synchronous` among them is on again then.
    if (isNew) db.exec(`PRAGMA synchronous = off; ${CAN_SHRINK}`);
    for (const [pragma, value] of SETTINGS) db.exec(`PRAGMA ${pragma} = ${value}`);
    db.exec(`PRAGMA cache_size = ${-Math.ceil(cacheBytes / 1024)}`);
    assertSettings(db);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/** Throws if a pragma does not have the required value. */
export function assertSettings(db: DatabaseSync): void {
  for (const [pragma, , isNow] of SETTINGS) {
    const read = readPragma(db, pragma);
    if (read !== isNow)
      throw new StoreError(
        'failed',
        `PRAGMA ${pragma} is ${read}, not ${isNow}: this SQLite build does not support the settings that durability needs`,
      );
  }
}

/**
 * Rolls back, if a transaction is open. Some errors end the transaction by themselves, and then
 * ROLLBACK fails.
 */
export function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // No transaction was open. If one still is, the next BEGIN fails.
  }
}

export function readPragma(db: DatabaseSync, pragma: string): unknown {
  const row = db.prepare(`PRAGMA ${pragma}`).get();
  return row === undefined ? undefined : Object.values(row)[0];
}

/** Rewrites the database without its free pages and without remains of deleted rows. The copy is a temporary file, not memory. */
export function vacuum(db: DatabaseSync): void {
  db.exec(`PRAGMA temp_store = file; ${CAN_SHRINK}`);
  try {
    db.exec('VACUUM');
  } finally {
    db.exec('PRAGMA temp_store = memory');
  }
}

/**
 * Up to SQLite 3.51.2, two connections that write and checkpoint at the same moment can corrupt the
 * database (the "WAL-reset bug"). With those versions one connection does both.
 */
export function mayShareWal(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && (minor > 51 || (minor === 51 && patch >= 3)));
}

export function versionOf(db: DatabaseSync): string {
  return String(db.prepare('SELECT sqlite_version() AS version').get()?.['version']);
}
