import type { DatabaseSync } from 'node:sqlite';
import type { LogEntry, TaskRow } from '../../../ports.ts';
import { conflict } from '../damage/task-errors.ts';
import { command, query } from '../database/statement.ts';
import { cut, NO_HASH, wordsIn } from './log-segments.ts';
import type { Realms } from './realms.ts';
import type { TaskCounts } from './task-counts.ts';
import type { TaskRecord } from './task-record.ts';
import { assertIntact, recordOf, TASK_COLUMNS } from './task-record.ts';

/** Writes tasks and their logs. */
export interface Tasks {
  /** Returns the hash of the last segment of the log. */
  create(row: TaskRow, entries: readonly LogEntry[]): string;
  change(row: TaskRow, entries: readonly LogEntry[]): void;
  /** Deletes a task. Returns false if there is none. */
  forget(key: number): boolean;
}

/** The id of a segment is `task << 24 | first`. */
const SEQ_MAX = 2 ** 24 - 1;
/** A longer log is deleted later, in portions. */
const FORGET_AT_ONCE = 512;

interface LogEnd {
  readonly words: number;
  readonly head: string;
}

/** Writes a task's row, its log segments and its counts in the same transaction. */
export function createTasks(db: DatabaseSync, realms: Realms, counts: TaskCounts): Tasks {
  const stored = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE key = ?`);
  const insert = command(db, `INSERT INTO task (${TASK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update = command(
    db,
    'UPDATE task SET state = ?, status_at = ?, last = ?, turn = ?, attempt = ?, bytes = ?, words = ?, head = ?, sum = ? WHERE key = ?',
  );
  const addSegment = command(
    db,
    'INSERT INTO log (id, last, words_before, prev, hash, words, chunks) VALUES ((? << 24) | ?, ?, ?, ?, ?, ?, ?)',
  );
  const dropTask = command(db, 'DELETE FROM task WHERE key = ?');
  const dropLog = command(db, 'DELETE FROM log WHERE id > (?1 << 24) AND id < ((?1 + 1) << 24)');
  const deferDelete = command(db, 'INSERT OR IGNORE INTO trash (key) VALUES (?)');

  const addEntries = (row: TaskRow, entries: readonly LogEntry[], end: LogEnd): LogEnd => {
    if (entries.length === 0) return end;
    let head = end.head;
    for (const segment of cut({ key: row.key, id: row.id, context: row.contextId }, entries, end)) {
      addSegment(row.key, segment.first, segment.last, segment.words_before, segment.prev, segment.hash, segment.words, segment.chunks);
      head = segment.hash;
    }
    return { words: end.words + wordsIn(entries), head };
  };

  return {
    create: (row, entries) => {
      assertContinues(row, entries, 0);
      const to = recordOf(row, realms.obtain(row.owner, row.agent), addEntries(row, entries, { words: 0, head: NO_HASH }));
      const { key, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes, words, head, sum } = to;
      insert(key, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes, words, head, sum);
      counts.add(realm, state, status_at);
      return head;
    },
    change: (row, entries) => {
      const from = stored.one(row.key);
      if (from === undefined) throw conflict(`task ${row.key} does not exist`);
      assertIntact(from);
      assertContinues(row, entries, from.last);
      const to = recordOf(row, realms.byKey(from.realm), addEntries(row, entries, from));
      update(to.state, to.status_at, to.last, to.turn, to.attempt, to.bytes, to.words, to.head, to.sum, to.key);
      if (to.state === from.state && to.status_at === from.status_at) return;
      counts.remove(from.realm, from.state, from.status_at);
      counts.add(to.realm, to.state, to.status_at);
    },
    forget: (key) => {
      const from = stored.one(key);
      if (from === undefined) return false;
      if (from.last <= FORGET_AT_ONCE) dropLog(key);
      else deferDelete(key);
      dropTask(key);
      counts.remove(from.realm, from.state, from.status_at);
      return true;
    },
  };
}

/**
 * Checks that the entries continue the stored log and end at the row's `last`. Otherwise the writer saw
 * an older version.
 */
function assertContinues(row: TaskRow, entries: readonly LogEntry[], last: number): void {
  let next = last;
  for (const entry of entries) {
    next += 1;
    if (entry.seq !== next) throw conflict(`entry ${entry.seq} of task ${row.key} should have number ${next}`);
  }
  if (row.last !== next) throw conflict(`the row of task ${row.key} ends at ${row.last}, but its log at ${next}`);
  if (next > SEQ_MAX) throw conflict(`task ${row.key} has reached the maximum of ${SEQ_MAX} entries`);
}
