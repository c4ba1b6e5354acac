import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './faults.ts';
import type { Files } from './files.ts';
import { sizeOf } from './files.ts';
import type { Guard } from './guard.ts';
import type { Helper } from './helper.ts';
import { structureProblems } from './verify.ts';

interface CheckOptions {
  readonly files: Files;
  readonly helper: Helper;
  readonly guard: Guard;
  readonly verifyBytesMax: number;
}

/** Checks a small file at once, a large one meanwhile. What is read before it is through is checked row by row all the same. */
export function checkFile(db: DatabaseSync, { files, helper, guard, verifyBytesMax }: CheckOptions): Promise<void> {
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
  const checked = helper.verify().then(judge);
  // Whoever does not ask is told by the guard.
  checked.catch(() => {});
  return checked;
}
