import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { findLostCommits, newestRecordAt, readMarksOf } from './sqlite/damage/lost-commits.ts';
import { explainOpening, openDatabase, readMeta } from './sqlite/database/open.ts';
import { lockStore } from './sqlite/files/lock.ts';
import { filesOf } from './sqlite/files/store-files.ts';
import type { AcceptedLoss, SqliteOptions, SqliteStore } from './sqlite/options.ts';
import { DEFAULT_OPTIONS } from './sqlite/options.ts';
import { assemble } from './sqlite/store.ts';

export type { StoreFault } from './shared/store-error.ts';
export { StoreError } from './shared/store-error.ts';
export { isDamage } from './sqlite/damage/task-errors.ts';
export type { CopyProgress } from './sqlite/files/copy-database.ts';
export type { AcceptedLoss, SqliteOptions, SqliteStore } from './sqlite/options.ts';
export type { SqliteReader } from './sqlite/read/open-reader.ts';
export { openSqliteReader } from './sqlite/read/open-reader.ts';
export type { PageUse } from './sqlite/read/page-use.ts';
export type { ScannedTasks, StoreScan } from './sqlite/read/scan.ts';
export type { NumberedSend } from './sqlite/tables/sends.ts';

/**
 * Opens the SQLite store in a file, or creates it. Throws a StoreError that states the cause and what
 * to do (docs/store.md).
 *
 * ```ts
 * const store = openSqliteStore('tasks.db');
 * ```
 */
export function openSqliteStore(path: string, options: SqliteOptions = {}): SqliteStore {
  const settings = { ...DEFAULT_OPTIONS, ...options };
  const files = filesOf(resolve(path));
  const lock = lockStore(files.path);
  let db: DatabaseSync | undefined;
  try {
    const accepted: string[] = [];
    const accepting = { acceptLoss: settings.acceptLoss, accepted };
    const marks = readMarksOf(files, accepting);
    db = openDatabase(files, { mayCreate: settings.create, cacheBytes: settings.cacheBytes });
    const meta = readMeta(db);
    const losses = findLostCommits(db, marks, { files, meta, ...accepting });
    if (accepted.length > 0) settings.onAcceptedLoss(lossOf(db, accepted));
    return assemble({ db, files, lock, meta, losses, settings });
  } catch (thrown) {
    db?.close();
    lock.release();
    throw explainOpening(files.path, thrown);
  }
}

function lossOf(db: DatabaseSync, missing: readonly string[]): AcceptedLoss {
  const since = newestRecordAt(db);
  return { missing, ...(since === undefined ? {} : { since }) };
}
