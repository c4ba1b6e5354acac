import type { TaskEvent, TaskFold } from '#protocol';
import { startFold } from '#protocol';

/** A fold that accepts this event first. Some dialects start with an update and never send the task itself. */
export function foldFrom(event: TaskEvent): TaskFold {
  const fold = startFold();
  const change = event.statusUpdate ?? event.artifactUpdate;
  if (change === undefined) return fold;
  const { taskId: id, contextId } = change;
  fold.add({ task: { id, status: { state: 'TASK_STATE_SUBMITTED' }, ...(contextId === '' ? {} : { contextId }) } });
  return fold;
}
