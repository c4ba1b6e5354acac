import type { DatabaseSync } from 'node:sqlite';
import { command, query } from '../database/statement.ts';
import type { TaskRecord } from '../tables/task-record.ts';
import { TASK_COLUMNS } from '../tables/task-record.ts';
import { isDamage, taskDamaged } from './task-errors.ts';

/** A task that is not served: part of it was lost or damaged, and half a task must not pass for a whole one. */
export interface Quarantined {
  readonly key: number;
  /** Unknown if not even that was found. */
  readonly id?: string;
  readonly why: string;
}

export interface Quarantine {
  readonly size: number;
  /** Throws for a task that is not served. By id also where no row is left. */
  assertServed(key: number): void;
  assertIdServed(id: string): void;
  /** What reads of many tasks leave out. */
  isServed(key: number): boolean;
  /** Kept in the database: it holds after the next start. */
  add(task: Quarantined, at: number): void;
  /** Found by a reader; it finds it again after the next start. */
  notice(record: TaskRecord, thrown: unknown): void;
  /** Rows of quarantined tasks: they are in the tallies, but in no list. */
  records(): readonly TaskRecord[];
  all(): readonly Quarantined[];
}

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
      keep({ key: record.key, id: record.id, why: 'its row is not as it was written' });
      report('a task is damaged and is not served', thrown);
    },
    records: () => [...rows.values()],
    all: () => [...byKey.values()].sort((a, b) => a.key - b.key),
  };
}
