import type { DatabaseSync } from 'node:sqlite';
import type { Checkpoints } from '../checkpoint/in-thread.ts';
import { readPragma } from '../database/connection.ts';

/** Gives the space of deleted rows back to the file system, in small portions between commits. */
export interface Shrinking {
  /** Looks whether there is enough free space to give back, and starts. */
  soon(): void;
  stop(): void;
}

interface ShrinkingOptions {
  readonly checkpoints: Checkpoints;
  /** The store rejects all calls. */
  readonly isBroken: () => boolean;
  readonly report: (what: string, cause: unknown) => void;
}

/** Pages per portion. Commits wait for one portion at most, a few milliseconds. */
const PORTION = 64;
const PAUSE_MS = 20;
/** Free pages that are kept, because new rows soon need them: 4 MiB, or a tenth of the file. */
const SPARE_PAGES = 1024;
const SPARE_PART = 0.1;
/** `auto_vacuum = INCREMENTAL`. Stores of older versions get it when they are compacted. */
const INCREMENTAL = 2;

/** Starts when twice the spare pages are free, so that it does not run for every deleted task. */
export function createShrinking(db: DatabaseSync, { checkpoints, isBroken, report }: ShrinkingOptions): Shrinking {
  const mayShrink = readPragma(db, 'auto_vacuum') === INCREMENTAL;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = !mayShrink;
  const surplus = (): number => {
    const spare = Math.max(SPARE_PAGES, Number(readPragma(db, 'page_count')) * SPARE_PART);
    return Number(readPragma(db, 'freelist_count')) - spare;
  };
  const later = (work: () => void): void => {
    timer = setTimeout(work, PAUSE_MS).unref();
  };
  const step = (): void => {
    timer = undefined;
    if (isStopped || isBroken()) return;
    try {
      if (checkpoints.gate() === undefined) {
        if (surplus() <= 0) return void checkpoints.empty('TRUNCATE');
        db.exec(`PRAGMA incremental_vacuum(${PORTION})`);
        checkpoints.committed();
      }
      later(step);
    } catch (thrown) {
      // On a full disk, for example. The next deletion tries again.
      report('the space of deleted tasks could not be given back yet', thrown);
    }
  };
  return {
    soon: () => {
      if (isStopped || timer !== undefined || isBroken() || surplus() < SPARE_PAGES) return;
      later(step);
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
