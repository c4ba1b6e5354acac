import type { DatabaseSync } from 'node:sqlite';
import { command, query } from '../database/statement.ts';

/** Logs of forgotten tasks that were too long to be deleted at once. */
export interface DeferredDeletes {
  /** Something is left to be deleted. */
  isWaiting(): boolean;
  /** Deletes a portion; in a transaction. */
  emptySome(): void;
}

/** Few enough that nobody waits for them. */
const PORTION = 256;

export function createDeferredDeletes(db: DatabaseSync): DeferredDeletes {
  const oldest = query<{ key: number }>(db, 'SELECT key FROM trash ORDER BY key LIMIT 1');
  const drop = command(db, 'DELETE FROM log WHERE id IN (SELECT id FROM log WHERE id > (?1 << 24) AND id < ((?1 + 1) << 24) LIMIT ?2)');
  const done = command(db, 'DELETE FROM trash WHERE key = ?');
  return {
    isWaiting: () => oldest.one() !== undefined,
    emptySome: () => {
      const key = oldest.one()?.key;
      if (key !== undefined && drop(key, PORTION) < PORTION) done(key);
    },
  };
}
