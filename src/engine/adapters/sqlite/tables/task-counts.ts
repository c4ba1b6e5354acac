import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../shared/store-error.ts';
import type { SqlCommand } from '../database/statement.ts';
import { command, query } from '../database/statement.ts';

/**
 * The number of tasks by realm, state and time of the last status, so that a list knows its total
 * without counting a million rows. Times are grouped in buckets of about 17 minutes. TOTAL is the
 * bucket of all times, EVERYONE the realm of all realms.
 */
export const EVERYONE = 0;
const TOTAL = -1;
const BUCKET_MS = 2 ** 20;

/** Keeps the counts up to date with each commit. */
export interface TaskCounts {
  add(realm: number, state: number, statusAt: number): void;
  remove(realm: number, state: number, statusAt: number): void;
  /** Writes the gathered changes. Must be called in the transaction that caused them. */
  flush(): void;
  /** Drops the gathered changes after a rollback. */
  clear(): void;
  total(realm: number, state?: number): number;
  /** The number of tasks in buckets that start at or after a time. */
  from(realm: number, time: number, state?: number): number;
}

/**
 * The start of the first bucket at or after a time. Tasks between the time and this start must be
 * counted one by one.
 */
export function bucketStart(time: number): number {
  return Math.ceil(time / BUCKET_MS) * BUCKET_MS;
}

interface Count {
  readonly state: number;
  readonly n: number;
  readonly twin: number;
}

/** Gathers the changes of a transaction in memory, and writes each count once. */
export function createTaskCounts(db: DatabaseSync): TaskCounts {
  const change: SqlCommand = command(
    db,
    `INSERT INTO tally (realm, bucket, state, n, twin) VALUES (?1, ?2, ?3, ?4, -?4)
     ON CONFLICT DO UPDATE SET n = n + ?4, twin = twin - ?4`,
  );
  const drop: SqlCommand = command(db, 'DELETE FROM tally WHERE realm = ? AND bucket = ? AND state = ? AND n = 0');
  const totals = query<Count>(db, 'SELECT state, n, twin FROM tally WHERE realm = ? AND bucket = ?');
  const after = query<Count>(db, 'SELECT state, n, twin FROM tally WHERE realm = ? AND bucket >= ?');
  let deltas = new Map<string, Delta>();

  const note = (delta: Delta): void => {
    const name = `${delta.realm} ${delta.bucket} ${delta.state}`;
    const known = deltas.get(name);
    if (known === undefined) deltas.set(name, delta);
    else known.n += delta.n;
  };
  const move = (realm: number, state: number, statusAt: number, n: number): void => {
    note({ realm, state, bucket: Math.floor(statusAt / BUCKET_MS), n });
  };

  return {
    add: (realm, state, statusAt) => move(realm, state, statusAt, 1),
    remove: (realm, state, statusAt) => move(realm, state, statusAt, -1),
    flush: () => {
      for (const { realm, bucket, state, n } of [...deltas.values()]) {
        note({ realm: EVERYONE, bucket, state, n });
        note({ realm, bucket: TOTAL, state, n });
        note({ realm: EVERYONE, bucket: TOTAL, state, n });
      }
      for (const { realm, bucket, state, n } of deltas.values()) {
        if (n !== 0) change(realm, bucket, state, n);
        if (n < 0) drop(realm, bucket, state);
      }
      deltas = new Map();
    },
    clear: () => {
      deltas = new Map();
    },
    total: (realm, state) => sum(totals.all(realm, TOTAL), state),
    from: (realm, time, state) => sum(after.all(realm, Math.max(0, Math.ceil(time / BUCKET_MS))), state),
  };
}

interface Delta {
  readonly realm: number;
  readonly bucket: number;
  readonly state: number;
  n: number;
}

/** Adds up counts. `n` and `twin` must cancel out; otherwise the page is damaged. */
function sum(counts: readonly Count[], state: number | undefined): number {
  let out = 0;
  for (const count of counts) {
    if (count.n + count.twin !== 0 || count.n < 0) throw new StoreError('damaged', 'the checksum of a task count is wrong');
    if (state === undefined || count.state === state) out += count.n;
  }
  return out;
}
