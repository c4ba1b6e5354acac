import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { startMarks } from '../commit/marks.ts';
import { structureProblems } from '../damage/integrity.ts';
import { connect, vacuum } from '../database/connection.ts';
import type { PageUse } from '../read/page-use.ts';
import { readPageUse } from '../read/page-use.ts';

/**
 * The thread for slow work. It has a connection of its own, so the event loop of the process is not
 * blocked.
 */
export interface ThreadSetup {
  readonly path: string;
  readonly marks: string;
  readonly store: string;
  readonly cacheBytes: number;
}

/**
 * `PASSIVE` copies what no reader needs. `RESTART` waits, so that the next commit starts the WAL anew.
 * `TRUNCATE` also empties the file.
 */
export type CheckpointMode = 'PASSIVE' | 'RESTART' | 'TRUNCATE';

/** Work for the thread. */
export type ThreadJob =
  /**
   * `commits` is the number of commits so far, given if no commit runs meanwhile. If the whole WAL is
   * copied, the marks restart at it.
   */
  | { readonly kind: 'checkpoint'; readonly mode: CheckpointMode; readonly commits?: number }
  | { readonly kind: 'verify' }
  /** Rewrites the whole database. No commit runs meanwhile. */
  | { readonly kind: 'vacuum' }
  /** Reads what each page is used for. */
  | { readonly kind: 'pages' };

/** The result of a checkpoint. */
export interface Checkpointed {
  /** The number of pages in the WAL, and how many of them are copied to the main file. */
  readonly log: number;
  readonly checkpointed: number;
  readonly isEmptied: boolean;
}

export type ThreadOutcome =
  | { readonly checkpointed: Checkpointed }
  | { readonly problems: readonly string[] }
  | { readonly isRewritten: true }
  | { readonly use: PageUse };

export interface ThreadRequest {
  readonly id: number;
  readonly job: ThreadJob | 'close';
}

export type ThreadReply =
  | { readonly id: number; readonly outcome: ThreadOutcome }
  | { readonly id: number; readonly closed: true }
  | { readonly id: number; readonly failure: ThreadFailure };

/** An error of SQLite has an `errcode`; one of the file system has a `code`. */
interface ThreadFailure {
  readonly message: string;
  readonly errcode: number | undefined;
  readonly code: string | undefined;
}

/** Reads on the other thread are short, so waiting for them is worth it. */
const BUSY_MS = 2000;

const setup = workerData as ThreadSetup;
let db: DatabaseSync | undefined;

parentPort?.on('message', ({ id, job }: ThreadRequest) => {
  try {
    if (job === 'close') {
      db?.close();
      parentPort?.postMessage({ id, closed: true } satisfies ThreadReply);
      parentPort?.close();
      return;
    }
    db ??= connect(setup.path, { cacheBytes: setup.cacheBytes, busyMs: BUSY_MS });
    parentPort?.postMessage({ id, outcome: run(db, job) } satisfies ThreadReply);
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const errcode = thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number' ? thrown.errcode : undefined;
    const code = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
    parentPort?.postMessage({ id, failure: { message, errcode, code } } satisfies ThreadReply);
  }
});

/**
 * Runs a job. After a checkpoint that copied the whole WAL, the marks file restarts at the given
 * commit.
 */
function run(db: DatabaseSync, job: ThreadJob): ThreadOutcome {
  if (job.kind === 'verify') return { problems: structureProblems(db) };
  if (job.kind === 'pages') return { use: readPageUse(db) };
  if (job.kind === 'vacuum') {
    vacuum(db);
    return { isRewritten: true };
  }
  const row = db.prepare(`PRAGMA wal_checkpoint(${job.mode})`).get() ?? {};
  const [busy, log, checkpointed] = [Number(row['busy']), Number(row['log']), Number(row['checkpointed'])];
  const isEmptied = job.commits !== undefined && busy === 0 && log === checkpointed;
  if (isEmptied && job.commits !== undefined) startMarks(setup.marks, setup.store, job.commits);
  return { checkpointed: { log, checkpointed, isEmptied } };
}
