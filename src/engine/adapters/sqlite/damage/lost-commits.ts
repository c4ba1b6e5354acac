import { constants, copyFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../shared/store-error.ts';
import type { MarkedCommit, MarksRead } from '../commit/marks.ts';
import { readMarks } from '../commit/marks.ts';
import type { Transactions } from '../commit/transactions.ts';
import type { StoreMeta } from '../database/open.ts';
import { query } from '../database/statement.ts';
import type { StoreFiles } from '../files/store-files.ts';
import { sizeOf } from '../files/store-files.ts';
import { structureProblems } from './integrity.ts';
import type { Quarantine, Quarantined } from './quarantine.ts';

/** What was lost at the end of the WAL. */
export interface LostCommits {
  /** Tasks that the lost commits changed. */
  readonly tasks: readonly Quarantined[];
  /**
   * The number of lost commits with changes that belong to no task: responses to sends that made no
   * task.
   */
  readonly others: number;
  /** The number of lost commits. */
  readonly commits: number;
  /** The marks file must be restarted. */
  readonly isStale: boolean;
}

interface Compared {
  readonly files: StoreFiles;
  readonly meta: StoreMeta;
}

interface LossOptions {
  /** Open although it is unknown what was lost. */
  readonly acceptLoss: boolean;
  /** Gets what is missing, if it was accepted. */
  readonly accepted: string[];
}

/** Throws what is missing, unless the operator has accepted it. */
function refuse(files: StoreFiles, what: string, { acceptLoss, accepted }: LossOptions): void {
  if (!acceptLoss) throw refusal(files, what);
  accepted.push(what);
}

/**
 * Must be called before SQLite opens the files. Without marks, a WAL can't be checked for lost commits.
 */
export function readMarksOf(files: StoreFiles, options: LossOptions): MarksRead | undefined {
  const marks = readMarks(files.marks);
  if (marks === undefined && sizeOf(files.wal) > 0) {
    refuse(files, 'the file of marks is missing or unreadable and the WAL is not empty, so lost commits can’t be detected', options);
  }
  return marks;
}

/**
 * Compares the database with its marks, and returns the tasks that lost commits changed. Throws if they
 * can't be determined: the store is then not opened.
 */
export function findLostCommits(
  db: DatabaseSync,
  marks: MarksRead | undefined,
  { files, meta, ...options }: LossOptions & Compared,
): LostCommits {
  if (marks === undefined && meta.in_use === 1 && options.accepted.length === 0) {
    refuse(files, 'this is a copy of a database that was in use, made without its WAL, so its newest commits are missing', options);
  }
  if (marks === undefined) return { ...NOTHING, isStale: true };
  if (marks.store !== meta.store) refuse(files, `${files.marks} belongs to another store`, options);
  if (meta.commits < marks.base) {
    const what = `the database holds ${meta.commits} commits, but held ${marks.base} before: it was damaged, or replaced by an older copy`;
    refuse(files, what, options);
  }
  const lost = marks.store === meta.store ? marks.commits.filter(({ commit }) => commit > meta.commits) : [];
  if (lost.length === 0) return { ...NOTHING, isStale: marks.store !== meta.store || meta.commits < marks.base };
  keepWal(files);
  const problems = structureProblems(db);
  if (problems.length > 0) throw refusal(files, `${lost.length} commits were lost, and the rest is damaged (${problems.join('; ')})`);
  return { tasks: tasksIn(lost), others: lost.filter((commit) => commit.hasOther).length, commits: lost.length, isStale: true };
}

/** When the newest record of the database was made. What was committed later is missing. Undefined: it has no records. */
export function newestRecordAt(db: DatabaseSync): Date | undefined {
  const sql = 'SELECT max(at) AS at FROM (SELECT max(status_at) AS at FROM task UNION ALL SELECT max(at) FROM send)';
  const at = query<{ readonly at: number | null }>(db, sql).one()?.at ?? undefined;
  return at === undefined || at < 0 ? undefined : new Date(at);
}

/** Copies the WAL for a later investigation: SQLite deletes it, with its unreadable part. */
function keepWal({ wal }: StoreFiles): void {
  try {
    copyFileSync(wal, `${wal}.lost`, constants.COPYFILE_EXCL);
  } catch {
    // A copy exists already, or the disk is full. Opening continues without.
  }
}

const NOTHING: LostCommits = { tasks: [], others: 0, commits: 0, isStale: false };

/** The tasks of the lost commits, each once, with its id if one of the commits created it. */
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
    `${files.path}: ${what}. Restore it from a backup; or continue without the lost commits: parley serve --accept-loss, in code acceptLoss: true`,
  );
}

interface Settling {
  readonly transactions: Transactions;
  readonly quarantine: Quarantine;
  readonly report: (what: string, cause: unknown) => void;
}

/** Quarantines the tasks of lost commits, and reserves their keys so that they are never reused. */
export function quarantineLostCommits({ tasks, commits }: LostCommits, { transactions, quarantine, report }: Settling): void {
  if (commits === 0) return;
  const now = Date.now();
  const highest = tasks.reduce((max, { key }) => Math.max(max, key), 0);
  transactions.transact(() => {
    for (const task of tasks) quarantine.add(task, now);
  }, highest);
  report(`${commits} commits were lost; ${tasks.length} tasks are quarantined`, new StoreError('damaged', 'the end of the WAL is missing'));
}
