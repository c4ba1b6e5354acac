import type { DatabaseSync } from 'node:sqlite';
import type { Owner } from '../../../ports.ts';
import { isDamage } from '../damage/task-errors.ts';
import { command, query } from '../database/statement.ts';
import type { OutboxTable } from './outbox.ts';
import type { PushConfigs } from './push-configs.ts';
import type { Realms } from './realms.ts';
import type { Sends } from './sends.ts';
import type { TaskRecord } from './task-record.ts';
import { assertIntact, TASK_COLUMNS } from './task-record.ts';
import type { Tasks } from './tasks.ts';

/** Deletes what is left of an owner after its tasks. */
export interface Owners {
  /** Must be called in a transaction. */
  forget(owner: Owner): void;
}

interface OwnersTables {
  readonly realms: Realms;
  readonly tasks: Tasks;
  readonly sends: Sends;
  readonly pushes: PushConfigs;
  readonly outbox: OutboxTable;
}

/** Damaged tasks are in no list, so nothing else deletes them. A whole task belongs to a send that came meanwhile. */
export function createOwners(db: DatabaseSync, { realms, tasks, sends, pushes, outbox }: OwnersTables): Owners {
  const left = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE realm = ?`);
  const isRecorded = query<{ key: number }>(db, 'SELECT key FROM quarantine WHERE key = ?');
  const dropRecord = command(db, 'DELETE FROM quarantine WHERE key = ?');
  const isWhole = (record: TaskRecord): boolean => isRecorded.one(record.key) === undefined && isIntact(record);
  const forgetTask = (key: number): void => {
    tasks.forget(key);
    pushes.forgetTask(key);
    outbox.forgetTask(key);
    sends.forgetTask(key);
    dropRecord(key);
  };
  return {
    forget: (owner) => {
      for (const realm of realms.within(owner, undefined)) {
        sends.forgetRealm(realm.key);
        const records = left.all(realm.key);
        const damaged = records.filter((record) => !isWhole(record));
        for (const { key } of damaged) forgetTask(key);
        if (damaged.length === records.length) realms.drop(realm);
      }
    },
  };
}

function isIntact(record: TaskRecord): boolean {
  try {
    assertIntact(record);
    return true;
  } catch (thrown) {
    if (isDamage(thrown)) return false;
    throw thrown;
  }
}
