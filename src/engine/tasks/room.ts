import { A2AError } from '#protocol';
import type { TaskRow } from '../ports.ts';
import { inDigits } from './events.ts';
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
