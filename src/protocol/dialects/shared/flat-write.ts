import type { TaskArtifactUpdate } from '../../events.ts';
import type { Json, JsonDraft, Metadata } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import type { Codec } from '../define.ts';
import type { FlatCodecs, FlatVocabulary, MessageVocabulary } from './flat-vocabulary.ts';

/** A message without `kind`. The role is `user` or `agent`. */
export function writeMessage(message: Message, vocabulary: MessageVocabulary): JsonDraft {
  const out: JsonDraft = {
    messageId: message.messageId,
    role: message.role === 'ROLE_AGENT' ? 'agent' : 'user',
    parts: all(message.parts, vocabulary.part.write),
  };
  const { contextId } = message;
  const isInside = vocabulary.contextInMetadata === true && contextId !== undefined;
  if (contextId !== undefined && !isInside) out.contextId = contextId;
  if (message.taskId !== undefined) out.taskId = message.taskId;
  const metadata = isInside ? { ...message.metadata, contextId } : message.metadata;
  if (metadata !== undefined) out.metadata = metadata;
  if (message.extensions !== undefined) out.extensions = message.extensions;
  if (message.referenceTaskIds !== undefined) out.referenceTaskIds = message.referenceTaskIds;
  return out;
}

export function writeStatus(status: TaskStatus, vocabulary: FlatVocabulary): JsonDraft {
  const out: JsonDraft = { state: vocabulary.stateNames[status.state] };
  if (status.message !== undefined) out.message = vocabulary.message.write(status.message);
  if (status.timestamp !== undefined) out.timestamp = status.timestamp;
  return out;
}

export function writeArtifact(artifact: Artifact, part: Codec<Part>): JsonDraft {
  const out: JsonDraft = { artifactId: artifact.artifactId, parts: all(artifact.parts, part.write) };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  if (artifact.extensions !== undefined) out.extensions = artifact.extensions;
  return withMetadata(out, artifact.metadata);
}

/** A task without `kind`. */
export function writeTask(task: Task, codecs: FlatCodecs): JsonDraft {
  const out: JsonDraft = { id: task.id };
  if (task.contextId !== undefined) out.contextId = task.contextId;
  out.status = codecs.status.write(task.status);
  if (task.artifacts !== undefined) out.artifacts = all(task.artifacts, codecs.artifact.write);
  if (task.history !== undefined) out.history = all(task.history, codecs.message.write);
  return withMetadata(out, task.metadata);
}

export function writeArtifactUpdate(update: TaskArtifactUpdate, artifact: Codec<Artifact>): JsonDraft {
  const out: JsonDraft = { taskId: update.taskId, contextId: update.contextId, artifact: artifact.write(update.artifact) };
  if (update.append === true) out.append = true;
  if (update.lastChunk === true) out.lastChunk = true;
  return withMetadata(out, update.metadata);
}

/** Adds metadata, if there are some. */
export function withMetadata(out: JsonDraft, metadata: Metadata | undefined): JsonDraft {
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function all<T>(items: readonly T[], write: (item: T) => Json): Json[] {
  const out: Json[] = [];
  for (const item of items) out.push(write(item));
  return out;
}
