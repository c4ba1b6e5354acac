import { contextId, dialectId, externalId, pushConfigId, seq, taskId } from '#protocol';
import type { LogEntry, OutboxRow, TaskRow } from '../../ports.ts';
import { taskKey } from '../../ports.ts';
import { codeOf, stateOf } from '../shared/state-codes.ts';
import { StoreError } from '../shared/store-error.ts';
import type { TaskRecord } from '../sqlite/tables/task-record.ts';
import type { PostgresRealm } from './realms.ts';
import { fromText, toText } from './text.ts';

/** The columns of `tasks` that a read returns. */
export const TASK_COLUMNS = 'key, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes';

/** A row of `tasks`. SQLite has checks of its own beside these columns. */
export type StoredTaskRow = Omit<TaskRecord, 'words' | 'head' | 'sum'>;

export function storedTask(row: TaskRow, realm: number): StoredTaskRow {
  return {
    key: row.key,
    id: toText(row.id),
    realm,
    context: toText(row.contextId),
    dialect: row.dialect,
    alias: row.alias === undefined ? null : toText(row.alias),
    state: codeOf(row.state),
    status_at: Math.round(row.statusAt),
    last: row.last,
    turn: row.turn,
    attempt: row.attempt,
    bytes: row.bytes,
  };
}

export function taskOf(stored: StoredTaskRow, realms: ReadonlyMap<number, PostgresRealm>): TaskRow {
  const realm = realms.get(stored.realm);
  const state = stateOf(stored.state);
  if (realm === undefined || state === undefined) throw new StoreError('damaged', `task ${stored.key} has an unknown realm or state`);
  return {
    key: taskKey(stored.key),
    id: taskId(fromText(stored.id)),
    owner: realm.owner,
    agent: realm.agent,
    contextId: contextId(fromText(stored.context)),
    dialect: dialectId(stored.dialect),
    ...(stored.alias === null ? {} : { alias: externalId(fromText(stored.alias)) }),
    state,
    statusAt: stored.status_at,
    last: seq(stored.last),
    turn: seq(stored.turn),
    attempt: stored.attempt,
    bytes: stored.bytes,
  };
}

/** A segment: the entries of one task in one commit. Artifact chunks are apart from all others. */
export interface StoredSegment {
  readonly words: string | null;
  readonly chunks: string | null;
}

export function segmentOf(entries: readonly LogEntry[]): StoredSegment {
  const words: LogEntry[] = [];
  const chunks: LogEntry[] = [];
  for (const entry of entries) (entry.event.artifactUpdate === undefined ? words : chunks).push(entry);
  const text = (some: readonly LogEntry[]): string | null => (some.length === 0 ? null : JSON.stringify(some));
  return { words: text(words), chunks: text(chunks) };
}

/** A row of `outbox`. */
export interface StoredOutbox {
  readonly n: number;
  readonly task: number;
  readonly config: string;
  readonly done: number;
  readonly up_to: number | null;
  readonly dead: boolean;
  readonly attempts: number;
  readonly due_at: number;
  readonly failing_since: number | null;
  readonly problem: string | null;
}

export function storedOutbox(row: OutboxRow): StoredOutbox {
  return {
    n: row.n,
    task: row.task,
    config: toText(row.config),
    done: row.done,
    up_to: row.upTo ?? null,
    dead: row.state === 'dead',
    attempts: row.attempts,
    due_at: Math.round(row.dueAt),
    failing_since: row.failingSince === undefined ? null : Math.round(row.failingSince),
    problem: row.problem === undefined ? null : toText(row.problem),
  };
}

export function outboxOf(stored: StoredOutbox): OutboxRow {
  return {
    n: stored.n,
    task: taskKey(stored.task),
    config: pushConfigId(fromText(stored.config)),
    done: seq(stored.done),
    ...(stored.up_to === null ? {} : { upTo: seq(stored.up_to) }),
    state: stored.dead ? 'dead' : 'open',
    attempts: stored.attempts,
    dueAt: stored.due_at,
    ...(stored.failing_since === null ? {} : { failingSince: stored.failing_since }),
    ...(stored.problem === null ? {} : { problem: fromText(stored.problem) }),
  };
}
