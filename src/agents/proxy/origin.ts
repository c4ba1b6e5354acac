import type { ContextId, Metadata, Task, TaskEvent, TaskId } from '#protocol';
import { contextId, ORIGIN_NOTE, taskId } from '#protocol';

/** A member of a task's metadata: its id at the origin, so that it is found there after a restart. */
export interface Origin {
  readonly taskId: TaskId;
  readonly contextId?: ContextId;
}

/** The origin's ids in an event. */
export function originIn({ task, statusUpdate, artifactUpdate }: TaskEvent): Origin | undefined {
  if (task !== undefined) return task.contextId === undefined ? { taskId: task.id } : { taskId: task.id, contextId: task.contextId };
  const update = statusUpdate ?? artifactUpdate;
  if (update === undefined || update.taskId === '') return undefined;
  return update.contextId === '' ? { taskId: update.taskId } : { taskId: update.taskId, contextId: update.contextId };
}

/** The ids as metadata of our task. */
export function noted(origin: Origin): Metadata {
  return { [ORIGIN_NOTE]: { ...origin } };
}

/** The ids that `noted` stored in a task. */
export function originOf({ metadata }: Task): Origin | undefined {
  const note = metadata?.[ORIGIN_NOTE];
  if (typeof note !== 'object' || note === null || !('taskId' in note) || typeof note.taskId !== 'string') return undefined;
  const { contextId: context } = note;
  return { taskId: taskId(note.taskId), ...(typeof context === 'string' ? { contextId: contextId(context) } : {}) };
}

export function idIn(event: TaskEvent | undefined): TaskId | undefined {
  return event === undefined ? undefined : originIn(event)?.taskId;
}
