import { closeSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { vacuum } from '../database/connection.ts';
import type { SqlQuery } from '../database/statement.ts';
import { command, query } from '../database/statement.ts';

/** What the index has of a task. */
export interface IndexedTask {
  readonly key: number;
  /** The start of the task's last hash. Another value: the task has changed since. */
  readonly head: number;
}

/** A task for the index. */
export interface IndexEntry extends IndexedTask {
  readonly statusAt: number;
  /** Names of the owner, the agent, the context and the state (scope-words.ts). */
  readonly scope: string;
  readonly words: string;
}

/** What to look for in the index. */
export interface IndexMatch {
  /** In the query language of FTS5. */
  readonly match: string;
  readonly before: number;
  readonly statusFrom: number;
  readonly limit: number;
}

/** The full-text index, in a file of its own. Everything in it can be made again from the store. */
export interface IndexFile {
  /** The highest key first. */
  find(match: IndexMatch): readonly number[];
  /** What the index has from one key on, up to another. */
  between(from: number, below: number): readonly IndexedTask[];
  head(key: number): number | undefined;
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
const VERSION = 1;

/**
 * The words themselves are stored in no table: `content=''`. So the index has no text that could be read back, but the tokenizer must
 * return them unchanged: `ascii` separates at spaces and leaves all other characters alone. Searches for the first two or three letters
 * of a word have an index of their own.
 */
const SCHEMA = `
  CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), store TEXT NOT NULL, mark TEXT NOT NULL) STRICT;
  CREATE TABLE doc (key INTEGER PRIMARY KEY, head INTEGER NOT NULL, status_at INTEGER NOT NULL) STRICT;
  CREATE VIRTUAL TABLE said USING fts5 (scope, words, content='', contentless_delete=1, tokenize='ascii', prefix='2 3');
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
    return indexFile(db);
  } catch (thrown) {
    db.close();
    removeIndexFile(path);
    throw thrown;
  }
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
      PRAGMA cache_size = -32768; PRAGMA trusted_schema = 0; PRAGMA temp_store = memory`);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

function indexFile(db: DatabaseSync): IndexFile {
  const head = query<{ head: number }>(db, 'SELECT head FROM doc WHERE key = ?');
  const between = query<IndexedTask>(db, 'SELECT key, head FROM doc WHERE key >= ? AND key < ?');
  const find = query<{ key: number }>(db, 'SELECT rowid AS key FROM said WHERE said MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?');
  const findSince: SqlQuery<{ key: number }> = query(
    db,
    `SELECT said.rowid AS key FROM said CROSS JOIN doc ON doc.key = said.rowid
      WHERE said MATCH ? AND said.rowid < ? AND doc.status_at >= ? ORDER BY said.rowid DESC LIMIT ?`,
  );
  const drop = command(db, 'DELETE FROM said WHERE rowid = ?');
  const dropDoc = command(db, 'DELETE FROM doc WHERE key = ?');
  const put = command(db, 'INSERT INTO said (rowid, scope, words) VALUES (?, ?, ?)');
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
    find: ({ match, before, statusFrom, limit }) =>
      (statusFrom > 0 ? findSince.all(match, before, statusFrom, limit) : find.all(match, before, limit)).map(({ key }) => key),
    between: (from, below) => between.all(from, below),
    head: (key) => head.one(key)?.head,
    write: (entries, gone) =>
      transact(() => {
        for (const key of gone) if (dropDoc(key) > 0) drop(key);
        for (const entry of entries) {
          if (dropDoc(entry.key) > 0) drop(entry.key);
          put(entry.key, entry.scope, entry.words);
          putDoc(entry.key, entry.head, entry.statusAt);
        }
      }),
    takeMark: () => {
      const found = mark.one()?.mark ?? '';
      if (found !== '') setMark('');
      return found;
    },
    setMark: (text) => void setMark(text),
    compact: () => {
      // Deleted words stay in the index until the parts of it that hold them are written anew.
      db.exec(`INSERT INTO said (said) VALUES ('optimize')`);
      vacuum(db);
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    close: () => db.close(),
  };
}
