import { A2AError } from './errors.ts';
import type { TaskArtifactUpdate, TaskEvent } from './events.ts';
import type { Mutable } from './json.ts';
import type { Message } from './message.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/**
 * Folds an event into a task and returns the new task; the old one is untouched. A2A 1.0.1 §3.7 by way of the official SDKs:
 * a status message joins the history, an artifact is replaced or appended to by its id.
 */
export function foldEvent(task: Task | undefined, event: TaskEvent): Task {
  if (event.task !== undefined) return event.task;
  if (event.message !== undefined || task === undefined) {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'a stream folds into a task only if it starts with one');
  }
  if (event.statusUpdate !== undefined) {
    const { status, metadata, generation } = event.statusUpdate;
    return withMembers(task, { status, metadata, generation, history: historyAfter(task) });
  }
  const { metadata, generation } = event.artifactUpdate;
  return withMembers(task, { metadata, generation, artifacts: artifactsAfter(task.artifacts ?? [], event.artifactUpdate) });
}

/** One artifact and one chunk of it: the artifact after it. A chunk for an artifact that is not there makes it. */
export function assembleArtifact(before: Artifact | undefined, update: TaskArtifactUpdate): Artifact {
  const chunk = update.artifact;
  if (before === undefined || update.append !== true) return chunk;
  return {
    ...before,
    ...chunk,
    parts: [...before.parts, ...chunk.parts],
    ...(before.metadata === undefined && chunk.metadata === undefined ? {} : { metadata: { ...before.metadata, ...chunk.metadata } }),
  };
}

function artifactsAfter(before: readonly Artifact[], update: TaskArtifactUpdate): readonly Artifact[] {
  const at = before.findIndex((artifact) => artifact.artifactId === update.artifact.artifactId);
  const next = assembleArtifact(before[at], update);
  return at === -1 ? [...before, next] : before.with(at, next);
}

function historyAfter(task: Task): readonly Message[] | undefined {
  const said = task.status.message;
  if (said === undefined) return task.history;
  const known = task.history?.some((message) => message.messageId === said.messageId) ?? false;
  return known ? task.history : [...(task.history ?? []), said];
}

interface Change {
  readonly status?: TaskStatus | undefined;
  readonly metadata?: Task['metadata'] | undefined;
  readonly generation?: Task['generation'] | undefined;
  readonly history?: Task['history'] | undefined;
  readonly artifacts?: Task['artifacts'] | undefined;
}

function withMembers(task: Task, change: Change): Task {
  const next: Mutable<Task> = { ...task };
  if (change.status !== undefined) next.status = change.status;
  if (change.metadata !== undefined) next.metadata = { ...task.metadata, ...change.metadata };
  if (change.generation !== undefined) next.generation = change.generation;
  if (change.history !== undefined) next.history = change.history;
  if (change.artifacts !== undefined) next.artifacts = change.artifacts;
  return next;
}
