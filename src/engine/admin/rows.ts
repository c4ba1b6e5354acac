import type { AdminTask, Seq, Task, TaskId } from '#protocol';
import { tenantId } from '#protocol';
import type { TaskRow, TaskScope } from '../ports.ts';
import { noTask } from '../read/find.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { HoldReason, TaskTable } from '../tasks/table.ts';

/** Holds a task of the scope until `use` is done. */
export async function withTaskIn<T>(
  { tasks, scope }: { readonly tasks: TaskTable; readonly scope: TaskScope },
  id: TaskId,
  use: (task: LiveTask) => Promise<T>,
  why?: HoldReason,
): Promise<T> {
  const task = await tasks.hold(scope, id, why);
  if (task === undefined) throw noTask(id);
  try {
    task.announce();
    return await use(task);
  } finally {
    task.release();
  }
}

/** A stored row as operators see it. */
export function adminTask(tasks: TaskTable, row: TaskRow): AdminTask {
  const { id, agent, owner, contextId, dialect, alias, state, statusAt, last, bytes, attempt } = row;
  return {
    id,
    agent,
    principal: owner.principal,
    ...(owner.tenant === '' ? {} : { tenant: tenantId(owner.tenant) }),
    contextId,
    dialect,
    ...(alias === undefined ? {} : { alias }),
    state,
    statusAt: new Date(statusAt).toISOString(),
    last,
    bytes,
    attempt,
    isRunning: tasks.get(id)?.run !== undefined,
  };
}

/** The row as it was at an earlier event. */
export function rowAt(row: TaskRow, { status: { state, timestamp } }: Task, last: Seq): TaskRow {
  return { ...row, last, state, statusAt: timestamp === undefined ? row.statusAt : Date.parse(timestamp) };
}
