import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import * as sqlite from 'node:sqlite';
import { connect } from '../database/connection.ts';
import { markClosed } from '../database/open.ts';

/** How much of a copy is done. */
export interface CopyProgress {
  readonly pages: number;
  readonly pagesTotal: number;
}

/** Pages per step. Commits wait for a step at most, about a millisecond. */
const STEP_PAGES = 128;

/**
 * Copies an open database to a new file, consistently, while commits continue. The copy holds all commits up to its end: SQLite writes
 * pages that change meanwhile to both files. Node before 22.16 can't do that; there commits wait for the whole copy.
 */
export async function copyDatabase(db: DatabaseSync, to: string, onProgress: (progress: CopyProgress) => void = () => {}): Promise<void> {
  // Readable by its owner only. SQLite keeps the mode of an existing file.
  closeSync(openSync(to, 'wx', 0o600));
  try {
    await copyPages(db, to, onProgress);
    const copy = connect(to, { cacheBytes: 1_000_000 });
    try {
      markClosed(copy);
      // Without a WAL the copy is one file, which can be read without a change.
      copy.exec('PRAGMA journal_mode = delete');
    } finally {
      copy.close();
    }
    sync(to);
  } catch (thrown) {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(to + end, { force: true });
    throw thrown;
  }
}

async function copyPages(db: DatabaseSync, to: string, onProgress: (progress: CopyProgress) => void): Promise<void> {
  if (!('backup' in sqlite)) {
    rmSync(to);
    db.prepare('VACUUM INTO ?').run(to);
    return;
  }
  await sqlite.backup(db, to, {
    rate: STEP_PAGES,
    progress: ({ totalPages, remainingPages }) => onProgress({ pages: totalPages - remainingPages, pagesTotal: totalPages }),
  });
}

function sync(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
