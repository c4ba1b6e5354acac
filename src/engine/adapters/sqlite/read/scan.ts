import type { DatabaseSync } from 'node:sqlite';
import type { ConversationName, TaskRow } from '../../../ports.ts';
import type { FailureGuard } from '../damage/failure-guard.ts';
import type { Quarantine } from '../damage/quarantine.ts';
import { query } from '../database/statement.ts';
import type { Realms } from '../tables/realms.ts';
import type { NumberedSend, Sends } from '../tables/sends.ts';
import type { TaskRecord } from '../tables/task-record.ts';
import { TASK_COLUMNS } from '../tables/task-record.ts';
import type { Titles } from '../tables/titles.ts';
import { servedRows } from './lists.ts';

/** Reads everything of a store in the order in which it was made, page by page, for a copy. */
export interface StoreScan {
  /** The highest key ever used, also by tasks that are deleted. */
  lastKey(): number;
  /** The number of tasks, with damaged ones. */
  count(): number;
  /** At most `limit` tasks with a higher key, lowest first. Damaged tasks are left out. */
  tasks(after: number, limit: number): ScannedTasks;
  /** At most `limit` records of sends with a higher number, lowest first. */
  sends(after: number, limit: number): readonly NumberedSend[];
  /** The names of all conversations. */
  names(): readonly ConversationName[];
}

/** A page of tasks. */
export interface ScannedTasks {
  readonly rows: readonly TaskRow[];
  /** The position of the next page. Undefined: this is the last one. */
  readonly next: number | undefined;
}

interface ScanParts {
  readonly guard: FailureGuard;
  readonly realms: Realms;
  readonly sends: Sends;
  readonly titles: Titles;
  readonly quarantine: Quarantine;
}

export function createScan(db: DatabaseSync, lastKey: () => number, { guard, realms, sends, titles, quarantine }: ScanParts): StoreScan {
  const inOrder = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE key > ? ORDER BY key LIMIT ?`);
  const count = query<{ n: number }>(db, 'SELECT count(*) AS n FROM task');
  return {
    lastKey,
    count: () => guard.read(() => count.one()?.n ?? 0),
    tasks: (after, limit) =>
      guard.read(() => {
        const records = inOrder.all(after, limit);
        return { rows: servedRows(records, realms, quarantine), next: records.length < limit ? undefined : records.at(-1)?.key };
      }),
    sends: (after, limit) => guard.read(() => sends.inOrder(after, limit)),
    names: () => guard.read(() => titles.within('any')),
  };
}
