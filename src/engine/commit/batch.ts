import { ElsewhereError } from '../cells.ts';
import type { ContextFilter, Write } from '../ports.ts';
import type { TakenNames } from './outcome.ts';

/** Something with unsaved changes: a task in memory. */
export interface Saveable {
  /** The conversation that it belongs to. */
  readonly row: ContextFilter;
  /** The size of its unsaved changes. */
  readonly pending: { readonly entries: { readonly length: number }; readonly bytes: number };
  /** Its changes in the current commit. */
  readonly saving: { readonly onSent?: () => void };
  /** Adds its changes to a commit. Later changes go into the commit after this one. */
  writeTo(batch: Write[]): void;
  /** The commit is durable, without what needed a name that another process has taken. */
  saved(taken?: TakenNames): void;
  /**
   * The commit wrote nothing: its changes belong into a later one. Returns whether it has to be queued
   * for that.
   */
  notSaved(): boolean;
  /** Its cell belongs to another process from now on: what is not saved is dropped. Calling it twice is harmless. */
  lose(cell: number): void;
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
  /** The cell of what it has changed. Undefined: it is not told if cells are lost. */
  readonly cell: number | undefined;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

/** A write that is not one of a task in memory. */
interface OtherWrite {
  readonly write: Write;
  /** The cell of its task. Undefined: it belongs to none, or the store has no cells. */
  readonly cell: number | undefined;
}

interface LazyWrite {
  readonly write: Write;
  readonly onDurable: () => void;
}

/** Everything that waits for a commit, and then everything in one. */
export interface CommitBatch {
  readonly tasks: Saveable[];
  readonly others: OtherWrite[];
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
  for (const { write } of others) writes.push(write);
  return writes;
}

/** Returns the batch without what belongs to lost cells, and rejects the promises of those who wait for that. */
export function withoutCells({ tasks, others, lazies, waiters }: CommitBatch, lost: LostCells): CommitBatch {
  const left = tasks.filter((task) => {
    const cell = lost.cellOf(task.row);
    if (lost.cells.has(cell)) task.lose(cell);
    return !lost.cells.has(cell);
  });
  for (const { cell, reject } of waiters) if (isIn(lost, cell)) reject(new ElsewhereError(cell));
  return {
    tasks: left,
    others: others.filter(({ cell }) => !isIn(lost, cell)),
    lazies,
    waiters: waiters.filter(({ cell }) => !isIn(lost, cell)),
  };
}

/** Cells that belong to another process, and how to tell the cell of a task. */
interface LostCells {
  readonly cells: ReadonlySet<number>;
  readonly cellOf: (place: ContextFilter) => number;
}

function isIn({ cells }: LostCells, cell: number | undefined): cell is number {
  return cell !== undefined && cells.has(cell);
}

/**
 * A commit blocks the event loop until it is on disk, and so does waking its readers. Changes above
 * these sizes wait for the next commit.
 */
const COMMIT_EVENTS = 512;
const COMMIT_BYTES = 131_072;

/** How many tasks one commit may hold, oldest first. The changes of one task are never split. */
export function fittingTasks(tasks: readonly Saveable[]): number {
  let [count, events, bytes] = [0, 0, 0];
  for (const { pending } of tasks) {
    events += pending.entries.length;
    bytes += pending.bytes;
    if (count > 0 && (events > COMMIT_EVENTS || bytes > COMMIT_BYTES)) break;
    count += 1;
  }
  return count;
}

/** The number of log entries among the writes. */
export function eventsIn(writes: readonly Write[]): number {
  return writes.reduce((sum, write) => sum + (write.kind === 'task' ? write.entries.length : 0), 0);
}
