import type { Task, TaskEvent } from '#protocol';
import { createTaskStatus, isInterrupted, isTerminal } from '#protocol';

/**
 * A2A streams begin with the task. An agent that continues a task begins with an update, so the task is
 * put before it.
 */
export function startWithTask(task: Task | undefined, event: TaskEvent): readonly TaskEvent[] {
  if (task !== undefined || event.task !== undefined || event.message !== undefined) return [event];
  const { taskId, contextId } = event.statusUpdate ?? event.artifactUpdate;
  const status = event.statusUpdate?.status ?? createTaskStatus('TASK_STATE_WORKING');
  const first: TaskEvent = { task: { id: taskId, ...(contextId === '' ? {} : { contextId }), status } };
  return event.statusUpdate === undefined ? [first, event] : [first];
}

/** The agent does nothing more on this task until it gets another message. */
export function isSettled({ status }: Task): boolean {
  return isTerminal(status.state) || isInterrupted(status.state);
}
