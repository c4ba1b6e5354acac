import { isInterrupted } from '#protocol';
import type { OwnCells } from '../cells/own-cells.ts';
import type { Commits } from '../commit/group-commit.ts';
import type { EngineClock } from '../engine-clock.ts';
import type { EngineLimits } from '../limits.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Blobs, Owner, QuietRange, Store, TaskRow } from '../ports.ts';
import type { ReportFailure } from '../report.ts';
import type { StopReason } from '../turns/stop.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskTable } from './table.ts';
import type { WaitingTasks } from './waiting-tasks.ts';

/** Tasks deleted by one commit. Other requests run between two commits. */
const BATCH = 500;

/** What deleting tasks needs of the engine. */
export interface RetentionParts {
  readonly store: Pick<Store, 'quiet' | 'finished' | 'count' | 'names'>;
  readonly blobs: Blobs | undefined;
  readonly tasks: TaskTable;
  readonly commits: Pick<Commits, 'add' | 'settled'>;
  readonly outbox: Pick<Outbox, 'dropped'>;
  readonly waiting: Pick<WaitingTasks, 'drop'>;
  readonly clock: EngineClock;
  readonly limits: Pick<EngineLimits, 'waitingMsMax' | 'finishedMsMax' | 'finishedTasksMax'>;
  readonly stopTask: (task: LiveTask, reason: StopReason) => void;
  readonly report: ReportFailure;
  readonly cells: OwnCells | undefined;
}

/**
 * Deletes finished tasks that are too old, then those above the maximum number, oldest first, and old
 * records of sends without a task. Tasks that have waited too long for their caller fail; a later sweep
 * deletes them. A task with a reader or a run stays. Undelivered webhook events do not keep a task.
 */
export async function sweepTasks(parts: RetentionParts): Promise<number> {
  const { limits, store, clock, commits } = parts;
  const now = clock.now().ms;
  const cells = parts.cells?.open();
  if (cells?.length === 0) return 0;
  await failUnanswered(parts, { before: now - limits.waitingMsMax, cells });
  let deleted = await deleteWhile(parts, { before: now - limits.finishedMsMax, cells }, () => Number.POSITIVE_INFINITY);
  // Of several processes, each keeps as many as it has cells.
  const kept = Math.floor(limits.finishedTasksMax * (parts.cells?.part() ?? 1));
  const surplus = (await store.finished(cells)) - kept;
  if (surplus > 0) deleted += await deleteWhile(parts, { before: Number.POSITIVE_INFINITY, cells }, (done) => surplus - done);
  commits.add({ kind: 'forgetSends', before: now - limits.finishedMsMax });
  await commits.settled();
  return deleted;
}

interface Quiet {
  readonly before: number;
  /** Undefined: all tasks of the store. */
  readonly cells: readonly number[] | undefined;
}

function rangeOf({ before, cells }: Quiet, limit: number): QuietRange {
  return cells === undefined ? { before, limit } : { before, limit, cells };
}

/** Deletes finished tasks in batches, oldest first, until `left` returns 0 or no more can be deleted. */
async function deleteWhile(parts: RetentionParts, quiet: Quiet, left: (done: number) => number): Promise<number> {
  let done = 0;
  for (;;) {
    const limit = Math.min(BATCH, left(done));
    if (limit <= 0) return done;
    const rows = await parts.store.quiet('finished', rangeOf(quiet, limit));
    const deleted = await deleteFree(parts, rows);
    done += deleted;
    if (rows.length < limit || deleted === 0) return done;
  }
}

/**
 * Deletes the tasks that nobody uses and returns their number. From the start of this call `hold` does
 * not find them any more.
 */
async function deleteFree(parts: RetentionParts, rows: readonly TaskRow[]): Promise<number> {
  const { tasks, commits, outbox, waiting, blobs, report } = parts;
  const free = rows.filter((row) => tasks.isFree(row.id) && parts.cells?.isHere(row) !== false);
  if (free.length === 0) return 0;
  for (const { id } of free) tasks.startDeleting(id);
  try {
    await forgetNames(parts, free);
    for (const row of free) {
      commits.add({ kind: 'forget', task: row.key }, row);
      outbox.dropped(row.key);
      waiting.drop(row.key);
    }
    await commits.settled();
  } finally {
    for (const { id } of free) tasks.endDeleting(id);
  }
  // After the rows: an unused blob only wastes space, but an entry without its blob would be lost data.
  for (const { key } of free) await blobs?.forget(key).catch((thrown) => report('blobs could not be deleted', thrown));
  return free.length;
}

/** Deletes the names of conversations that end with these tasks. Before the tasks: after a crash no name is left over. */
async function forgetNames({ store }: RetentionParts, rows: readonly TaskRow[]): Promise<void> {
  for (const named of (await store.names?.of(rows)) ?? []) {
    const { owner, contextId } = named;
    const leaving = rows.filter((row) => row.contextId === contextId && isSame(row.owner, owner)).length;
    if ((await store.count({ owner, contextId })) <= leaving) await store.names?.put({ ...named, name: '' });
  }
}

function isSame(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.principal === other.principal;
}

/** Fails tasks that have waited too long for their caller and have no run. */
async function failUnanswered({ store, tasks, commits, stopTask, cells }: RetentionParts, quiet: Quiet): Promise<void> {
  for (;;) {
    const rows = await store.quiet('waiting', rangeOf(quiet, BATCH));
    let ended = 0;
    for (const row of rows) {
      const task = cells?.isHere(row) === false ? undefined : await tasks.hold('any', row.id);
      if (task === undefined) continue;
      if (isInterrupted(task.row.state) && task.run === undefined) {
        stopTask(task, 'unanswered');
        ended += 1;
      }
      task.release();
    }
    if (ended > 0) await commits.settled();
    if (rows.length < BATCH || ended === 0) return;
  }
}

/** For an operator: deletes the tasks even if they have readers, and disconnects those. Returns the number of deleted tasks. */
export async function deleteNow(parts: RetentionParts, rows: readonly TaskRow[]): Promise<number> {
  const { tasks } = parts;
  for (const { id } of rows) {
    await tasks.loaded(id);
    const task = tasks.get(id);
    if (task === undefined) continue;
    tasks.remove(task);
    task.discard();
  }
  return await deleteFree(parts, rows);
}
