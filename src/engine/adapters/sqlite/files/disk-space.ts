import { rmSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { A2AError } from '#protocol';
import type { Write } from '../../../ports.ts';
import { notNow } from '../damage/task-errors.ts';
import { sizeOf } from './store-files.ts';

/**
 * Handles a full disk. SQLite can then neither delete nor checkpoint, so a ballast file lies beside the
 * database and is deleted at that moment. With its space the WAL can be checkpointed, running tasks can
 * finish, and retention can delete. Until then a batch with new tasks is rejected once and accepted on
 * its retry, so that the reserve lasts. When there is enough space again, the ballast file is written
 * again.
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
  readonly onLow: () => void;
}

const RETRY_MS = 1000;

/** Writes the ballast file, unless it exists. `onLow` is called each time the disk runs full. */
export function createDiskSpace({ path, ballastBytes, onLow }: SpaceOptions): DiskSpace {
  const ballast = `${path}.ballast`;
  let isLow = false;
  let isRefused = false;
  let laying: Promise<void> | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const lay = async (bytesFree: number): Promise<void> => {
    try {
      const { bavail, bsize } = await statfs(dirname(path));
      if (bavail * bsize < bytesFree) return;
      await fill(ballast, ballastBytes);
      isLow = false;
    } catch {
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

  if (sizeOf(ballast) !== ballastBytes) tryToLay(ballastBytes);

  return {
    get isLow() {
      return isLow;
    },
    settled: async () => laying,
    admit: (batch) => {
      if (!isLow) return;
      // Requires twice the space, or the ballast would be deleted again at once.
      tryToLay(2 * ballastBytes);
      if (isRefused || !batch.some((write) => write.kind === 'task' && write.isNew)) return;
      isRefused = true;
      throw notNow('the disk is nearly full; new tasks can’t be stored now');
    },
    ranOut: (cause) => {
      rmSync(ballast, { force: true });
      const isNews = !isLow;
      isLow = true;
      isRefused = false;
      if (isNews) onLow();
      return notNow('the disk is full; nothing can be stored now', cause);
    },
  };
}

/** Writes random bytes, so that a compressing file system can't shrink the file. */
async function fill(file: string, bytes: number): Promise<void> {
  const chunk = crypto.getRandomValues(new Uint8Array(65_536));
  const handle = await open(file, 'w', 0o600);
  try {
    for (let at = 0; at < bytes; at += chunk.length) await handle.write(chunk, 0, Math.min(chunk.length, bytes - at));
  } finally {
    await handle.close();
  }
}
