import type { DatabaseSync } from 'node:sqlite';
import type { SqlCommand, SqlQuery } from '../database/statement.ts';
import { command, query } from '../database/statement.ts';

/** What to look for in the index. */
export interface IndexMatch {
  /** In the query language of FTS5. */
  readonly match: string;
  readonly before: number;
  readonly statusFrom: number;
  readonly limit: number;
}

/** The words of all tasks, in several tables of FTS5. */
export interface IndexParts {
  /** The highest key first. */
  find(match: IndexMatch): readonly number[];
  /** Creates the tables that these keys need. Must be called before `put`, outside of a transaction. */
  makeRoom(keys: Iterable<number>): void;
  put(key: number, scope: string, words: string): void;
  drop(key: number): void;
  /** Writes every table anew. Deleted words stay in it until then. */
  optimize(): void;
}

/**
 * Each table holds the tasks of a range of keys, and a search starts in the newest one. FTS5 collects all tasks with a word that starts with
 * certain letters before it returns the first one; this way it collects those of one table. A word that is nowhere costs a look into each table.
 */
const KEYS_A_PART = 131_072;

/**
 * The words themselves are stored in no table: `content=''`. So the index has no text that could be read back, but the tokenizer must return them
 * unchanged: `ascii` separates at spaces and leaves all other characters alone.
 */
const OPTIONS = `scope, words, content='', contentless_delete=1, tokenize='ascii'`;

export const PARTS_SCHEMA = 'CREATE TABLE part (number INTEGER PRIMARY KEY) STRICT;';

export function createIndexParts(db: DatabaseSync): IndexParts {
  const stored = query<{ number: number }>(db, 'SELECT number FROM part ORDER BY number DESC');
  const note = command(db, 'INSERT OR IGNORE INTO part (number) VALUES (?)');
  const prepared = new Map<number, Part>();
  const partAt = (number: number): Part => {
    const part = prepared.get(number) ?? prepare(db, number);
    prepared.set(number, part);
    return part;
  };
  const partOf = (key: number): Part => partAt(numberOf(key));
  return {
    find: ({ match, before, statusFrom, limit }) => {
      const keys: number[] = [];
      for (const { number } of stored.all()) {
        if (number * KEYS_A_PART >= before) continue;
        const left = limit - keys.length;
        if (left === 0) break;
        const { find, findSince } = partAt(number);
        const found = statusFrom > 0 ? findSince.all(match, before, statusFrom, left) : find.all(match, before, left);
        for (const { key } of found) keys.push(key);
      }
      return keys;
    },
    makeRoom: (keys) => {
      const missing = new Set<number>();
      for (const key of keys) if (!prepared.has(numberOf(key))) missing.add(numberOf(key));
      for (const number of missing) {
        db.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS ${tableOf(number)} USING fts5 (${OPTIONS})`);
        note(number);
      }
    },
    put: (key, scope, words) => void partOf(key).put(key, scope, words),
    drop: (key) => void partOf(key).drop(key),
    optimize: () => {
      for (const { number } of stored.all()) db.exec(`INSERT INTO ${tableOf(number)} (${tableOf(number)}) VALUES ('optimize')`);
    },
  };
}

interface Part {
  readonly find: SqlQuery<{ key: number }>;
  readonly findSince: SqlQuery<{ key: number }>;
  readonly put: SqlCommand;
  readonly drop: SqlCommand;
}

function prepare(db: DatabaseSync, number: number): Part {
  const said = tableOf(number);
  return {
    find: query(db, `SELECT rowid AS key FROM ${said} WHERE ${said} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`),
    findSince: query(
      db,
      `SELECT ${said}.rowid AS key FROM ${said} CROSS JOIN doc ON doc.key = ${said}.rowid
        WHERE ${said} MATCH ? AND ${said}.rowid < ? AND doc.status_at >= ? ORDER BY ${said}.rowid DESC LIMIT ?`,
    ),
    put: command(db, `INSERT INTO ${said} (rowid, scope, words) VALUES (?, ?, ?)`),
    drop: command(db, `DELETE FROM ${said} WHERE rowid = ?`),
  };
}

const numberOf = (key: number): number => Math.floor(key / KEYS_A_PART);
const tableOf = (number: number): string => `said_${number}`;
