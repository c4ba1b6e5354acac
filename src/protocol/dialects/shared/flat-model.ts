import type { TaskArtifactUpdate, TaskStatusUpdate } from '../../events.ts';
import type { ContextId, TaskId } from '../../ids.ts';
import { artifactId, taskId } from '../../ids.ts';
import type { Metadata, Mutable } from '../../json.ts';
import type { Message, Role } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import type { Codec } from '../define.ts';
import type { ReadEnv } from '../dialect.ts';
import type { ContextLimit, FlatCodecs, FlatVocabulary, MessageVocabulary } from './flat-vocabulary.ts';
import { withMetadata, writeArtifact, writeArtifactUpdate, writeMessage, writeStatus, writeTask } from './flat-write.ts';
import { messageIdOf, NO_CONTEXT, readArtifactMembers } from './members.ts';
import { checkParts, flagIf, id, idIf, idWithin, listIf, member, memberIf, metadataIf, object, oneOf, textsIf } from './read.ts';
import { timestampIf } from './values.ts';

/** The codecs of a product whose JSON is 1.0's shapes with 0.x's words; see `FlatVocabulary`. */
export interface FlatModel {
  readonly message: Codec<Message>;
  /** The message of a request: it must have parts. */
  readonly requestMessage: Codec<Message>;
  readonly task: Codec<Task>;
  readonly statusUpdate: Codec<TaskStatusUpdate>;
  readonly artifactUpdate: Codec<TaskArtifactUpdate>;
}

const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
  ['ROLE_USER', 'ROLE_USER'],
  ['ROLE_AGENT', 'ROLE_AGENT'],
]);

/** Builds the codecs from a product's vocabulary. */
export function flatModel(vocabulary: FlatVocabulary): FlatModel {
  const { message, part } = vocabulary;
  const status: Codec<TaskStatus> = {
    read: (raw, env) => readStatus(raw, env, vocabulary),
    write: (value) => writeStatus(value, vocabulary),
  };
  const artifact: Codec<Artifact> = {
    read: (raw, env) => readArtifact(raw, env, part),
    write: (value) => writeArtifact(value, part),
  };
  const inside: FlatCodecs = { ...vocabulary, status, artifact };
  return {
    message,
    requestMessage: {
      read: (raw, env) => {
        checkParts(object(raw).parts, env);
        return message.read(raw, env);
      },
      write: message.write,
    },
    task: { read: (raw, env) => readTask(raw, env, inside), write: (value) => writeTask(value, inside) },
    statusUpdate: {
      read: (raw, env) => readStatusUpdate(raw, env, inside),
      write: ({ taskId, contextId, status: now, metadata }) => withMetadata({ taskId, contextId, status: status.write(now) }, metadata),
    },
    artifactUpdate: {
      read: (raw, env) => readArtifactUpdate(raw, env, inside),
      write: (update) => writeArtifactUpdate(update, artifact),
    },
  };
}

/** The codec of messages alone. */
export function flatMessage(vocabulary: MessageVocabulary): Codec<Message> {
  return { read: (raw, env) => readMessage(raw, env, vocabulary), write: (message) => writeMessage(message, vocabulary) };
}

/**
 * A direct message as a completed task whose output is the message's parts, for products that have only
 * tasks.
 */
export function taskOfMessage(message: Message, output: string): Task {
  const { messageId, contextId, parts, metadata, extensions } = message;
  const artifact: Mutable<Artifact> = { artifactId: artifactId(output), parts };
  if (metadata !== undefined) artifact.metadata = metadata;
  if (extensions !== undefined) artifact.extensions = extensions;
  return {
    id: message.taskId ?? taskId(messageId),
    ...(contextId === undefined ? {} : { contextId }),
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [artifact],
  };
}

