import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskKey } from '#engine';
import type { Log } from '../observability/log.ts';

/** Content in a place that several nodes share. */
export interface StoredContent {
  readonly task: TaskKey;
  /** How long ago it was written, by the clock of the place. */
  readonly ageMs: number;
  /** Its writer has ended before it was complete. */
  readonly isPart?: boolean;
  remove(): Promise<void>;
}

/** Everything in a place, page by page. */
export type ListContent = () => AsyncGenerator<readonly StoredContent[], void>;

/** Options of `sweepContent`. */
export interface SweepOptions {
  /**
   * Content is written before the commit of its task. A node that has not committed for longer than its lease gives its tasks up, so content
   * of a task that will still be committed is never this old.
   */
  readonly olderMs: number;
  /** Of these tasks, those that exist or may still be created. */
  readonly existing: (tasks: readonly TaskKey[]) => Promise<ReadonlySet<TaskKey>>;
  /** False: another node does it from now on. */
  readonly isOurs: () => boolean;
  /** A pause after each page. */
  readonly pauseMs: number;
}

/** Deletes old content of tasks that do not exist. Returns how much there was. */
export async function sweepContent(list: ListContent, { olderMs, existing, isOurs, pauseMs }: SweepOptions): Promise<number> {
  let removed = 0;
  for await (const page of list()) {
    if (!isOurs()) return removed;
    const old = page.filter(({ ageMs }) => ageMs > olderMs);
    // After the listing: a task that was committed meanwhile exists.
    const there = old.length === 0 ? new Set() : await existing([...new Set(old.map(({ task }) => task))]);
    for (const content of old) {
      if (content.isPart !== true && there.has(content.task)) continue;
      await content.remove();
      removed += 1;
    }
    await sleep(pauseMs, undefined, { ref: false });
  }
  return removed;
}

const DAY_MS = 86_400_000;
const FIRST_MS = 600_000;
const PAUSE_MS = 1000;

/** Sweeps a place once a day, or more often if content is to be deleted sooner. Returns a function that ends it. */
export function keepSweepingContent(list: ListContent, options: Omit<SweepOptions, 'pauseMs'>, log: Log): () => void {
  const { olderMs, isOurs } = options;
  let timer: NodeJS.Timeout;
  const later = (ms: number): void => {
    timer = setTimeout(() => void sweep(), ms);
    timer.unref();
  };
  const sweep = async (): Promise<void> => {
    try {
      const files = isOurs() ? await sweepContent(list, { ...options, pauseMs: PAUSE_MS }) : 0;
      if (files > 0) log.info('deleted large content that belongs to no task', { files });
    } catch (thrown) {
      log.warn('large content that belongs to no task is not deleted yet', { problem: thrown instanceof Error ? thrown.message : '' });
    }
    later(Math.min(DAY_MS, olderMs));
  };
  later(Math.min(FIRST_MS, olderMs));
  return () => clearTimeout(timer);
}
