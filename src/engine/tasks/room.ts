import { A2AError } from '#protocol';
import type { TaskRow } from '../ports.ts';
import { inDigits } from './events.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskParts } from './task-parts.ts';

/** Throws if the task can't take so much more content. */
export function checkRoom({ limits, commits }: TaskParts, row: Pick<TaskRow, 'last' | 'bytes'>, bytes: number): void {
  if (row.last >= limits.taskEventsMax) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `the task has reached the maximum of ${inDigits(limits.taskEventsMax)} events`);
  }
  if (row.bytes + bytes > limits.taskBytesMax) {
    const most = `${inDigits(limits.taskBytesMax)} bytes; raise the limit taskBytesMax, or use several tasks`;
    throw new A2AError('INVALID_AGENT_RESPONSE', `the task would exceed the maximum of ${most}`);
  }
  if (commits.broken !== undefined) throw commits.broken;
}

/** Resolves when a commit is on its way with everything that is pending, or after the next commit that concerns the task. */
export function nextRoom(task: LiveTask): Promise<void> {
  return new Promise((resolve) => {
    if (task.pending.entries.length > 0) task.pending.onSent = resolve; // all tasks without entries share one object
    task.onCommit(resolve);
  });
}
