import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { PushConfigId } from '#protocol';
import { dialectId, parseOwnJson, seq } from '#protocol';
import type { PushRow } from '../../../ports.ts';
import { taskDamaged } from '../damage/task-errors.ts';
import { command, query } from '../database/statement.ts';
import { toText } from '../database/text.ts';

/**
 * Push notification configs of tasks. Their secrets are encrypted by the engine before they arrive
 * here.
 */
export interface PushConfigs {
  of(task: number): readonly PushRow[];
  put(task: number, push: PushRow): void;
  drop(task: number, id: PushConfigId): void;
  forgetTask(task: number): void;
}

interface Stored {
  readonly id: string;
  readonly dialect: string;
  readonly after: number;
  readonly config: string;
  readonly sealed: string | null;
  readonly sum: number;
}

/** A replaced config keeps its position in the list. */
export function createPushConfigs(db: DatabaseSync): PushConfigs {
  const all = query<Stored>(db, 'SELECT id, dialect, after, config, sealed, sum FROM push WHERE task = ? ORDER BY n');
  const put = command(
    db,
    `INSERT INTO push (task, id, dialect, after, config, sealed, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (task, id) DO UPDATE SET dialect = excluded.dialect, after = excluded.after, config = excluded.config, sealed = excluded.sealed,
     sum = excluded.sum`,
  );
  const drop = command(db, 'DELETE FROM push WHERE task = ? AND id = ?');
  const dropAll = command(db, 'DELETE FROM push WHERE task = ?');

  return {
    of: (task) =>
      all.all(task).map((stored) => {
        if (stored.sum !== sumOf(task, stored)) throw taskDamaged(task, 'the checksum of a push configuration is wrong');
        const { config, dialect, after, sealed } = stored;
        const row = { config: parseOwnJson<PushRow['config']>(config), dialect: dialectId(dialect), after: seq(after) };
        return sealed === null ? row : { ...row, sealed };
      }),
    put: (task, push) => {
      const { config, dialect, after, sealed = null } = push;
      const row = { id: toText(config.id), dialect, after, config: JSON.stringify(config), sealed };
      put(task, row.id, row.dialect, row.after, row.config, row.sealed, sumOf(task, row));
    },
    drop: (task, id) => {
      drop(task, toText(id));
    },
    forgetTask: (task) => {
      dropAll(task);
    },
  };
}

function sumOf(task: number, { id, dialect, after, config, sealed }: Omit<Stored, 'sum'>): number {
  return crc32(`${task} ${after} ${dialect} ${id} ${config}${sealed === null ? '' : ` ${sealed}`}`);
}
