import { rmSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { A2AError } from '#protocol';
import type { Write } from '../../../ports.ts';
import { notNow } from '../damage/task-errors.ts';
import { sizeOf } from './store-files.ts';

/**
 * What to do when the disk is full. SQLite can then neither delete nor checkpoint, so a ballast file is kept beside the database and
 * given up at that moment: the WAL can be emptied, running tasks can end, retention can delete. Meanwhile work that makes new tasks
 * is put off: such a batch is refused at first, and taken when it comes again, so the reserve lasts. When there is room for the
 * ballast again it is put back, and everything is as before.
 */
export interface DiskSpace {
  /** Throws if the batch has to come again later. */
  admit(batch: readonly Write[]): void;
  /** The disk was full: what the caller is told. */
  ranOut(cause: unknown): A2AError;
  readonly isLow: boolean;
  /** Resolves when nothing is being written. */
  settled(): Promise<void>;
}

interface SpaceOptions {
  readonly path: string;
  readonly ballastBytes: number;
  readonly onLow: () => void;
}

const RETRY_MS = 1000;

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
  /** One at a time, and not too often. */
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
      // Room for twice as much: or it would be given up again at once.
      tryToLay(2 * ballastBytes);
      if (isRefused || !batch.some((write) => write.kind === 'task' && write.isNew)) return;
      isRefused = true;
      throw notNow('the disk is nearly full; no new task can be kept for now');
    },
    ranOut: (cause) => {
      rmSync(ballast, { force: true });
      const isNews = !isLow;
      isLow = true;
      isRefused = false;
      if (isNews) onLow();
      return notNow('the disk is full; nothing can be kept for now', cause);
    },
  };
}

/** Random bytes: a file system that compresses must not make it small. */
async function fill(file: string, bytes: number): Promise<void> {
  const chunk = crypto.getRandomValues(new Uint8Array(65_536));
  const handle = await open(file, 'w');
  try {
    for (let at = 0; at < bytes; at += chunk.length) await handle.write(chunk, 0, Math.min(chunk.length, bytes - at));
  } finally {
    await handle.close();
  }
}
