import type { Write } from '../ports.ts';
import type { TakenNames } from './outcome.ts';

/** Something with unsaved changes: a task in memory. */
export interface Saveable {
  /** The size of its unsaved changes. */
  readonly pending: { readonly entries: { readonly length: number }; readonly bytes: number };
  /** Adds its changes to a commit. Later changes go into the commit after this one. */
  writeTo(batch: Write[]): void;
  /** The commit is durable, without what needed a name that another process has taken. */
  saved(taken?: TakenNames): void;
  /**
   * The commit wrote nothing: its changes belong into a later one. Returns whether it has to be queued
   * for that.
   */
  notSaved(): boolean;
  /** Wakes those who wait for a commit. */
  wake(): void;
}

/** Somebody who waits until the changes made so far are durable. */
export interface CommitWaiter {
  readonly who: 'request' | 'run';
  /**
   * How many tasks were queued before it. Once that many were taken into commits, everything it waits
   * for is in one.
   */
  readonly after: number;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

interface LazyWrite {
  readonly write: Write;
  readonly onDurable: () => void;
}

/** Everything that waits for a commit, and then everything in one. */
export interface CommitBatch {
  readonly tasks: Saveable[];
  readonly others: Write[];
  readonly lazies: LazyWrite[];
  readonly waiters: CommitWaiter[];
}

export function emptyBatch(): CommitBatch {
  return { tasks: [], others: [], lazies: [], waiters: [] };
}

export function isEmpty(batch: CommitBatch): boolean {
  return batch.tasks.length === 0 && batch.others.length === 0 && batch.waiters.length === 0;
}

/** All writes of a batch in the order in which they must be applied. */
export function writesOf({ tasks, others, lazies }: CommitBatch): readonly Write[] {
  const writes: Write[] = [];
  // Lazy writes come first: they are about earlier sends, and the same name may be used again in this commit.
  for (const lazy of lazies) writes.push(lazy.write);
  for (const task of tasks) task.writeTo(writes);
  for (const write of others) writes.push(write);
  return writes;
}
