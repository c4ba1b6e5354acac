import type { DatabaseSync } from 'node:sqlite';
import type { Store, TaskKey, TaskRow } from '../../../ports.ts';
import { isIn } from '../../../search/is-listed.ts';
import type { FailureGuard } from '../damage/failure-guard.ts';
import type { Quarantine } from '../damage/quarantine.ts';
import { isDamage, taskDamaged } from '../damage/task-errors.ts';
import { query } from '../database/statement.ts';
import { toText } from '../database/text.ts';
import type { SqliteStore } from '../options.ts';
import { createOutboxReads } from '../tables/outbox.ts';
import type { PushConfigs } from '../tables/push-configs.ts';
import type { Realms } from '../tables/realms.ts';
import type { Sends } from '../tables/sends.ts';
import type { TaskCounts } from '../tables/task-counts.ts';
import type { TaskRecord } from '../tables/task-record.ts';
import { rowOf, TASK_COLUMNS } from '../tables/task-record.ts';
import { createLists, servedRows } from './lists.ts';
import { createReadLog } from './log.ts';

interface ReadParts {
  readonly guard: FailureGuard;
  readonly realms: Realms;
  readonly counts: TaskCounts;
  readonly sends: Sends;
  readonly pushes: PushConfigs;
  readonly quarantine: Quarantine;
}

interface Reads extends Omit<Store, 'commit' | 'close' | 'lastKey' | 'names'>, Pick<SqliteStore, 'has'> {
  /** The rows of these tasks, in their order, without those that no longer exist. */
  rows(keys: readonly TaskKey[]): readonly TaskRow[];
}

/** All reads of the store. Each passes the guard, and none returns a quarantined task. */
export function createReads(db: DatabaseSync, { guard, realms, counts, sends, pushes, quarantine }: ReadParts): Reads {
  const byId = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE id = ?`);
  const byAlias = query<TaskRecord>(
    db,
    `SELECT ${TASK_COLUMNS} FROM task INDEXED BY task_alias WHERE realm = ? AND alias = ? ORDER BY key DESC LIMIT 1`,
  );
  const byKey = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE key = ?`);
  const readLog = createReadLog(db);
  const lists = createLists(db, realms, counts, quarantine);
  const outbox = createOutboxReads(db, realms, quarantine);
  return {
    task: (scope, id) =>
      guard.read(() => {
        const record = byId.one(toText(id));
        if (record === undefined) {
          quarantine.assertIdServed(toText(id));
          return undefined;
        }
        const row = rowOf(record, realms);
        if (!isIn(scope, row.owner)) return undefined;
        quarantine.assertServed(row.key);
        return row;
      }),
    byAlias: (owner, agent, alias) =>
      guard.read(() => {
        const realm = realms.find(owner, agent);
        const record = realm === undefined ? undefined : byAlias.one(realm.key, toText(alias));
        if (record === undefined) return undefined;
        quarantine.assertServed(record.key);
        return rowOf(record, realms);
      }),
    entries: (key, range) =>
      guard.read(() => {
        quarantine.assertServed(key);
        try {
          return readLog(key, range);
        } catch (thrown) {
          throw isDamage(thrown) ? taskDamaged(key, thrown instanceof Error ? thrown.message : '') : thrown;
        }
      }),
    has: (key) => guard.read(() => byKey.one(key) !== undefined || !quarantine.isServed(key)),
    send: (name) => guard.read(() => sends.get(name)),
    directAnswers: (owner) => guard.read(() => realms.within(owner, undefined).flatMap(sends.withoutTask)),
    pushConfigs: (key) => guard.read(() => pushes.of(key)),
    outbox: (asked) => guard.read(() => outbox.list(asked)),
    outboxStats: () => guard.read(outbox.stats),
    list: (asked) => guard.read(() => lists.list(asked)),
    count: (filter) => guard.read(() => lists.count(filter)),
    waiting: (filter, limit) => guard.read(() => lists.waiting(filter, limit)),
    unfinished: () => guard.read(lists.unfinished),
    quiet: (phase, range) => guard.read(() => lists.quiet(phase, range)),
    finished: () => guard.read(lists.finished),
    rows: (keys) =>
      guard.read(() =>
        servedRows(
          keys.map((key) => byKey.one(key)).filter((record) => record !== undefined),
          realms,
          quarantine,
        ),
      ),
  };
}
