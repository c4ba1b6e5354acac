import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Mutable, PushConfigId } from '#protocol';
import { pushConfigId, seq } from '#protocol';
import type { OutboxEntry, OutboxQuery, OutboxRow } from '../../../ports.ts';
import { taskKey } from '../../../ports.ts';
import type { Quarantine } from '../damage/quarantine.ts';
import { taskDamaged } from '../damage/task-errors.ts';
import { command, query } from '../database/statement.ts';
import { fromText, toText } from '../database/text.ts';
import type { Realms } from './realms.ts';
import type { TaskRecord } from './task-record.ts';
import { rowOf, TASK_COLUMNS } from './task-record.ts';

/** Writes the queue of deliveries to webhooks. */
export interface OutboxTable {
  put(row: OutboxRow): void;
  drop(n: number): void;
  dropConfig(task: number, config: PushConfigId): void;
  forgetTask(task: number): void;
}

interface Stored {
  readonly n: number;
  readonly task: number;
  readonly config: string;
  readonly done: number;
  readonly up_to: number | null;
  readonly dead: number;
  readonly attempts: number;
  readonly due_at: number;
  readonly failing_since: number | null;
  readonly problem: string | null;
  readonly sum: number;
}

const COLUMNS = 'n, task, config, done, up_to, dead, attempts, due_at, failing_since, problem, sum';

/** A put does nothing if the task or the config was deleted meanwhile. */
export function createOutboxTable(db: DatabaseSync): OutboxTable {
  // A delivery for a deleted config would never be processed or deleted.
  const put = command(
    db,
    `INSERT OR REPLACE INTO outbox (${COLUMNS}) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
     WHERE EXISTS (SELECT 1 FROM push WHERE task = ?2 AND id = ?3) AND EXISTS (SELECT 1 FROM task WHERE key = ?2)`,
  );
  const drop = command(db, 'DELETE FROM outbox WHERE n = ?');
  const dropConfig = command(db, 'DELETE FROM outbox WHERE task = ? AND config = ?');
  const dropTask = command(db, 'DELETE FROM outbox WHERE task = ?');
  return {
    put: (row) => {
      const to = recordOf(row);
      put(to.n, to.task, to.config, to.done, to.up_to, to.dead, to.attempts, to.due_at, to.failing_since, to.problem, sumOf(to));
    },
    drop: (n) => void drop(n),
    dropConfig: (task, config) => void dropConfig(task, toText(config)),
    forgetTask: (task) => void dropTask(task),
  };
}

export interface OutboxReads {
  list(asked: OutboxQuery): readonly OutboxEntry[];
  stats(): { readonly last: number; readonly dead: number };
}

/** Rows of damaged and quarantined tasks are left out. */
export function createOutboxReads(db: DatabaseSync, realms: Realms, quarantine: Quarantine): OutboxReads {
  const every = query<Stored>(db, `SELECT ${COLUMNS} FROM outbox WHERE n > ? ORDER BY n LIMIT ?`);
  const inState = query<Stored>(db, `SELECT ${COLUMNS} FROM outbox INDEXED BY outbox_dead WHERE dead = ? AND n > ? ORDER BY n LIMIT ?`);
  const one = query<Stored>(db, `SELECT ${COLUMNS} FROM outbox WHERE n = ?`);
  const taskOf = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE key = ?`);
  const last = query<{ n: number | null }>(db, 'SELECT max(n) AS n FROM outbox');
  const dead = query<{ n: number }>(db, 'SELECT count(*) AS n FROM outbox INDEXED BY outbox_dead WHERE dead = 1');

  const served = (stored: Stored): OutboxEntry | undefined => {
    const record = taskOf.one(stored.task);
    if (record === undefined || !quarantine.isServed(stored.task)) return undefined;
    try {
      if (stored.sum !== sumOf(stored)) throw taskDamaged(stored.task, 'the checksum of a delivery is wrong');
      return { row: read(stored), task: rowOf(record, realms) };
    } catch (thrown) {
      quarantine.notice(record, thrown);
      return undefined;
    }
  };
  return {
    list: ({ state, n, after = 0, limit }) => {
      if (n !== undefined) return [one.one(n)].flatMap((stored) => (stored === undefined ? [] : (served(stored) ?? [])));
      const spare = limit + quarantine.size;
      const found = state === undefined ? every.all(after, spare) : inState.all(state === 'dead' ? 1 : 0, after, spare);
      return found.flatMap((stored) => served(stored) ?? []).slice(0, limit);
    },
    stats: () => ({ last: last.one()?.n ?? 0, dead: dead.one()?.n ?? 0 }),
  };
}

function recordOf(row: OutboxRow): Omit<Stored, 'sum'> {
  return {
    n: row.n,
    task: row.task,
    config: toText(row.config),
    done: row.done,
    up_to: row.upTo ?? null,
    dead: row.state === 'dead' ? 1 : 0,
    attempts: row.attempts,
    due_at: Math.round(row.dueAt),
    failing_since: row.failingSince ?? null,
    problem: row.problem === undefined ? null : toText(row.problem),
  };
}

function read(stored: Stored): OutboxRow {
  const { n, done, dead, attempts, due_at: dueAt, up_to: upTo, failing_since: failingSince, problem } = stored;
  const row: Mutable<OutboxRow> = {
    n,
    task: taskKey(stored.task),
    config: pushConfigId(fromText(stored.config)),
    done: seq(done),
    state: dead === 1 ? 'dead' : 'open',
    attempts,
    dueAt,
  };
  if (upTo !== null) row.upTo = seq(upTo);
  if (failingSince !== null) row.failingSince = failingSince;
  if (problem !== null) row.problem = fromText(problem);
  return row;
}

function sumOf({ n, task, config, done, up_to, dead, attempts, due_at, failing_since, problem }: Omit<Stored, 'sum'>): number {
  return crc32(
    `${n} ${task} ${done} ${up_to} ${dead} ${attempts} ${due_at} ${failing_since} ${String(config).length} ${config} ${problem}`,
  );
}
