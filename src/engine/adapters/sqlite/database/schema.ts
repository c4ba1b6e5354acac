import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../shared/store-error.ts';
import { readPragma, rollBack } from './connection.ts';

/** `Prly`: marks a database file as a Parley store. */
export const APPLICATION_ID = 0x50726c79;

/**
 * Step n migrates from version n to n + 1. A released step is never changed.
 *
 * Rows are clustered by small integers that only grow, so a commit writes to the right edge of each
 * tree, in pages that are dirty anyway. A row of `log` is a segment: the entries of one task in one
 * commit, with the id `task << 24 | first`. Status changes and messages (`words`) are stored apart from
 * artifact chunks. `sum`, `twin` and `hash` detect damage (task-record.ts, task-counts.ts,
 * log-segments.ts).
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1), store TEXT NOT NULL, commits INTEGER NOT NULL, last_key INTEGER NOT NULL, named INTEGER NOT NULL,
    twin INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE realm (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX realm_name ON realm (tenant, principal, agent);
  CREATE INDEX realm_agent ON realm (agent);
  CREATE TABLE task (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, realm INTEGER NOT NULL, context TEXT NOT NULL, dialect TEXT NOT NULL, alias TEXT,
    state INTEGER NOT NULL, status_at INTEGER NOT NULL, last INTEGER NOT NULL, turn INTEGER NOT NULL, attempt INTEGER NOT NULL,
    bytes INTEGER NOT NULL, words INTEGER NOT NULL, head TEXT NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX task_id ON task (id);
  CREATE INDEX task_realm ON task (realm, state, status_at);
  CREATE INDEX task_context ON task (realm, context, state, status_at);
  CREATE INDEX task_state ON task (state, status_at);
  CREATE INDEX task_alias ON task (realm, alias) WHERE alias IS NOT NULL;
  CREATE TABLE log (
    id INTEGER PRIMARY KEY, last INTEGER NOT NULL, words_before INTEGER NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, words TEXT, chunks TEXT
  ) STRICT;
  CREATE INDEX log_words ON log (id) WHERE words IS NOT NULL;
  CREATE TABLE send (
    n INTEGER PRIMARY KEY, name INTEGER NOT NULL, realm INTEGER NOT NULL, token TEXT NOT NULL, fingerprint TEXT NOT NULL, at INTEGER NOT NULL,
    task INTEGER, seq INTEGER, answer TEXT, delivered INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX send_task ON send (task) WHERE task IS NOT NULL;
  CREATE INDEX send_at ON send (at) WHERE task IS NULL;
  CREATE TABLE name (hash INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (hash, n)) STRICT, WITHOUT ROWID;
  CREATE TABLE push (
    n INTEGER PRIMARY KEY, task INTEGER NOT NULL, id TEXT NOT NULL, dialect TEXT NOT NULL, after INTEGER NOT NULL, config TEXT NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX push_task ON push (task, id);
  CREATE TABLE tally (
    realm INTEGER NOT NULL, bucket INTEGER NOT NULL, state INTEGER NOT NULL, n INTEGER NOT NULL, twin INTEGER NOT NULL,
    PRIMARY KEY (realm, bucket, state)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE quarantine (key INTEGER PRIMARY KEY, id TEXT, why TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE trash (key INTEGER PRIMARY KEY) STRICT;
  `,
  `
  ALTER TABLE push ADD COLUMN sealed TEXT;
  CREATE TABLE outbox (
    n INTEGER PRIMARY KEY, task INTEGER NOT NULL, config TEXT NOT NULL, done INTEGER NOT NULL, up_to INTEGER, dead INTEGER NOT NULL,
    attempts INTEGER NOT NULL, due_at INTEGER NOT NULL, failing_since INTEGER, problem TEXT, sum INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX outbox_task ON outbox (task);
  CREATE INDEX outbox_dead ON outbox (dead, n);
  `,
  `
  ALTER TABLE meta ADD COLUMN in_use INTEGER NOT NULL DEFAULT 0;
  `,
  // Nothing changes in the file. From this version on, the log is written with shortened ids, which older programs can't read.
  '',
  `
  CREATE TABLE title (
    tenant TEXT NOT NULL, principal TEXT NOT NULL, context TEXT NOT NULL, name TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (tenant, principal, context)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** Migrates in one transaction: after a crash the file has the old version or the new one. */
export function migrate(db: DatabaseSync, steps: readonly string[] = MIGRATIONS): void {
  const from = Number(readPragma(db, 'user_version'));
  if (from === steps.length) return;
  if (from > steps.length) {
    throw new StoreError(
      'newer',
      `the store has version ${from}, but this program supports versions up to ${steps.length}: use the Parley version that created it, or a later one`,
    );
  }
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const step of steps.slice(from)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${steps.length}`);
    db.exec('COMMIT');
  } catch (thrown) {
    rollBack(db);
    throw thrown;
  }
}

/** Compares the schema with a fresh one: a flipped bit in it would change the meaning of all data. */
export function assertSchema(db: DatabaseSync): void {
  const fresh = new DatabaseSync(':memory:');
  migrate(fresh);
  const expected = hashOf(fresh);
  fresh.close();
  if (hashOf(db) !== expected) throw new StoreError('damaged', 'the definitions of the tables differ from those of this version');
}

function hashOf(db: DatabaseSync): string {
  const rows = db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all();
  return hash('sha256', JSON.stringify(rows));
}
