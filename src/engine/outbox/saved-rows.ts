import type { Commits } from '../commit/group-commit.ts';
import type { OutboxRow, Write } from '../ports.ts';
import type { Timers } from '../timers.ts';

/**
 * Saves the positions of queues. A successful delivery does not have to be on disk at once: after a
 * crash it is repeated, with the same id. So the changes of a short time share a commit.
 */
export interface SavedRows {
  put(row: OutboxRow): void;
  /** Deletes the queue. */
  remove(row: OutboxRow): void;
  /** Deletes the queue with its push config. */
  removeWithConfig(row: OutboxRow): void;
  flush(): void;
}

const GATHER_MS = 200;

/** Of several changes of one queue only the last is written. */
export function createSavedRows(commits: Pick<Commits, 'add'>, timers: Timers): SavedRows {
  let gathered = new Map<number, Write>();
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    for (const write of gathered.values()) commits.add(write);
    gathered = new Map();
  };
  const note = (n: number, write: Write): void => {
    gathered.set(n, write);
    if (isDue) return;
    isDue = true;
    timers.later(GATHER_MS, flush);
  };
  return {
    put: (row) => note(row.n, { kind: 'outbox', row }),
    remove: ({ n }) => note(n, { kind: 'unoutbox', n }),
    removeWithConfig: ({ n, task, config }) => note(n, { kind: 'unpush', task, id: config }),
    flush,
  };
}
