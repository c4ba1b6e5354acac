import { randomUUID } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { syncFolder } from '../commit/marks.ts';
import { StoreError, troubleOf } from '../damage/store-error.ts';
import type { StoreFiles } from '../files/store-files.ts';
import { inspect } from '../files/store-files.ts';
import { connect, readPragma } from './connection.ts';
import { APPLICATION_ID, assertSchema, migrate } from './schema.ts';
import { query } from './statement.ts';

export interface OpenOptions {
  readonly mayCreate: boolean;
  readonly cacheBytes: number;
}

/** The database with its schema, shown to be ours. The lock is held. */
export function openDatabase(files: StoreFiles, options: OpenOptions): DatabaseSync {
  if (!inspect(files, options.mayCreate)) create(files.path, options);
  const db = connect(files.path, options);
  try {
    if (Number(readPragma(db, 'application_id')) !== APPLICATION_ID) {
      throw new StoreError('foreign', `${files.path} is a database of another program`);
    }
    migrate(db);
    assertSchema(db);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/** Under another name first: a database that is there is whole, whenever the process dies. */
function create(path: string, options: OpenOptions): void {
  const fresh = `${path}.new`;
  for (const end of ['', '-wal', '-shm']) rmSync(fresh + end, { force: true });
  // For its owner alone, also in a folder that others may look into; SQLite gives what lies beside it the same mode.
  closeSync(openSync(fresh, 'wx', 0o600));
  const db = connect(fresh, options);
  migrate(db);
  db.prepare('INSERT INTO meta (one, store, commits, last_key, named, twin) VALUES (1, ?, 0, 0, 0, 0)').run(randomUUID());
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  renameSync(fresh, path);
  syncFolder(dirname(path));
}

/** What SQLite says on the way, in words that help. */
export function explainOpening(path: string, thrown: unknown): unknown {
  switch (troubleOf(thrown)) {
    case 'read-only':
      return new StoreError('read-only', `${path} can't be written: is it a read-only file, folder or disk?`, thrown);
    case 'corrupt':
      return new StoreError('damaged', `${path} can't be read: it is damaged. Restore it from a backup`, thrown);
    case 'busy':
      return new StoreError('locked', `${path} is in use by a program that knows nothing of our lock`, thrown);
    case 'io':
      return new StoreError('failed', `the disk under ${path} fails`, thrown);
    case 'full':
      return new StoreError('failed', `the disk under ${path} is full: it can't even be opened`, thrown);
    default:
      return thrown;
  }
}

export interface StoreMeta {
  readonly store: string;
  readonly commits: number;
  readonly last_key: number;
  /** See names.ts. */
  readonly named: number;
}

export function readMeta(db: DatabaseSync): StoreMeta {
  const meta = query<StoreMeta & { twin: number }>(db, 'SELECT store, commits, last_key, named, twin FROM meta WHERE one = 1').one();
  if (meta === undefined || meta.commits + meta.last_key + meta.named + meta.twin !== 0)
    throw new StoreError('damaged', 'the store has lost count of its commits');
  return meta;
}
