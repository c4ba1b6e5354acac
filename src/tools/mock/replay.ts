import { fail } from '#agents';
import type { AgentOutput, Task, TaskEvent, Turn } from '#protocol';
import { contextId as asContextId, isInterrupted, isTerminal } from '#protocol';
import { pause } from './pause.ts';
import type { MockExchange } from './record.ts';

const noContext = asContextId('');

/** Plays a recorded response, with the ids of the current task. */
export async function* replayed({ events, error }: MockExchange, turn: Turn, pace: number): AsyncGenerator<AgentOutput> {
  let at = 0;
  for (const { afterMs, event } of events) {
    await pause((afterMs - at) * pace, turn.signal);
    at = afterMs;
    yield* outputsOf(event);
  }
  if (error !== undefined) yield fail(error.message);
}

/** A recorded event as outputs of the mock. */
function outputsOf(event: TaskEvent): readonly AgentOutput[] {
  if (event.message !== undefined) return [{ kind: 'message', message: event.message }];
  if (event.task !== undefined) return ofTask(event.task);
  if (event.artifactUpdate !== undefined) return [{ kind: 'event', event: { artifactUpdate: event.artifactUpdate } }];
  const { status } = event.statusUpdate;
  const isSilent = !isTerminal(status.state) && !isInterrupted(status.state) && status.message === undefined;
  if (isSilent || status.state === 'TASK_STATE_SUBMITTED') return [];
  return [{ kind: 'event', event: { statusUpdate: event.statusUpdate } }];
}

/** A snapshot of a finished task is the whole response. */
function ofTask({ id, contextId, artifacts = [], status }: Task): readonly AgentOutput[] {
  const ids = { taskId: id, contextId: contextId ?? noContext };
  const made = artifacts.map((artifact): AgentOutput => ({ kind: 'event', event: { artifactUpdate: { ...ids, artifact } } }));
  const isSettled = isTerminal(status.state) || isInterrupted(status.state);
  return isSettled ? [...made, { kind: 'event', event: { statusUpdate: { ...ids, status } } }] : made;
}
