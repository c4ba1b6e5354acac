import type { AgentOutput, Artifact, ArtifactId, Message, Metadata, Part, Task, TaskArtifactUpdate, TaskEvent, TaskState } from '#protocol';
import { addedParts, appendParts, contextId, createTaskStatus, isInterrupted, isTerminal, taskId, withoutNotes } from '#protocol';

/** Merges an origin's events into our task, which knows some of them already. */
export interface Merge {
  /** The new parts of an event; empty if all of it is known. */
  outputs(event: TaskEvent): readonly AgentOutput[];
}

/**
 * Turns events of the origin into outputs of a run. From a snapshot, with which most origins start a
 * stream and all answer `get`, only what our log lacks is taken. So a stream that broke, at the origin
 * or here, continues without loss or repetition.
 */
export function startMerge(known: Task): Merge {
  const made = new Map<ArtifactId, Part[]>((known.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, [...parts]]));
  const said = new Set([...(known.history ?? []), ...listOf(known.status.message)].map(({ messageId }) => messageId));

  const isNews = (message: Message | undefined): message is Message => message !== undefined && !said.has(message.messageId);
  const status = (state: TaskState, message?: Message, metadata?: Metadata): readonly AgentOutput[] => {
    const goesOn = !isTerminal(state) && !isInterrupted(state);
    if (goesOn && !isNews(message) && metadata === undefined) return [];
    if (message !== undefined && message.messageId !== '') said.add(message.messageId);
    // Our task is working from its start, which includes the time in the origin's queue.
    return [event(goesOn ? 'TASK_STATE_WORKING' : state, message, metadata)];
  };
  const chunk = (update: TaskArtifactUpdate): readonly AgentOutput[] => {
    const { artifactId, parts } = update.artifact;
    const before = made.get(artifactId);
    if (update.append === true && before !== undefined) appendParts(before, parts);
    else made.set(artifactId, [...parts]);
    return [{ kind: 'event', event: { artifactUpdate: update } }];
  };
  const snapshot = (task: Task): readonly AgentOutput[] => [
    ...(task.history ?? [])
      .filter((message) => message.role === 'ROLE_AGENT' && message.messageId !== task.status.message?.messageId)
      .flatMap((message) => status('TASK_STATE_WORKING', message)),
    ...(task.artifacts ?? []).flatMap((artifact) => {
      const update = restOf(artifact, made.get(artifact.artifactId));
      return update === undefined ? [] : chunk(update);
    }),
    ...status(task.status.state, task.status.message, withoutNotes(task.metadata)),
  ];
  return {
    outputs: ({ task, message, statusUpdate, artifactUpdate }) => {
      if (task !== undefined) return snapshot(task);
      if (message !== undefined) return [{ kind: 'message', message }];
      if (artifactUpdate !== undefined) return chunk(artifactUpdate);
      return status(statusUpdate.status.state, statusUpdate.status.message, withoutNotes(statusUpdate.metadata));
    },
  };
}

/** The engine replaces the ids and the time by its own. */
function event(state: TaskState, message: Message | undefined, metadata: Metadata | undefined): AgentOutput {
  const status = createTaskStatus(state, message);
  const update = { taskId: taskId(''), contextId: contextId(''), status };
  return { kind: 'event', event: { statusUpdate: metadata === undefined ? update : { ...update, metadata } } };
}

/**
 * The part of an artifact that we lack: all of it, its further parts, the rest of its text, or nothing.
 */
export function restOf(artifact: Artifact, known: readonly Part[] | undefined): TaskArtifactUpdate | undefined {
  const whole = { taskId: taskId(''), contextId: contextId(''), artifact };
  if (known === undefined) return whole;
  const rest = addedParts(known, artifact.parts);
  if (rest === undefined) return whole;
  return rest.length === 0 ? undefined : { ...whole, artifact: { ...artifact, parts: rest }, append: true };
}

function listOf<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}
