import { crc32 } from 'node:zlib';
import { contextId, dialectId, externalId, seq, taskId } from '#protocol';
import type { TaskRow } from '../../../ports.ts';
import { taskKey } from '../../../ports.ts';
import { codeOf, stateOf } from '../../shared/state-codes.ts';
import { taskDamaged } from '../damage/task-errors.ts';
import { fromText, toText } from '../database/text.ts';
import type { Realm, Realms } from './realms.ts';

/** A row of the table `task`. */
export interface TaskRecord {
  readonly key: number;
  readonly id: string;
  readonly realm: number;
  readonly context: string;
  readonly dialect: string;
  readonly alias: string | null;
  readonly state: number;
  readonly status_at: number;
  readonly last: number;
  readonly turn: number;
  readonly attempt: number;
  readonly bytes: number;
  /** Entries that are not artifact chunks. */
  readonly words: number;
  /** Hash of the last segment of the log. */
  readonly head: string;
  readonly sum: number;
}

export const TASK_COLUMNS = 'key, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes, words, head, sum';

/** Checksum over every column. It detects a damaged page, and a page that is older than the rest. */
function sumOf(record: Omit<TaskRecord, 'sum'>): number {
  const { key, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes, words, head } = record;
  return crc32(
    `${key} ${realm} ${state} ${status_at} ${last} ${turn} ${attempt} ${bytes} ${words} ${head} ${id} ${dialect} ${context} ${alias}`,
  );
}

/** The row to store for a task, with its checksum. */
export function recordOf(row: TaskRow, realm: Realm, log: { readonly words: number; readonly head: string }): TaskRecord {
  const record = {
    key: row.key,
    id: toText(row.id),
    realm: realm.key,
    context: toText(row.contextId),
    dialect: row.dialect,
    alias: row.alias === undefined ? null : toText(row.alias),
    state: codeOf(row.state),
    status_at: row.statusAt,
    last: row.last,
    turn: row.turn,
    attempt: row.attempt,
    bytes: row.bytes,
    words: log.words,
    head: log.head,
  };
  return { ...record, sum: sumOf(record) };
}

/** The task of a stored row. Throws if the row is damaged. */
export function rowOf(record: TaskRecord, realms: Realms): TaskRow {
  assertIntact(record);
  const state = stateOf(record.state);
  if (state === undefined) throw taskDamaged(record.id, `${record.state} is not the number of a state`);
  const realm = realms.byKey(record.realm);
  return {
    key: taskKey(record.key),
    id: taskId(fromText(record.id)),
    owner: realm.owner,
    agent: realm.agent,
    contextId: contextId(fromText(record.context)),
    dialect: dialectId(record.dialect),
    ...(record.alias === null ? {} : { alias: externalId(fromText(record.alias)) }),
    state,
    statusAt: record.status_at,
    last: seq(record.last),
    turn: seq(record.turn),
    attempt: record.attempt,
    bytes: record.bytes,
  };
}

/** Throws if the checksum is wrong. */
export function assertIntact(record: TaskRecord): void {
  if (record.sum !== sumOf(record)) throw taskDamaged(record.id, 'the checksum of its row is wrong');
}
