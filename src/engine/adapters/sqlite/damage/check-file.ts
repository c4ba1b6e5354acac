import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../shared/store-error.ts';
import type { StoreThread } from '../checkpoint/thread.ts';
import type { StoreFiles } from '../files/store-files.ts';
import { sizeOf } from '../files/store-files.ts';
import type { FailureGuard } from './failure-guard.ts';
import { structureProblems } from './integrity.ts';

interface CheckOptions {
  readonly files: StoreFiles;
  readonly thread: StoreThread;
  readonly guard: FailureGuard;
  readonly verifyBytesMax: number;
}

/**
 * Checks a small file at once and a large one in a thread. Reads before the end of the check verify
 * each row anyway.
 */
export function checkFile(db: DatabaseSync, { files, thread, guard, verifyBytesMax }: CheckOptions): Promise<void> {
  const judge = (problems: readonly string[]): void => {
    if (problems.length === 0) return;
    const damage = new StoreError('damaged', `${files.path} is damaged (${problems.join('; ')}). Restore it from a backup`);
    guard.fail(damage);
    throw damage;
  };
  if (sizeOf(files.path) + sizeOf(files.wal) <= verifyBytesMax) {
    judge(structureProblems(db));
    return Promise.resolve();
  }
  const checked = thread.verify().then(judge);
  // A caller that ignores this promise gets the error from the guard.
  checked.catch(() => {});
  return checked;
}
