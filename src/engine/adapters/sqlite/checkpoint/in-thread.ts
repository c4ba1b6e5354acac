import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { query } from '../database/statement.ts';
import type { StoreThread } from './thread.ts';
import type { CheckpointMode } from './worker.ts';

/**
 * Keeps the WAL small without blocking the event loop. Above `walBytes` the thread copies it to the
 * main file while commits continue. When few pages are left, commits wait for the rest (they return a
 * promise), and the WAL restarts. Above `walBytesMax` commits wait for the whole checkpoint.
 *
 * The WAL's file is not truncated: a commit that overwrites allocated blocks needs no journal entry of
 * the file system, and its fsync takes a tenth of the time. For the same reason the file grows by a
 * megabyte at a time, ahead of use.
 */
export interface Checkpoints {
  /** The bytes in the WAL after the last commit. */
  readonly walUsed: number;
  /** The promise that the next commit must wait for, if any. It never rejects. */
  gate(): Promise<void> | undefined;
  /** To be called after each commit: starts a checkpoint when the WAL is large enough. */
  committed(): void;
  /** Empties the WAL now. `TRUNCATE` also truncates its file. */
  empty(mode: CheckpointMode): Promise<void>;
  /** Rewrites the database and empties the WAL. Commits wait meanwhile. Rejects if the database can't be rewritten, for want of space. */
  rewrite(): Promise<void>;
  /** Empties the WAL and stops the thread. */
  close(): Promise<void>;
}

/** Options of `createCheckpoints`. */
export interface CheckpointsOptions {
  readonly db: DatabaseSync;
  readonly path: string;
  readonly thread: StoreThread;
  readonly walBytes: number;
  readonly walBytesMax: number;
  readonly commits: () => number;
  /** Called when the marks file was restarted. */
  readonly onEmptied: () => void;
  readonly onFailed: (thrown: unknown) => void;
}

/** Size of a frame in the WAL: a page of the database and its header. */
const PAGE = 4096 + 24;
/** The WAL's file grows by this many bytes at a time. */
const STEP = 2 ** 20;
/** Copying this many pages takes as long as one or two commits. */
const PAGES_LEFT = 512;
/** Passive checkpoints before commits have to wait. */
const ROUNDS_MAX = 4;

/** Checkpoints in a thread, for SQLite versions in which that is safe (`mayShareWal`). */
export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const { db, thread, walBytes, walBytesMax, commits, onEmptied, onFailed } = options;
  const size = query<{ log: number }>(db, 'PRAGMA wal_checkpoint(NOOP)');
  const file = openWal(options.path);
  const space = walSpace(file, walBytesMax);
  let used = 0;
  let run: Promise<void> | undefined;
  let isFinishing = false;

  const finish = async (mode: CheckpointMode): Promise<void> => {
    const { isEmptied } = await thread.checkpoint(mode, commits());
    if (isEmptied) onEmptied();
    space.reset();
  };
  const whole = async (mode: CheckpointMode): Promise<void> => {
    try {
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        const { log, checkpointed } = await thread.checkpoint('PASSIVE');
        if (log - checkpointed <= PAGES_LEFT) break;
      }
      isFinishing = true;
      await finish(mode);
    } catch (thrown) {
      onFailed(thrown);
    } finally {
      isFinishing = false;
      run = undefined;
    }
  };
  const start = (mode: CheckpointMode): Promise<void> => {
    run ??= whole(mode);
    return run;
  };
  /** The WAL is emptied in any case: it has grown by the size of the database. */
  const rewritten = async (): Promise<void> => {
    isFinishing = true;
    try {
      await thread.vacuum();
    } finally {
      await finish('TRUNCATE').catch(onFailed);
      isFinishing = false;
      run = undefined;
    }
  };
  return {
    get walUsed() {
      return used;
    },
    gate: () => (isFinishing || used > walBytesMax ? run : undefined),
    committed: () => {
      used = (size.one()?.log ?? 0) * PAGE;
      space.growAhead(used);
      if (used > walBytes) void start('RESTART');
    },
    empty: async (mode) => {
      await run;
      await start(mode);
    },
    rewrite: async () => {
      while (run !== undefined) await run;
      const rewriting = rewritten();
      run = rewriting.catch(() => {});
      await rewriting;
    },
    close: async () => {
      await run;
      closeSync(file);
    },
  };
}

interface WalSpace {
  /** Extends the file if little of it is left. */
  growAhead(used: number): void;
  /** Must be called when the file may have been truncated. */
  reset(): void;
}

/** The blocks of the WAL's file. */
function walSpace(file: number, walBytesMax: number): WalSpace {
  let allocated = fstatSync(file).size;
  let mayGrow = true;
  return {
    growAhead: (used) => {
      if (!mayGrow || used + STEP / 2 < allocated) return;
      try {
        // At the current end of the file. Only this thread writes frames, so nothing can follow.
        const end = fstatSync(file).size;
        allocated = end < walBytesMax ? end + writeSync(file, ZEROS, 0, STEP, end) : end;
        mayGrow = allocated < walBytesMax;
      } catch {
        // The disk is full. SQLite reports it when it needs the space.
        mayGrow = false;
      }
    },
    reset: () => {
      allocated = fstatSync(file).size;
      mayGrow = true;
    },
  };
}

const ZEROS = new Uint8Array(STEP);

/**
 * POSIX locks end when a process closes any handle of a file. SQLite holds none on the WAL, so closing
 * this handle is safe.
 */
function openWal(path: string): number {
  return openSync(`${path}-wal`, 'r+');
}
