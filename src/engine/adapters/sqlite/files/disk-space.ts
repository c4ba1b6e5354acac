import { rmSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { A2AError } from '#protocol';
import type { Write } from '../../../ports.ts';
import type { Checkpoints } from '../checkpoint/in-thread.ts';
import { notNow } from '../damage/task-errors.ts';
import { sizeOf } from './store-files.ts';

/**
 * Handles a full disk. SQLite can then neither delete nor checkpoint, so a ballast file lies beside the
 * database and is deleted at that moment. With its space the WAL can be checkpointed, running tasks can
 * finish, and retention can delete. Until then a batch with new tasks is rejected once and accepted on
 * its retry, so that the reserve lasts. When there is enough space again, the ballast file is written
 * again.
 *
 * The ballast has to hold what a checkpoint copies. So it is small while the store is, and a new data
 * folder does not start with its full size.
 */
export interface DiskSpace {
  /** Throws if the batch must be retried later. */
  admit(batch: readonly Write[]): void;
  /** Handles a write that failed on a full disk. Returns the error for the caller. */
  ranOut(cause: unknown): A2AError;
  readonly isLow: boolean;
  /** Resolves when the ballast file is not being written. */
  settled(): Promise<void>;
}

interface SpaceOptions {
  readonly path: string;
  readonly ballastBytes: number;
  readonly checkpoints: Pick<Checkpoints, 'walUsed' | 'empty'>;
}

const RETRY_MS = 1000;
/** The ballast of a store that has less than half of this in its file and its WAL. */
const SMALL_BYTES = 2 ** 20;

/** Writes the ballast file, unless it exists. Empties the WAL each time the disk runs full. */
export function createDiskSpace({ path, ballastBytes, checkpoints }: SpaceOptions): DiskSpace {
  const ballast = `${path}.ballast`;
  const stored = sizeOf(path);
  let laid = sizeOf(ballast);
  let isLow = false;
  let isRefused = false;
  let laying: Promise<void> | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const wanted = (): number =>
    isLow || 2 * (stored + checkpoints.walUsed) > SMALL_BYTES ? ballastBytes : Math.min(ballastBytes, SMALL_BYTES);
  const lay = async (bytesFree: number): Promise<void> => {
    try {
      const { bavail, bsize } = await statfs(dirname(path));
      if (bavail * bsize < bytesFree) return;
      const bytes = wanted();
      await fill(ballast, bytes);
      laid = bytes;
      isLow = false;
    } catch {
      laid = 0;
      rmSync(ballast, { force: true });
    }
  };
  /** Tries once at a time, and at most every RETRY_MS. */
  const tryToLay = (bytesFree: number): void => {
    if (laying !== undefined || performance.now() - triedAt < RETRY_MS) return;
    triedAt = performance.now();
    laying = lay(bytesFree).finally(() => {
      laying = undefined;
    });
  };

  if (laid < wanted() || laid > ballastBytes) tryToLay(ballastBytes);

  return {
    get isLow() {
      return isLow;
    },
    settled: async () => laying,
    admit: (batch) => {
      if (!isLow) {
        if (laid < ballastBytes && laid < wanted()) tryToLay(ballastBytes);
        return;
      }
      // Requires twice the space, or the ballast would be deleted again at once.
      tryToLay(2 * ballastBytes);
      if (isRefused || !batch.some((write) => write.kind === 'task' && write.isNew)) return;
      isRefused = true;
      throw notNow('the disk is nearly full; new tasks can’t be stored now');
    },
    ranOut: (cause) => {
      laid = 0;
      rmSync(ballast, { force: true });
      const isNews = !isLow;
      isLow = true;
      isRefused = false;
      // A disk that is still full keeps the WAL as it is.
      if (isNews) checkpoints.empty('TRUNCATE').catch(() => {});
      return notNow('the disk is full; nothing can be stored now', cause);
    },
  };
}

/** Writes random bytes, so that a compressing file system can't shrink the file. A file that is there keeps its bytes and grows. */
async function fill(file: string, bytes: number): Promise<void> {
  const chunk = crypto.getRandomValues(new Uint8Array(65_536));
  const handle = await open(file, 'a', 0o600);
  try {
    const { size } = await handle.stat();
    if (size > bytes) await handle.truncate(bytes);
    for (let at = size; at < bytes; at += chunk.length) await handle.write(chunk, 0, Math.min(chunk.length, bytes - at));
  } finally {
    await handle.close();
  }
}
