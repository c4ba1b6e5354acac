import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Checkpoints } from './in-thread.ts';

interface InlineOptions {
  readonly db: DatabaseSync;
  readonly path: string;
  readonly walBytes: number;
  /** All of the WAL is in the main file. */
  readonly onEmptied: () => void;
}

/** Rarely enough to be cheap, often enough to be short. */
const WAL_BYTES = 4 * 2 ** 20;

/** For a SQLite in which two connections must not write and checkpoint at once: commits do it themselves, in small portions. */
export function createInlineCheckpoints({ db, path, walBytes, onEmptied }: InlineOptions): Checkpoints {
  const limit = Math.min(walBytes, WAL_BYTES);
  const empty = (): void => {
    const row = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (row?.['busy'] === 0) onEmptied();
  };
  return {
    gate: () => undefined,
    committed: () => {
      if (statSync(`${path}-wal`).size > limit) empty();
    },
    empty: async () => empty(),
    close: async () => {},
  };
}