/** A message of a dialect without `kind`. */
function readMessage(raw: unknown, env: ReadEnv, vocabulary: MessageVocabulary): Message {
  const m = object(raw);
  const out: Mutable<Message> = {
    messageId: messageIdOf(m, env),
    role: oneOf(m.role, 'role', ROLES),
    parts: listIf(m.parts, 'parts', vocabulary.part.read, env) ?? [],
  };
  const metadata = metadataIf(m.metadata, 'metadata', env);
  const inside = vocabulary.contextInMetadata === true && typeof metadata?.contextId === 'string' ? metadata.contextId : undefined;
  const contextId =
    (inside === undefined ? undefined : contextIf(inside, env, vocabulary, 'metadata.contextId')) ??
    contextIf(m.contextId ?? m.context_id, env, vocabulary);
  if (contextId !== undefined) out.contextId = contextId;
  const task = idIf<TaskId>(m.taskId ?? m.task_id, 'taskId', env);
  if (task !== undefined) out.taskId = task;
  const others = inside === undefined || metadata === undefined ? metadata : withoutContext(metadata);
  if (others !== undefined) out.metadata = others;
  const extensions = textsIf(m.extensions, 'extensions');
  if (extensions !== undefined) out.extensions = extensions;
  const references = textsIf<TaskId>(m.referenceTaskIds ?? m.reference_task_ids, 'referenceTaskIds');
  if (references !== undefined) out.referenceTaskIds = references;
  return out;
}

function withoutContext(metadata: Metadata): Metadata | undefined {
  if (Object.keys(metadata).length === 1) return undefined;
  const { contextId: _, ...others } = metadata;
  return others;
}

function readStatus(raw: unknown, env: ReadEnv, vocabulary: FlatVocabulary): TaskStatus {
  const s = object(raw);
  const out: Mutable<TaskStatus> = { state: oneOf(s.state, 'state', vocabulary.states) };
  const message = memberIf(s.message, 'message', vocabulary.message.read, env);
  if (message !== undefined) out.message = message;
  const timestamp = timestampIf(s.timestamp, 'timestamp');
  if (timestamp !== undefined) out.timestamp = timestamp;
  return out;
}

function readArtifact(raw: unknown, env: ReadEnv, part: Codec<Part>): Artifact {
  const a = object(raw);
  const out: Mutable<Artifact> = {
    artifactId: id(a.artifactId ?? a.artifact_id, 'artifactId', env),
    parts: listIf(a.parts, 'parts', part.read, env) ?? [],
  };
  readArtifactMembers(a, out, env);
  return out;
}

/** A task of a dialect without `kind`. Both spellings of `contextId` are accepted. */
function readTask(raw: unknown, env: ReadEnv, inside: FlatCodecs): Task {
  const t = object(raw);
  const out: Mutable<Task> = { id: id(t.id, 'id', env), status: member(t.status, 'status', inside.status.read, env) };
  const contextId = contextIf(t.contextId ?? t.context_id, env, inside);
  if (contextId !== undefined) out.contextId = contextId;
  const artifacts = listIf(t.artifacts, 'artifacts', inside.artifact.read, env);
  if (artifacts !== undefined) out.artifacts = artifacts;
  const history = listIf(t.history, 'history', inside.message.read, env);
  if (history !== undefined) out.history = history;
  const metadata = metadataIf(t.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function readStatusUpdate(raw: unknown, env: ReadEnv, inside: FlatCodecs): TaskStatusUpdate {
  const u = object(raw);
  const out: Mutable<TaskStatusUpdate> = {
    taskId: id(u.taskId ?? u.task_id, 'taskId', env),
    contextId: contextIf(u.contextId ?? u.context_id, env, inside) ?? NO_CONTEXT,
    status: member(u.status, 'status', inside.status.read, env),
  };
  const metadata = metadataIf(u.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function readArtifactUpdate(raw: unknown, env: ReadEnv, inside: FlatCodecs): TaskArtifactUpdate {
  const u = object(raw);
  const out: Mutable<TaskArtifactUpdate> = {
    taskId: id(u.taskId ?? u.task_id, 'taskId', env),
    contextId: contextIf(u.contextId ?? u.context_id, env, inside) ?? NO_CONTEXT,
    artifact: member(u.artifact, 'artifact', inside.artifact.read, env),
  };
  if (flagIf(u.append, 'append') === true) out.append = true;
  if (flagIf(u.lastChunk ?? u.last_chunk, 'lastChunk') === true) out.lastChunk = true;
  const metadata = metadataIf(u.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/** A context id that may be absent, with the product's own maximum length. */
export function contextIf(value: unknown, env: ReadEnv, limit: ContextLimit, name = 'contextId'): ContextId | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return idWithin<ContextId>(value, name, limit.contextCharsMax ?? env.limits.idCharsMax);
}
