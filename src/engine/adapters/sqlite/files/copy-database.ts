import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import * as sqlite from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
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
  for (let tries = 1; ; tries += 1) {
    let hasBegun = false;
    const progress = ({ totalPages, remainingPages }: sqlite.BackupProgressInfo): void => {
      hasBegun = true;
      onProgress({ pages: totalPages - remainingPages, pagesTotal: totalPages });
    };
    try {
      await sqlite.backup(db, to, { rate: STEP_PAGES, progress });
      return;
    } catch (thrown) {
      if (hasBegun || tries === TRIES || !isInsideCommit(thrown)) throw thrown;
      await sleep(TRY_AGAIN_MS);
    }
  }
}

/** Commits take a part of the time only, so that this many tries in a row can't all meet one. */
const TRIES = 500;
const TRY_AGAIN_MS = 2;

/**
 * A copy runs in another thread. If its first step comes in the middle of a commit, SQLite says that the database is locked. Node waits
 * in later steps, but takes the first one for the end of the copy and throws an error with SQLite's code 0, "not an error".
 */
function isInsideCommit(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && [0, SQLITE_BUSY, SQLITE_LOCKED].includes(Number(thrown.errcode));
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

function sync(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
