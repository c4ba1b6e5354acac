import { closeSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { vacuum } from '../database/connection.ts';
import { command, query } from '../database/statement.ts';
import type { IndexMatch } from './index-parts.ts';
import { createIndexParts, PARTS_SCHEMA } from './index-parts.ts';

/** What the index has of a task. */
export interface IndexedTask {
  readonly key: number;
  /** The start of the task's last hash. Another value: the task has changed since. */
  readonly head: number;
}

/** A task for the index. */
export interface IndexEntry extends IndexedTask {
  /** The index has nothing of the task yet. */
  readonly isNew: boolean;
  readonly statusAt: number;
  /** Names of the owner, the agent, the context and the state (scope-words.ts). */
  readonly scope: string;
  readonly words: string;
}

/** A connection that searches. */
export interface IndexReader {
  /** The highest key first. */
  find(match: IndexMatch): readonly number[];
  close(): void;
}

/** The full-text index, in a file of its own. Everything in it can be made again from the store. */
export interface IndexFile {
  /** What the index has from one key on, up to another. */
  between(from: number, below: number): readonly IndexedTask[];
  head(key: number): number | undefined;
  /** The highest key in the index. 0: it is empty. */
  highest(): number;
  /** Replaces and deletes entries in one transaction. Faster if the keys rise. */
  write(entries: readonly IndexEntry[], gone: readonly number[]): void;
  /** The state of the store with which the index agreed when it was closed. Reading it deletes it. */
  takeMark(): string;
  setMark(mark: string): void;
  /** Rewrites the file without what was deleted. */
  compact(): void;
  close(): void;
}

/** A larger number means another form of the file: it is made again. */
const VERSION = 2;

/** 32 MiB. */
const CACHE = -32_768;

const SCHEMA = `
  CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), store TEXT NOT NULL, mark TEXT NOT NULL) STRICT;
  CREATE TABLE doc (key INTEGER PRIMARY KEY, head INTEGER NOT NULL, status_at INTEGER NOT NULL) STRICT;
  ${PARTS_SCHEMA}
  PRAGMA user_version = ${VERSION};
`;

/** Opens the index of a store, or creates it. One of another store or another version is replaced. */
export function openIndexFile(path: string, store: string): IndexFile {
  const found = tryOpen(path, store);
  if (found !== undefined) return indexFile(found);
  removeIndexFile(path);
  // Readable by its owner only, like the database.
  closeSync(openSync(path, 'wx', 0o600));
  const db = connected(path);
  try {
    db.exec(SCHEMA);
    db.prepare(`INSERT INTO meta (one, store, mark) VALUES (1, ?, '')`).run(store);
    // Fails here if this SQLite has no FTS5.
    createIndexParts(db).makeRoom([0]);
    return indexFile(db);
  } catch (thrown) {
    db.close();
    removeIndexFile(path);
    throw thrown;
  }
}

/** Opens an index that `openIndexFile` has open in another thread. */
export function openIndexReader(path: string): IndexReader {
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec(`PRAGMA busy_timeout = 2000; PRAGMA cache_size = ${CACHE}; PRAGMA trusted_schema = 0`);
  const { find } = createIndexParts(db);
  return { find, close: () => db.close() };
}

export function removeIndexFile(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
}

function tryOpen(path: string, store: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = connected(path);
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version === VERSION && db.prepare('SELECT store FROM meta WHERE one = 1').get()?.['store'] === store) return db;
  } catch {
    // Not a database, or a damaged one.
  }
  db?.close();
  return undefined;
}

/** Without a sync for each commit: what a power failure takes back is found missing at the next start. */
function connected(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = 2000; PRAGMA auto_vacuum = incremental; PRAGMA journal_mode = wal; PRAGMA synchronous = normal;
      PRAGMA cache_size = ${CACHE}; PRAGMA trusted_schema = 0; PRAGMA temp_store = memory`);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

function indexFile(db: DatabaseSync): IndexFile {
  const head = query<{ head: number }>(db, 'SELECT head FROM doc WHERE key = ?');
  const between = query<IndexedTask>(db, 'SELECT key, head FROM doc WHERE key >= ? AND key < ?');
  const highest = query<{ key: number | null }>(db, 'SELECT max(key) AS key FROM doc');
  const parts = createIndexParts(db);
  const dropDoc = command(db, 'DELETE FROM doc WHERE key = ?');
  const putDoc = command(db, 'INSERT OR REPLACE INTO doc (key, head, status_at) VALUES (?, ?, ?)');
  const mark = query<{ mark: string }>(db, 'SELECT mark FROM meta WHERE one = 1');
  const setMark = command(db, 'UPDATE meta SET mark = ? WHERE one = 1');
  const transact = (work: () => void): void => {
    db.exec('BEGIN IMMEDIATE');
    try {
      work();
      db.exec('COMMIT');
    } catch (thrown) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw thrown;
    }
  };
  return {
    between: (from, below) => between.all(from, below),
    head: (key) => head.one(key)?.head,
    highest: () => highest.one()?.key ?? 0,
    write: (entries, gone) => {
      parts.makeRoom(entries.map(({ key }) => key));
      transact(() => {
        for (const key of gone) if (dropDoc(key) > 0) parts.drop(key);
        for (const { key, isNew, head, statusAt, scope, words } of entries) {
          if (!isNew) parts.drop(key);
          parts.put(key, scope, words);
          putDoc(key, head, statusAt);
        }
      });
    },
    takeMark: () => {
      const found = mark.one()?.mark ?? '';
      if (found !== '') setMark('');
      return found;
    },
    setMark: (text) => void setMark(text),
    compact: () => {
      parts.optimize();
      vacuum(db);
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    close: () => db.close(),
  };
}
