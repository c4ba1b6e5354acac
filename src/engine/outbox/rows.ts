import type { OutboxRow, Write } from '../ports.ts';
import type { Core } from '../tasks/core.ts';

/**
 * Where queues stand, on its way to the store. A delivery that has arrived need not be on disk at once (a crash repeats it, under the same
 * id), so a moment's worth of them shares a commit.
 */
export interface Rows {
  put(row: OutboxRow): void;
  drop(n: number): void;
  /** With its config, which was for it alone. */
  forget(row: OutboxRow): void;
  flush(): void;
}

const GATHER_MS = 200;

export function createRows(core: Core): Rows {
  let gathered = new Map<number, Write>();
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    for (const write of gathered.values()) core.writer.add(write);
    gathered = new Map();
  };
  const note = (n: number, write: Write): void => {
    gathered.set(n, write);
    if (isDue) return;
    isDue = true;
    core.timers.later(GATHER_MS, flush);
  };
  return {
    put: (row) => note(row.n, { kind: 'outbox', row }),
    drop: (n) => note(n, { kind: 'unoutbox', n }),
    forget: ({ n, task, config }) => note(n, { kind: 'unpush', task, id: config }),
    flush,
  };
}
