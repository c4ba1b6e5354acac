import type { ContextId, Seq, TaskId } from '#protocol';
import { A2AError, isInterrupted, isTerminal, taskId } from '#protocol';
import type { OwnCells } from '../cells/own-cells.ts';
import type { Store, TaskRow } from '../ports.ts';
import { holdNamed, noTask } from '../read/find.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { TaskTable } from '../tasks/table.ts';
import type { SendCall } from './call.ts';

export interface ContinueParts {
  readonly store: Pick<Store, 'task' | 'byAlias' | 'waiting'>;
  readonly tasks: TaskTable;
  readonly cells: OwnCells | undefined;
}

/** The task that a message continues, held. If it is finished, a new task in its context may follow it. */
export interface ContinuedTask {
  readonly task: LiveTask;
  /** Set if only the context identified the task: the last entry when the task was found waiting. */
  readonly waitedAt?: Seq;
}

/** Undefined: the message makes a new task, and nothing has to be looked up. */
export function findContinued(parts: ContinueParts, call: SendCall): Promise<ContinuedTask | undefined> | undefined {
  const { request, ctx } = call;
  const { taskId, contextId } = request.message;
  if (taskId !== undefined) return byId(parts, call, taskId);
  if (ctx.semantics?.taskNames !== undefined && request.alias !== undefined) return byName(parts, call, request.alias);
  if (ctx.semantics?.continuesByContext === true && contextId !== undefined) return byContext(parts, call, contextId);
  return undefined;
}

/** Two simultaneous messages with the same new name make one task: the second finds what the first has just made. */
export function madeMeanwhile({ tasks }: ContinueParts, { request, owner, facts, ctx }: SendCall): LiveTask | undefined {
  if (ctx.semantics?.taskNames === undefined || request.alias === undefined || request.message.taskId !== undefined) return undefined;
  const task = tasks.named(owner, facts.agent, request.alias);
  return task?.isGone === true ? undefined : task;
}

/** A message that names no task answers the question that it was matched with, and no later one. */
export function isStillWaiting(continued: ContinuedTask | undefined): boolean {
  return continued?.waitedAt === undefined || continued.task.row.last === continued.waitedAt;
}

async function byId(parts: ContinueParts, { request, owner, facts, ctx }: SendCall, taskId: TaskId): Promise<ContinuedTask> {
  const { contextId } = request.message;
  const task = await holdNamed(parts, { owner, agent: facts.agent, id: taskId }, ctx);
  if (task === undefined) throw noTask(taskId);
  if ((contextId ?? task.row.contextId) === task.row.contextId) return { task };
  task.release();
  throw new A2AError('INVALID_PARAMS', 'message.contextId is not the context of the task', { field: 'message.contextId' });
}

/**
 * The newest task of that name continues, or the task that has it as its id, in whatever dialect it was made. If it is finished, a new task
 * in its context follows (docs/decisions: client-chosen ids are aliases).
 */
async function byName(
  parts: ContinueParts,
  { owner, facts, ctx }: SendCall,
  alias: NonNullable<TaskRow['alias']>,
): Promise<ContinuedTask | undefined> {
  const task = await holdNamed(parts, { owner, agent: facts.agent, id: taskId(alias) }, ctx);
  return task === undefined ? undefined : { task };
}

/**
 * A run that works for the same name. The next message under a name that can be used again is a task of its own if that run ends its task,
 * and the answer if the run asks. Queued behind the run, it would be lost with the task that the run completes.
 */
export function isBusy({ request, ctx }: SendCall, task: LiveTask): boolean {
  // A message from a broker is acknowledged when it is in the log, so it does not wait here.
  if (ctx.semantics?.taskNames !== 'reusable' || request.message.taskId !== undefined || ctx.reply !== undefined) return false;
  const { run, row, isGone } = task;
  return run !== undefined && run.answer === undefined && !isGone && !isTerminal(row.state) && !isInterrupted(row.state);
}

/**
 * Continues a task only if exactly one in the context waits: a new task is better than a wrong guess. A message that chooses none of the
 * options of a question goes to that task too: its agent asks again. As a task of its own it would wait for the question it did not answer.
 */
async function byContext(
  { store, tasks }: ContinueParts,
  { owner, facts }: SendCall,
  contextId: ContextId,
): Promise<ContinuedTask | undefined> {
  const rows = await store.waiting({ owner, agent: facts.agent, contextId }, 2);
  const [only] = rows;
  const task = only === undefined || rows.length > 1 ? undefined : await tasks.hold(owner, only.id);
  if (task === undefined) return undefined;
  if (isInterrupted(task.row.state)) return { task, waitedAt: task.row.last };
  task.release();
  return undefined;
}
