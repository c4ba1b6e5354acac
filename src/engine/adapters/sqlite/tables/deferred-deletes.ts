import type { DatabaseSync } from 'node:sqlite';
import { command, query } from '../database/statement.ts';

/** Logs of deleted tasks that are too long to be deleted in one commit. */
export interface DeferredDeletes {
  /** Whether a log waits to be deleted. */
  isWaiting(): boolean;
  /** Deletes a portion. Must be called in a transaction. */
  emptySome(): void;
}

/** Small enough not to delay other commits. */
const PORTION = 256;

/** Works on one log at a time, the oldest first. */
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
