import type { TaskEvent, TaskFold } from '#protocol';
import { startFold } from '#protocol';

/** A fold that can take this event first: some dialects start with a change, and never send the task itself. */
export function startedWith(event: TaskEvent): TaskFold {
  const fold = startFold();
  const change = event.statusUpdate ?? event.artifactUpdate;
  if (change === undefined) return fold;
  const { taskId: id, contextId } = change;
  fold.add({ task: { id, status: { state: 'TASK_STATE_SUBMITTED' }, ...(contextId === '' ? {} : { contextId }) } });
  return fold;
}
