import type { CallSemantics, Message, Task, TaskEvent, TaskId } from '#protocol';
import { eventKind, taskId } from '#protocol';
import type { TaskRow } from '../ports.ts';

/**
 * Callers who name tasks get their own name as the task's id; all others get the id. Undefined: nothing
 * has to be renamed.
 */
export function nameFor(row: Pick<TaskRow, 'alias'>, semantics: CallSemantics | undefined): TaskId | undefined {
  return semantics?.taskNames !== undefined && row.alias !== undefined ? taskId(row.alias) : undefined;
}

/** The task with the caller's name as its id. */
export function renameTask(task: Task, id: TaskId | undefined): Task {
  if (id === undefined) return task;
  const { history, status } = task;
  return {
    ...task,
    id,
    status: status.message === undefined ? status : { ...status, message: renameMessage(status.message, id) },
    ...(history === undefined ? {} : { history: history.map((message) => renameMessage(message, id)) }),
  };
}

/** The event with the caller's name as its task id. */
export function renameEvent(event: TaskEvent, taskId: TaskId): TaskEvent {
  switch (eventKind(event)) {
    case 'statusUpdate': {
      const update = event.statusUpdate;
      if (update === undefined) return event;
      const { status } = update;
      const said = status.message === undefined ? status : { ...status, message: renameMessage(status.message, taskId) };
      return { statusUpdate: { ...update, taskId, status: said } };
    }
    case 'artifactUpdate':
      return event.artifactUpdate === undefined ? event : { artifactUpdate: { ...event.artifactUpdate, taskId } };
    case 'task':
      return event.task === undefined ? event : { task: renameTask(event.task, taskId) };
    case 'message':
      return event;
  }
}

function renameMessage(message: Message, taskId: TaskId): Message {
  return message.taskId === undefined ? message : { ...message, taskId };
}
