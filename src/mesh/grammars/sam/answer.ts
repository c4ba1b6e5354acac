import type { Json, Logged, Message, Metadata, Part, Task, TaskArtifactUpdate, TaskEvent } from '#protocol';
import { contextId, createTaskStatus, messageId } from '#protocol';
import { readArtifactUri } from '../../artifacts/uris.ts';

// SAM's programs read an answer from status messages only: text as it comes, the whole text with the final Task, and the produced files in
// the task's metadata (docs/dialects/sam.md, "Streams"). Artifacts mean nothing to them.

/** The events of a task as SAM's programs read them: text of an artifact is the text of a status. */
export function asProgress(events: readonly Logged[], agent: string): readonly Logged[] {
  return events.flatMap((logged) => {
    const made = progressOf(logged.event, agent);
    return made.map((event, at) => (at === made.length - 1 ? { ...logged, event } : { event }));
  });
}

function progressOf(event: TaskEvent, agent: string): readonly TaskEvent[] {
  const { task, statusUpdate, artifactUpdate } = event;
  if (artifactUpdate !== undefined) return [isText(artifactUpdate) ? asStatus(artifactUpdate, agent) : event];
  if (statusUpdate !== undefined) return [{ statusUpdate: { ...statusUpdate, metadata: { ...statusUpdate.metadata, agent_name: agent } } }];
  if (task === undefined) return [event];
  const { artifacts = [], ...rest } = task;
  const ids = { taskId: task.id, contextId: task.contextId ?? contextId('') };
  const parts = artifacts.flatMap((artifact) => progressOf({ artifactUpdate: { ...ids, artifact } }, agent));
  return [{ task: { ...rest, metadata: { ...task.metadata, agent_name: agent } } }, ...parts];
}

function isText({ artifact }: TaskArtifactUpdate): boolean {
  return artifact.parts.length > 0 && artifact.parts.every(({ text, filename }) => text !== undefined && filename === undefined);
}

function asStatus({ taskId, contextId: context, artifact }: TaskArtifactUpdate, agent: string): TaskEvent {
  const message: Message = {
    messageId: messageId(crypto.randomUUID()),
    role: 'ROLE_AGENT',
    parts: artifact.parts,
    taskId,
    contextId: context,
  };
  const status = { ...createTaskStatus('TASK_STATE_WORKING'), message };
  return { statusUpdate: { taskId, contextId: context, status, metadata: { agent_name: agent } } };
}

/** The final task with its answer in the status message, and the names of its agent and its files. */
export function asAnswer(task: Task, agent: string): Task {
  const parts = answerParts(task);
  const { id, status } = task;
  const message: Message = {
    ...status.message,
    messageId: status.message?.messageId ?? messageId(`${id}-answer`),
    role: 'ROLE_AGENT',
    parts: parts.length === 0 ? [{ text: WITHOUT_WORDS[status.state] ?? '' }] : parts,
    taskId: id,
    ...(task.contextId === undefined ? {} : { contextId: task.contextId }),
  };
  const metadata: Metadata = { ...task.metadata, agent_name: agent, produced_artifacts: producedBy(task) };
  return { ...task, status: { ...status, message }, metadata };
}

/** What SAM itself says where an agent gives no reason. */
const WITHOUT_WORDS: Readonly<Partial<Record<Task['status']['state'], string>>> = {
  TASK_STATE_CANCELED: 'Task cancelled by request.',
  TASK_STATE_FAILED: 'The task failed.',
  TASK_STATE_REJECTED: 'The task was rejected.',
};

/** A finished task's output, then its last words. Every other state says only why. */
export function answerParts({ status, artifacts = [] }: Task): readonly Part[] {
  const said = status.message?.parts ?? [];
  return status.state === 'TASK_STATE_COMPLETED' ? [...artifacts.flatMap(({ parts }) => parts), ...said] : said;
}

/** SAM's `produced_artifacts`: the stored files of a task. */
function producedBy(task: Task): Json[] {
  const found = new Map<string, Json>();
  for (const { url } of answerParts(task)) {
    const file = url === undefined ? undefined : readArtifactUri(url);
    if (url !== undefined && file?.version !== undefined) found.set(url, { filename: file.file, version: file.version });
  }
  return [...found.values()];
}
