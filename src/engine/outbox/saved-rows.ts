import type { Commits } from '../commit/group-commit.ts';
import type { ContextFilter, OutboxRow, Write } from '../ports.ts';
import type { Timers } from '../timers.ts';

/**
 * Saves the positions of queues. A successful delivery does not have to be on disk at once: after a
 * crash it is repeated, with the same id. So the changes of a short time share a commit.
 */
export interface SavedRows {
  /** `task`: the task of the queue. */
  put(row: OutboxRow, task: ContextFilter): void;
  /** Deletes the queue. */
  remove(row: OutboxRow, task: ContextFilter): void;
  /** Deletes the queue with its push config. */
  removeWithConfig(row: OutboxRow, task: ContextFilter): void;
  flush(): void;
}

interface GatheredWrite {
  readonly write: Write;
  readonly task: ContextFilter;
}

const GATHER_MS = 200;

/** Of several changes of one queue only the last is written. */
export function createSavedRows(commits: Pick<Commits, 'add'>, timers: Timers): SavedRows {
  let gathered = new Map<number, GatheredWrite>();
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    for (const { write, task } of gathered.values()) commits.add(write, task);
    gathered = new Map();
  };
  const note = (n: number, gather: GatheredWrite): void => {
    gathered.set(n, gather);
    if (isDue) return;
    isDue = true;
    timers.later(GATHER_MS, flush);
  };
  return {
    put: (row, task) => note(row.n, { task, write: { kind: 'outbox', row } }),
    remove: ({ n }, task) => note(n, { task, write: { kind: 'unoutbox', n } }),
    removeWithConfig: ({ n, task: key, config }, task) => note(n, { task, write: { kind: 'unpush', task: key, id: config } }),
    flush,
  };
}
