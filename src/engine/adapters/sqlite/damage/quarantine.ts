import type { DatabaseSync } from 'node:sqlite';
import { command, query } from '../database/statement.ts';
import type { TaskRecord } from '../tables/task-record.ts';
import { TASK_COLUMNS } from '../tables/task-record.ts';
import { isDamage, taskDamaged } from './task-errors.ts';

/**
 * A task that is not served, because part of it was lost or damaged. Serving the rest would pass off a
 * part as the whole.
 */
export interface Quarantined {
  readonly key: number;
  /** Undefined if the id was lost too. */
  readonly id?: string;
  readonly why: string;
}

/** The tasks that are not served. */
export interface Quarantine {
  readonly size: number;
  /** Throws if the task is quarantined. By id, it also works if the task's row is lost. */
  assertServed(key: number): void;
  assertIdServed(id: string): void;
  /** False for tasks that lists leave out. */
  isServed(key: number): boolean;
  /** Quarantines a task permanently: the database records it. */
  add(task: Quarantined, at: number): void;
  /** Quarantines a task that a read found damaged, until the next start. Then a read finds it again. */
  notice(record: TaskRecord, thrown: unknown): void;
  /** Rows of quarantined tasks. The task counts include them, lists do not. */
  records(): readonly TaskRecord[];
  /** Every quarantined task, for operators. */
  all(): readonly Quarantined[];
}

/** Loads the recorded tasks of the quarantine. */
export function createQuarantine(db: DatabaseSync, report: (what: string, cause: unknown) => void): Quarantine {
  const insert = command(db, 'INSERT OR REPLACE INTO quarantine (key, id, why, at) VALUES (?, ?, ?, ?)');
  const rowOf = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE key = ?`);
  const byKey = new Map<number, Quarantined>();
  const byId = new Map<string, Quarantined>();
  const rows = new Map<number, TaskRecord>();

  const keep = ({ key, id, why }: Quarantined): void => {
    const row = rowOf.one(key);
    const name = id ?? row?.id;
    const task: Quarantined = name === undefined ? { key, why } : { key, id: name, why };
    byKey.set(key, task);
    if (name !== undefined) byId.set(name, task);
    if (row !== undefined) rows.set(key, row);
  };
  for (const { key, id, why } of query<{ key: number; id: string | null; why: string }>(db, 'SELECT key, id, why FROM quarantine').all()) {
    keep(id === null ? { key, why } : { key, id, why });
  }
  const refuse = (task: Quarantined | undefined): void => {
    if (task !== undefined) throw taskDamaged(task.id ?? task.key, task.why);
  };

  return {
    get size() {
      return byKey.size;
    },
    assertServed: (key) => refuse(byKey.get(key)),
    assertIdServed: (id) => refuse(byId.get(id)),
    isServed: (key) => !byKey.has(key),
    add: (task, at) => {
      insert(task.key, task.id ?? null, task.why, at);
      keep(task);
    },
    notice: (record, thrown) => {
      if (!isDamage(thrown)) throw thrown;
      if (byKey.has(record.key)) return;
      keep({ key: record.key, id: record.id, why: 'the checksum of its row is wrong' });
      report('a task is damaged and is not served', thrown);
    },
    records: () => [...rows.values()].filter(({ key }) => rowOf.one(key) !== undefined),
    all: () => [...byKey.values()].sort((a, b) => a.key - b.key),
  };
}
