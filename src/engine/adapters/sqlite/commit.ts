import type { DatabaseSync } from 'node:sqlite';
import { unreachable } from '#protocol';
import type { Entry, TaskRow, Write } from '../../ports.ts';
import { conflict } from './errors.ts';
import type { Pushes } from './pushes.ts';
import type { Realms } from './realms.ts';
import type { TaskRecord } from './rows.ts';
import { assertIntact, recordOf, TASK_COLUMNS } from './rows.ts';
import { cut, NO_HASH, wordsIn } from './segments.ts';
import type { Sends } from './sends.ts';
import { command, query } from './statement.ts';
import type { Tally } from './tally.ts';

/** A segment's place in its table is `task << 24 | first`. */
const SEQ_MAX = 2 ** 24 - 1;
/** A longer log is thrown away bit by bit afterwards. */
const FORGET_AT_ONCE = 512;

export interface Tables {
  readonly realms: Realms;
  readonly tally: Tally;
  readonly sends: Sends;
  readonly pushes: Pushes;
}

/** Puts one write into the transaction under way. */
export type Apply = (write: Write) => void;

export function createApply(db: DatabaseSync, { realms, tally, sends, pushes }: Tables): Apply {
  const stored = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE key = ?`);
  const insert = command(db, `INSERT INTO task (${TASK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update = command(
    db,
    `UPDATE task SET state = ?, status_at = ?, last = ?, turn = ?, attempt = ?, bytes = ?, words = ?, head = ?, sum = ? WHERE key = ?`,
  );
  const addSegment = command(
    db,
    'INSERT INTO log (id, last, words_before, prev, hash, words, chunks) VALUES ((? << 24) | ?, ?, ?, ?, ?, ?, ?)',
  );
  const dropTask = command(db, 'DELETE FROM task WHERE key = ?');
  const dropLog = command(db, 'DELETE FROM log WHERE id > (?1 << 24) AND id < ((?1 + 1) << 24)');
  const addTrash = command(db, 'INSERT OR IGNORE INTO trash (key) VALUES (?)');

  const addEntries = (row: TaskRow, entries: readonly Entry[], end: { words: number; head: string }): { words: number; head: string } => {
    if (entries.length === 0) return end;
    let head = end.head;
    for (const segment of cut(row.key, entries, end)) {
      addSegment(row.key, segment.first, segment.last, segment.words_before, segment.prev, segment.hash, segment.words, segment.chunks);
      head = segment.hash;
    }
    return { words: end.words + wordsIn(entries), head };
  };

  const create = (row: TaskRow, entries: readonly Entry[]): void => {
    assertContinues(row, entries, 0);
    const realm = realms.obtain(row.owner, row.agent);
    const to = recordOf(row, realm, addEntries(row, entries, { words: 0, head: NO_HASH }));
    insert(
      ...[to.key, to.id, to.realm, to.context, to.dialect, to.alias, to.state, to.status_at],
      ...[to.last, to.turn, to.attempt, to.bytes, to.words, to.head, to.sum],
    );
    tally.add(to.realm, to.state, to.status_at);
  };

  const change = (row: TaskRow, entries: readonly Entry[]): void => {
    const from = stored.one(row.key);
    if (from === undefined) throw conflict(`task ${row.key} is not there`);
    assertIntact(from);
    assertContinues(row, entries, from.last);
    const to = recordOf(row, realms.byKey(from.realm), addEntries(row, entries, from));
    update(to.state, to.status_at, to.last, to.turn, to.attempt, to.bytes, to.words, to.head, to.sum, to.key);
    if (to.state === from.state && to.status_at === from.status_at) return;
    tally.remove(from.realm, from.state, from.status_at);
    tally.add(to.realm, to.state, to.status_at);
  };

  const forget = (key: number): void => {
    const from = stored.one(key);
    if (from === undefined) return;
    if (from.last <= FORGET_AT_ONCE) dropLog(key);
    else addTrash(key);
    pushes.forgetTask(key);
    sends.forgetTask(key);
    dropTask(key);
    tally.remove(from.realm, from.state, from.status_at);
  };

  return (write) => {
    switch (write.kind) {
      case 'task':
        (write.isNew ? create : change)(write.row, write.entries);
        return;
      case 'send':
        sends.put(write.record);
        return;
      case 'delivered':
        sends.deliver(write.name);
        return;
      case 'push':
        pushes.put(write.task, write.push);
        return;
      case 'unpush':
        pushes.drop(write.task, write.id);
        return;
      case 'forget':
        forget(write.task);
        return;
      case 'forgetSends':
        sends.forgetBefore(write.before);
        return;
      default:
        unreachable(write);
    }
  };
}

/** Every write names the version it saw: the entries must go on where the log ends, and end where the row says. */
function assertContinues(row: TaskRow, entries: readonly Entry[], last: number): void {
  let next = last;
  for (const entry of entries) {
    next += 1;
    if (entry.seq !== next) throw conflict(`entry ${entry.seq} of task ${row.key} is not number ${next}`);
  }
  if (row.last !== next) throw conflict(`task ${row.key} would end at ${row.last}, its log at ${next}`);
  if (next > SEQ_MAX) throw conflict(`task ${row.key} would have more than ${SEQ_MAX} entries`);
}
