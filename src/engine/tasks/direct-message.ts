import type { Message } from '#protocol';
import type { Outbox } from '../outbox/outbox.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskTable } from './table.ts';

/** What replacing a task by a direct message needs of the engine. */
export interface DirectMessageParts {
  readonly tasks: TaskTable;
  readonly outbox: Pick<Outbox, 'hasReply' | 'dropped'>;
}

/**
 * A direct message replaces the task only while the agent has said nothing else and no caller can know
 * of the task.
 */
export function mayAnswerDirectly({ outbox }: DirectMessageParts, task: LiveTask): boolean {
  const { row, run } = task;
  return !outbox.hasReply(row.key) && !task.announced && row.last === 1 && run?.queue.length === 0;
}

/**
 * Deletes the task. The message is the answer to the call that waits, and to every repetition of it.
 */
export function answerDirectly({ tasks, outbox }: DirectMessageParts, task: LiveTask, message: Message): void {
  const { row } = task;
  const { taskId: _, ...said } = message;
  if (task.replaceBy({ ...said, contextId: row.contextId })) {
    tasks.startDeleting(row.id);
    outbox.dropped(row.key);
  }
  tasks.remove(task);
  task.touch();
  task.wake();
}
