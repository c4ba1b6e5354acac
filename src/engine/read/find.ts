import type { CallContext, DialectId, TaskId, TenantId } from '#protocol';
import { A2AError, externalId } from '#protocol';
import type { OwnCells } from '../cells/own-cells.ts';
import type { Commits } from '../commit/group-commit.ts';
import { checkLease } from '../lease.ts';
import type { EngineLifecycle } from '../lifecycle.ts';
import type { Owner, Store } from '../ports.ts';
import { isIn, ownerOf } from '../tasks/keys.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { HoldReason, TaskTable } from '../tasks/table.ts';

/** What looking up a task needs of the engine. */
export interface FindParts {
  readonly store: Pick<Store, 'task' | 'byAlias' | 'lease'>;
  readonly tasks: TaskTable;
  readonly commits: Pick<Commits, 'check'>;
  readonly lifecycle: EngineLifecycle;
  readonly cells: OwnCells | undefined;
}

/** A request about one task. */
export interface TaskRequest {
  readonly agent: string;
  readonly ctx: CallContext;
  readonly request: { readonly id: TaskId; readonly tenant?: TenantId };
}

/** Finds the task and holds it until `use` is done. */
export async function withTask<T>(parts: FindParts, asked: TaskRequest, use: (task: LiveTask) => Promise<T>): Promise<T> {
  return using(await findTask(parts, asked), use);
}

/** Finds the task for somebody who only reads what is durable. */
export async function withTaskRead<T>(parts: FindParts, asked: TaskRequest, use: (task: LiveTask) => Promise<T>): Promise<T> {
  return using(await findTask(parts, asked, 'read'), use);
}

async function using<T>(task: LiveTask, use: (task: LiveTask) => Promise<T>): Promise<T> {
  try {
    return await use(task);
  } finally {
    task.release();
  }
}

/** Finds the task by its id, or by the caller's name for it. It is durable when this resolves. */
export async function findTask(parts: FindParts, { agent, ctx, request }: TaskRequest, why: HoldReason = 'use'): Promise<LiveTask> {
  const owner = ownerOf(ctx, request);
  const { id } = request;
  if (parts.lifecycle.phase === 'new') throw new A2AError('UNAVAILABLE', 'the server is starting', { retryAfterMs: 1000 });
  if (parts.store.lease !== undefined) checkLease(parts.store.lease);
  const task = await holdNamed(parts, { owner, agent, id, why }, ctx);
  if (task !== undefined) {
    if (task.committed > 0 || (await isStored(parts, task, ctx.signal))) {
      task.announce();
      return task;
    }
  }
  task?.release();
  throw noTask(id);
}

/** The error for a missing task. Tasks of other callers give the same error. */
export function noTask(id: TaskId): A2AError {
  return new A2AError('TASK_NOT_FOUND', `there is no task ${id}`, { info: { taskId: id } });
}

interface TaskName {
  readonly owner: Owner;
  readonly agent: string;
  readonly id: TaskId;
  readonly why?: HoldReason;
}

type NameParts = Pick<FindParts, 'tasks' | 'cells'> & { readonly store: Pick<Store, 'byAlias'> };

/**
 * The agent's task with this id, or the newest task that this caller gave this name, held. Callers who name tasks mean their name first, all
 * others the id. Both find the task, in whatever dialect it was made.
 */
export async function holdNamed(
  parts: NameParts,
  name: TaskName,
  { semantics }: Pick<CallContext, 'semantics'>,
): Promise<LiveTask | undefined> {
  if (semantics?.taskNames === undefined) return (await holdById(parts, name)) ?? (await holdByName(parts, name));
  return (await holdByName(parts, name)) ?? (await holdById(parts, name));
}

async function holdById({ tasks }: NameParts, { owner, agent, id, why }: TaskName): Promise<LiveTask | undefined> {
  const task = await tasks.hold(owner, id, why);
  if (task === undefined || task.row.agent === agent) return task;
  task.release();
  return undefined;
}

async function holdByName(parts: NameParts, name: TaskName): Promise<LiveTask | undefined> {
  const { tasks, store, cells } = parts;
  const { owner, agent } = name;
  const alias = externalId(name.id);
  const inMemory = tasks.named(owner, agent, alias)?.row;
  const known = cells === undefined || inMemory === undefined || cells.isHere(inMemory) ? inMemory : undefined;
  const row = known ?? (await store.byAlias(owner, agent, alias));
  return row === undefined ? undefined : await holdById(parts, { ...name, id: row.id });
}

/**
 * The dialect of a task, found by its id or by the caller's name for it. A promise if the store is on a network and the task is not in
 * memory.
 */
export function dialectOf({ tasks, store }: FindParts, name: TaskName): DialectId | undefined | Promise<DialectId | undefined> {
  const { owner, agent, id } = name;
  const alias = externalId(id);
  const inMemory = tasks.get(id)?.row;
  const live = (inMemory !== undefined && isIn(owner, inMemory.owner) ? inMemory : undefined) ?? tasks.named(owner, agent, alias)?.row;
  if (live !== undefined) return live.dialect;
  const found = store.task(owner, id) ?? store.byAlias(owner, agent, alias);
  if (!(found instanceof Promise)) return found?.dialect;
  const read = async (): Promise<DialectId | undefined> => ((await found) ?? (await store.byAlias(owner, agent, alias)))?.dialect;
  // The call itself says that the store can't be read.
  return read().catch(() => undefined);
}

/** Waits for the task's first commit. False: a direct message replaced the task, or the caller left. */
async function isStored({ commits }: FindParts, task: LiveTask, signal: AbortSignal): Promise<boolean> {
  while (task.committed === 0 && !task.isGone && !signal.aborted) {
    commits.check();
    await task.nextCommit(signal);
  }
  task.checkHere();
  return task.committed > 0 && !task.isGone;
}
