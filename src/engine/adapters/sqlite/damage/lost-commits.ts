import { constants, copyFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { MarkedCommit, MarksRead } from '../commit/marks.ts';
import { readMarks } from '../commit/marks.ts';
import type { Transactions } from '../commit/transactions.ts';
import type { StoreMeta } from '../database/open.ts';
import type { StoreFiles } from '../files/store-files.ts';
import { sizeOf } from '../files/store-files.ts';
import { structureProblems } from './integrity.ts';
import type { Quarantine, Quarantined } from './quarantine.ts';
import { StoreError } from './store-error.ts';

export interface LostCommits {
  /** Tasks with something in the lost commits. */
  readonly tasks: readonly Quarantined[];
  /** Lost commits that held something of no task: answers to sends that made none. */
  readonly others: number;
  readonly commits: number;
  /** The marks are of no use for what comes now. */
  readonly isStale: boolean;
}

interface Compared {
  readonly files: StoreFiles;
  readonly meta: StoreMeta;
}

interface LossOptions {
  /** Carry on although it can't be said what was lost. */
  readonly acceptLoss: boolean;
}

/** Before SQLite touches the files: without marks nobody could tell whether the WAL is whole. */
export function readMarksOf(files: StoreFiles, { acceptLoss }: LossOptions): MarksRead | undefined {
  const marks = readMarks(files.marks);
  if (marks === undefined && sizeOf(files.wal) > 0 && !acceptLoss) {
    throw refusal(files, 'the high-water mark is missing or illegible, and the WAL is not empty: whether commits were lost can’t be told');
  }
  return marks;
}

/**
 * Compares the database with its high-water mark. What is missing is named, task by task; where it can't be named the store is not
 * opened.
 */
export function findLostCommits(
  db: DatabaseSync,
  marks: MarksRead | undefined,
  { files, meta, acceptLoss }: LossOptions & Compared,
): LostCommits {
  if (marks === undefined) return { ...NOTHING, isStale: true };
  if (marks.store !== meta.store && !acceptLoss) throw refusal(files, `${files.marks} belongs to another store`);
  if (meta.commits < marks.base && !acceptLoss) {
    throw refusal(
      files,
      `the database holds ${meta.commits} commits, but held ${marks.base} once: it was damaged, or an older copy was put in its place`,
    );
  }
  const lost = marks.store === meta.store ? marks.commits.filter(({ commit }) => commit > meta.commits) : [];
  if (lost.length === 0) return { ...NOTHING, isStale: marks.store !== meta.store || meta.commits < marks.base };
  keepWal(files);
  const problems = structureProblems(db);
  if (problems.length > 0) throw refusal(files, `${lost.length} commits were lost, and what is left is not whole (${problems.join('; ')})`);
  return { tasks: tasksIn(lost), others: lost.filter((commit) => commit.hasOther).length, commits: lost.length, isStale: true };
}

/** SQLite will empty the WAL and with it what is illegible in it: somebody may want to look at that. */
function keepWal({ wal }: StoreFiles): void {
  try {
    copyFileSync(wal, `${wal}.lost`, constants.COPYFILE_EXCL);
  } catch {
    // There is one from before, or no room: neither is worse than what has happened.
  }
}

const NOTHING: LostCommits = { tasks: [], others: 0, commits: 0, isStale: false };

function tasksIn(lost: readonly MarkedCommit[]): readonly Quarantined[] {
  const why = 'its last entries were lost with the end of the WAL';
  const tasks = new Map<number, Quarantined>();
  for (const { key, id } of lost.flatMap((commit) => commit.tasks)) {
    const known = id ?? tasks.get(key)?.id;
    tasks.set(key, known === undefined ? { key, why } : { key, id: known, why });
  }
  return [...tasks.values()];
}

function refusal(files: StoreFiles, what: string): StoreError {
  return new StoreError(
    'damaged',
    `${files.path}: ${what}. Restore it from a backup; or open it with acceptLoss to carry on without what is lost`,
  );
}

interface Settling {
  readonly transactions: Transactions;
  readonly quarantine: Quarantine;
  readonly report: (what: string, cause: unknown) => void;
}

/** Tasks that lost something are not served from now on, and their keys are not given again. */
export function quarantineLostCommits({ tasks, commits }: LostCommits, { transactions, quarantine, report }: Settling): void {
  if (commits === 0) return;
  const now = Date.now();
  const highest = tasks.reduce((max, { key }) => Math.max(max, key), 0);
  transactions.transact(() => {
    for (const task of tasks) quarantine.add(task, now);
  }, highest);
  report(`${commits} commits were lost; ${tasks.length} tasks are not served`, new StoreError('damaged', 'the end of the WAL is missing'));
}
