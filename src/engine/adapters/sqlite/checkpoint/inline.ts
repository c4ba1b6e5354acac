import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { vacuum } from '../database/connection.ts';
import type { Checkpoints } from './in-thread.ts';

interface InlineOptions {
  readonly db: DatabaseSync;
  readonly path: string;
  readonly walBytes: number;
  /** Called when the whole WAL is copied to the main file. */
  readonly onEmptied: () => void;
}

/** Large enough to checkpoint rarely, small enough to checkpoint fast. */
const WAL_BYTES = 4 * 2 ** 20;

/**
 * For SQLite versions in which two connections must not write and checkpoint at once: commits
 * checkpoint, in small portions.
 */
export function createInlineCheckpoints({ db, path, walBytes, onEmptied }: InlineOptions): Checkpoints {
  const limit = Math.min(walBytes, WAL_BYTES);
  let walUsed = 0;
  const empty = (): void => {
    const row = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (row?.['busy'] === 0) onEmptied();
  };
  return {
    get walUsed() {
      return walUsed;
    },
    gate: () => undefined,
    committed: () => {
      walUsed = statSync(`${path}-wal`).size;
      if (walUsed > limit) empty();
    },
    empty: async () => empty(),
    rewrite: async () => {
      try {
        vacuum(db);
      } finally {
        empty();
      }
    },
    close: async () => {},
  };
}
