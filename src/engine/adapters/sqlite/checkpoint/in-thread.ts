import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { query } from '../database/statement.ts';
import type { StoreThread } from './thread.ts';
import type { CheckpointMode } from './worker.ts';

/**
 * Keeps the WAL small without stopping the event loop. Above `walBytes` the thread's thread copies it to the main file while commits
 * go on; when little is left, commits wait (they return a promise) for the rest, and the WAL starts over. Above `walBytesMax` they
 * wait for the whole.
 *
 * The WAL's file is not cut off: a commit that overwrites blocks the file already has needs no journal entry of the file system, and
 * its fsync takes a tenth of the time. For the same reason the file grows by a megabyte at once, ahead of use.
 */
export interface Checkpoints {
  /** What the next commit has to wait for; it never rejects. */
  gate(): Promise<void> | undefined;
  committed(): void;
  /** Empties the WAL now. `TRUNCATE` also gives its space back. */
  empty(mode: CheckpointMode): Promise<void>;
  close(): Promise<void>;
}

export interface CheckpointsOptions {
  readonly db: DatabaseSync;
  readonly path: string;
  readonly thread: StoreThread;
  readonly walBytes: number;
  readonly walBytesMax: number;
  readonly commits: () => number;
  /** Marks have started afresh. */
  readonly onEmptied: () => void;
  readonly onFailed: (thrown: unknown) => void;
}

const PAGE = 4096 + 24;
const STEP = 2 ** 20;
/** So few pages are copied in the time of a commit or two. */
const PAGES_LEFT = 512;
const ROUNDS_MAX = 4;

export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const { db, thread, walBytes, walBytesMax, commits, onEmptied, onFailed } = options;
  const size = query<{ log: number }>(db, 'PRAGMA wal_checkpoint(NOOP)');
  const file = openWal(options.path);
  let used = 0;
  let allocated = fstatSync(file).size;
  let mayGrow = true;
  let run: Promise<void> | undefined;
  let isFinishing = false;

  const finish = async (mode: CheckpointMode): Promise<void> => {
    const { isEmptied } = await thread.checkpoint(mode, commits());
    if (isEmptied) onEmptied();
    allocated = fstatSync(file).size;
    mayGrow = true;
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
  const growAhead = (): void => {
    if (!mayGrow || used + STEP / 2 < allocated) return;
    try {
      // Behind the end of the file, wherever that is by now: this thread is the only one that writes frames.
      const end = fstatSync(file).size;
      allocated = end < walBytesMax ? end + writeSync(file, ZEROS, 0, STEP, end) : end;
      mayGrow = allocated < walBytesMax;
    } catch {
      // No room: SQLite will find out when it needs it, and say so.
      mayGrow = false;
    }
  };

  return {
    gate: () => (isFinishing || used > walBytesMax ? run : undefined),
    committed: () => {
      used = (size.one()?.log ?? 0) * PAGE;
      growAhead();
      if (used > walBytes) void start('RESTART');
    },
    empty: async (mode) => {
      await run;
      await start(mode);
    },
    close: async () => {
      await run;
      closeSync(file);
    },
  };
}

const ZEROS = new Uint8Array(STEP);

/** No lock is kept on this file, so closing it again takes none away from SQLite. */
function openWal(path: string): number {
  return openSync(`${path}-wal`, 'r+');
}
