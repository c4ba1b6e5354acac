import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { filesOf } from './sqlite/files.ts';
import { lockStore } from './sqlite/lock.ts';
import { findLosses, readMarksOf } from './sqlite/losses.ts';
import { explainOpening, openDatabase, readMeta } from './sqlite/open.ts';
import type { SqliteOptions, SqliteStore } from './sqlite/options.ts';
import { DEFAULT_OPTIONS } from './sqlite/options.ts';
import { assemble } from './sqlite/store.ts';

export { isDamage } from './sqlite/errors.ts';
export type { StoreFault } from './sqlite/faults.ts';
export { StoreError } from './sqlite/faults.ts';
export type { SqliteOptions, SqliteStore } from './sqlite/options.ts';

/** Opens the store in a file, or makes it. Throws a StoreError that says why it can't, and what to do. */
export function openSqliteStore(path: string, options: SqliteOptions = {}): SqliteStore {
  const settings = { ...DEFAULT_OPTIONS, ...options };
  const files = filesOf(resolve(path));
  const lock = lockStore(files.path);
  let db: DatabaseSync | undefined;
  try {
    const marks = readMarksOf(files, settings);
    db = openDatabase(files, { mayCreate: settings.create, cacheBytes: settings.cacheBytes });
    const meta = readMeta(db);
    const losses = findLosses(db, marks, { files, meta, acceptLoss: settings.acceptLoss });
    return assemble({ db, files, lock, meta, losses, settings });
  } catch (thrown) {
    db?.close();
    lock.release();
    throw explainOpening(files.path, thrown);
  }
}
