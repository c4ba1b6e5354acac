import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError, troubleOf } from '../../shared/store-error.ts';
import { syncFolder } from '../commit/marks.ts';
import type { StoreFiles } from '../files/store-files.ts';
import { inspect } from '../files/store-files.ts';
import { connect, readPragma } from './connection.ts';
import { APPLICATION_ID, assertSchema, migrate } from './schema.ts';
import { query } from './statement.ts';

/** Options of `openDatabase`. */
export interface OpenOptions {
  readonly mayCreate: boolean;
  readonly cacheBytes: number;
}

/** Opens the database and checks that it is a Parley store. The caller holds the lock. */
export function openDatabase(files: StoreFiles, options: OpenOptions): DatabaseSync {
  if (!inspect(files, options.mayCreate)) create(files.path, options);
  const db = connect(files.path, options);
  try {
    if (Number(readPragma(db, 'application_id')) !== APPLICATION_ID) {
      throw new StoreError('foreign', `${files.path} is the database of another program`);
    }
    migrate(db);
    assertSchema(db);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/**
 * Creates the database under another name and renames it, so that a crash leaves a complete database or
 * none. It is synced once, before it gets its name.
 */
function create(path: string, options: OpenOptions): void {
  const fresh = `${path}.new`;
  for (const end of ['', '-wal', '-shm']) rmSync(fresh + end, { force: true });
  // Readable by its owner only, whatever the folder's mode. SQLite gives the files beside it the same mode.
  closeSync(openSync(fresh, 'wx', 0o600));
  const db = connect(fresh, { ...options, isNew: true });
  db.exec('PRAGMA synchronous = off');
  migrate(db);
  db.prepare('INSERT INTO meta (one, store, commits, last_key, named, twin) VALUES (1, ?, 0, 0, 0, 0)').run(randomUUID());
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  syncFile(fresh);
  renameSync(fresh, path);
  syncFolder(dirname(path));
}

function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Turns an error of SQLite into a StoreError that says what to do. */
export function explainOpening(path: string, thrown: unknown): unknown {
  switch (troubleOf(thrown)) {
    case 'read-only':
      return new StoreError('read-only', `${path} can't be written: is the file, folder or disk read-only?`, thrown);
    case 'corrupt':
      return new StoreError('damaged', `${path} is damaged and can't be read. Restore it from a backup`, thrown);
    case 'busy':
      return new StoreError('locked', `${path} is in use by another program that does not use Parley's lock file`, thrown);
    case 'io':
      return new StoreError('failed', `the disk of ${path} has failed`, thrown);
    case 'full':
      return new StoreError('failed', `the disk of ${path} is full, so the store can't be opened`, thrown);
    default:
      return thrown;
  }
}

/** The row that describes the store itself. */
export interface StoreMeta {
  /** Random id of the store, which its marks file repeats. */
  readonly store: string;
  /** Number of commits so far. */
  readonly commits: number;
  /** Highest task key that was ever used. */
  readonly last_key: number;
  /** All sends up to this number have their names in the index (send-names.ts). */
  readonly named: number;
  /** 1 while a process has the store open, and after a crash. */
  readonly in_use: number;
}

export function readMeta(db: DatabaseSync): StoreMeta {
  const meta = query<StoreMeta & { twin: number }>(
    db,
    'SELECT store, commits, last_key, named, in_use, twin FROM meta WHERE one = 1',
  ).one();
  if (meta === undefined || meta.commits + meta.last_key + meta.named + meta.twin !== 0)
    throw new StoreError('damaged', 'the record of the number of commits is damaged');
  return meta;
}

/**
 * Notes in the main file that a process has the store open. A copy of this file alone then shows that it was made without the WAL, so it
 * may lack the newest commits (see `findLostCommits`).
 */
export function markInUse(db: DatabaseSync, { in_use: isMarked }: StoreMeta): void {
  if (isMarked === 0) unlessFull(() => db.exec('UPDATE meta SET in_use = 1; PRAGMA wal_checkpoint(PASSIVE)'));
}

/** Notes that the main file holds all commits. The caller copies the WAL to it afterwards. */
export function markClosed(db: DatabaseSync): void {
  unlessFull(() => db.exec('UPDATE meta SET in_use = 0'));
}

/** A full disk must not keep a store from being read. The note is then missing, or stays; the marks file beside it shows what is true. */
function unlessFull(write: () => void): void {
  try {
    write();
  } catch (thrown) {
    if (troubleOf(thrown) !== 'full') throw thrown;
  }
}
