import type { Write } from '../ports.ts';
import type { Live } from '../tasks/live-task.ts';
import { NOTHING } from '../tasks/live-task.ts';

/** Somebody who hears when what has gathered is durable. */
export interface Waiter {
  readonly who: 'request' | 'run';
  /** How many tasks had been handed over when it came: when as many have been taken, all that it waits for is in a commit. */
  readonly after: number;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

interface Lazy {
  readonly write: Write;
  readonly onDurable: () => void;
}

/** Everything that waits for a commit, and then everything that is in one. */
export interface Gathered {
  readonly lives: Live[];
  readonly others: Write[];
  readonly lazies: Lazy[];
  readonly waiters: Waiter[];
}

export function gather(): Gathered {
  return { lives: [], others: [], lazies: [], waiters: [] };
}

export function isEmpty(gathered: Gathered): boolean {
  return gathered.lives.length === 0 && gathered.others.length === 0 && gathered.waiters.length === 0;
}

/** From here on a task gathers for the commit after this one. */
export function batchOf({ lives, others, lazies }: Gathered): readonly Write[] {
  const batch: Write[] = [];
  // First, because they are about what was written before: the same name may be in use again.
  for (const lazy of lazies) batch.push(lazy.write);
  for (const live of lives) {
    live.isDirty = false;
    live.saving = live.pending;
    live.pending = NOTHING;
    const { entries, beside } = live.saving;
    if (!live.isGone) batch.push({ kind: 'task', row: { ...live.row }, isNew: live.isNew, entries });
    for (const write of beside) batch.push(write);
  }
  for (const write of others) batch.push(write);
  return batch;
}
