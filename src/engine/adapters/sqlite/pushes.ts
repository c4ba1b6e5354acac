import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { DialectId, PushConfigId, Seq } from '#protocol';
import type { PushRow } from '../../ports.ts';
import { taskDamaged } from './errors.ts';
import { command, query } from './statement.ts';
import { toText } from './text.ts';

export interface Pushes {
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
  readonly sum: number;
}

export function createPushes(db: DatabaseSync): Pushes {
  const all = query<Stored>(db, 'SELECT id, dialect, after, config, sum FROM push WHERE task = ? ORDER BY n');
  const put = command(
    db,
    `INSERT INTO push (task, id, dialect, after, config, sum) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (task, id) DO UPDATE SET dialect = excluded.dialect, after = excluded.after, config = excluded.config, sum = excluded.sum`,
  );
  const drop = command(db, 'DELETE FROM push WHERE task = ? AND id = ?');
  const dropAll = command(db, 'DELETE FROM push WHERE task = ?');

  return {
    of: (task) =>
      all.all(task).map((stored) => {
        if (stored.sum !== sumOf(task, stored)) throw taskDamaged(task, 'a push configuration is not as it was written');
        return { config: JSON.parse(stored.config) as PushRow['config'], dialect: stored.dialect as DialectId, after: stored.after as Seq };
      }),
    put: (task, push) => {
      const row = { id: toText(push.config.id), dialect: push.dialect, after: push.after, config: JSON.stringify(push.config) };
      put(task, row.id, row.dialect, row.after, row.config, sumOf(task, row));
    },
    drop: (task, id) => {
      drop(task, toText(id));
    },
    forgetTask: (task) => {
      dropAll(task);
    },
  };
}

function sumOf(task: number, { id, dialect, after, config }: Omit<Stored, 'sum'>): number {
  return crc32(`${task} ${after} ${dialect} ${id} ${config}`);
}
