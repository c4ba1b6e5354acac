import type { TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import type { ContextId, MessageId, TaskId } from '../../ids.ts';
import type { Metadata, Mutable } from '../../json.ts';
import type { Message, Role } from '../../message.ts';
import type { FilePart, Part } from '../../parts.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { KEBAB_STATES } from '../shared/kebab-states.ts';
import { readArtifactMembers, readMessageMembers } from '../shared/members.ts';
import type { Raw } from '../shared/read.ts';
import {
  checkParts,
  fail,
  flagIf,
  freeform,
  id,
  idIf,
  isRaw,
  listIf,
  member,
  memberIf,
  metadataIf,
  object,
  oneOf,
  text,
  textIf,
} from '../shared/read.ts';
import { base64, timestampIf } from '../shared/values.ts';

/**
 * SAM uses the models of a2a-sdk 0.3.7, which accept the Python name and the JSON name of each member and do not require `kind`
 * (docs/dialects/sam.md, "Model"). So one set of readers serves both spellings.
 */
const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
]);

/** A message in a result or an event. Documented status messages have only a role and parts. */
export function readMessage(raw: unknown, env: ReadEnv): Message {
  const m = object(raw);
  const out = readBody(m, env);
  const taskId = idIf<TaskId>(m.taskId ?? m.task_id, 'taskId', env);
  if (taskId !== undefined) out.taskId = taskId;
  return out;
}

/** A message in a request. Its task id is not read here, because in a request it is the caller's name for the task. */
export function readRequestMessage(raw: unknown, env: ReadEnv): Message {
  const m = object(raw);
  if (m.kind !== undefined && m.kind !== 'message') fail('kind', 'must be message');
  id(m.messageId ?? m.message_id, 'messageId', env);
  checkParts(m.parts, env);
  return readBody(m, env);
}

function readBody(m: Raw, env: ReadEnv): Mutable<Message> {
  const out: Mutable<Message> = {
    messageId: idIf<MessageId>(m.messageId ?? m.message_id, 'messageId', env) ?? (env.ids.next() as MessageId),
    role: oneOf(m.role, 'role', ROLES),
    parts: listIf(m.parts, 'parts', readPart, env) ?? [],
  };
  readMessageMembers(m, out, env);
  return out;
}

export function readPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const { text: words, data, file } = p;
  const found = Number(isSet(words)) + Number(isSet(data)) + Number(isSet(file));
  if (found !== 1) return fail('', `must have exactly one of text, data, file; has ${found}`);
  const metadata = metadataIf(p.metadata, 'metadata', env);
  if (isSet(words)) {
    checkKind(p.kind, 'text');
    const said = text(words, 'text');
    return metadata === undefined ? { text: said } : { text: said, metadata };
  }
  if (isSet(data)) {
    checkKind(p.kind, 'data');
    const value = freeform(data, 'data', env);
    if (metadata === undefined) return { data: value };
    return metadata.data_part_compat === true && isRaw(value) ? unwrapData(value as Metadata, metadata) : { data: value, metadata };
  }
  checkKind(p.kind, 'file');
  const out = member(file, 'file', readFile, env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function checkKind(kind: unknown, found: string): void {
  if (isSet(kind) && kind !== found) fail('kind', `must be ${found}, as the part has ${found}`);
}

/** 0.3 data is an object. The official SDKs send anything else as `{value}` under this mark (docs/dialects/v03.md, "Data that is no object"). */
function unwrapData(wrapped: Metadata, metadata: Metadata): Part {
  const { data_part_compat: _, ...rest } = metadata;
  const data = wrapped.value ?? null;
  return Object.keys(rest).length === 0 ? { data } : { data, metadata: rest };
}

function readFile(raw: unknown): Mutable<FilePart> {
  const f = object(raw);
  const { uri, bytes } = f;
  if (isSet(uri) === isSet(bytes)) return fail('', `must have exactly one of uri, bytes; has ${isSet(uri) ? 2 : 0}`);
  const out: Mutable<FilePart> = isSet(uri) ? { url: text(uri, 'uri') } : { raw: base64(bytes, 'bytes') };
  const filename = textIf(f.name, 'name');
  if (filename) out.filename = filename;
  const mediaType = textIf(f.mimeType ?? f.mime_type, 'mimeType');
  if (mediaType) out.mediaType = mediaType;
  return out;
}

function readStatus(raw: unknown, env: ReadEnv): TaskStatus {
  const s = object(raw);
  const out: Mutable<TaskStatus> = { state: oneOf(s.state, 'state', KEBAB_STATES) };
  const message = memberIf(s.message, 'message', readMessage, env);
  if (message !== undefined) out.message = message;
  const timestamp = timestampIf(s.timestamp, 'timestamp');
  if (timestamp !== undefined) out.timestamp = timestamp;
  return out;
}

/** An artifact with `parts` is that of the model, whatever names its id. Without `parts` it is the documented object: one file. */
export function readArtifact(raw: unknown, env: ReadEnv): Artifact {
  const a = object(raw);
  const out: Mutable<Artifact> = {
    artifactId: id(a.artifactId ?? a.artifact_id ?? a.id, 'id', env),
    parts: isSet(a.parts) ? (listIf(a.parts, 'parts', readPart, env) ?? []) : readContent(a),
  };
  readArtifactMembers(a, out, env);
  return out;
}

/**
 * The content of a documented artifact. It may come by reference and inline at once. That is one file, so it becomes one part: the bytes,
 * with the address in its metadata.
 */
function readContent(a: Raw): readonly Part[] {
  const inline = a.inline_data ?? a.inlineData;
  const bytes = isRaw(inline) ? inline.data : undefined;
  const uri = textIf(a.uri, 'uri');
  if (uri === undefined && !isSet(bytes)) return [];
  const out: Mutable<FilePart> = isSet(bytes) ? { raw: base64(bytes, 'inline_data.data') } : { url: uri ?? '' };
  const filename = textIf(a.name, 'name');
  if (filename) out.filename = filename;
  const mediaType = textIf(a.mime_type ?? a.mimeType, 'mime_type');
  if (mediaType) out.mediaType = mediaType;
  if (uri !== undefined && out.raw !== undefined) out.metadata = { uri };
  return [out];
}

export function readTask(raw: unknown, env: ReadEnv): Task {
  const t = object(raw);
  const out: Mutable<Task> = { id: id(t.id, 'id', env), status: member(t.status, 'status', readStatus, env) };
  const contextId = idIf<ContextId>(t.contextId ?? t.context_id, 'contextId', env);
  if (contextId !== undefined) out.contextId = contextId;
  const artifacts = listIf(t.artifacts, 'artifacts', readArtifact, env);
  if (artifacts !== undefined) out.artifacts = artifacts;
  const history = listIf(t.history, 'history', readMessage, env);
  if (history !== undefined) out.history = history;
  const metadata = metadataIf(t.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function readStatusUpdate(u: Raw, env: ReadEnv): TaskStatusUpdate {
  const out: Mutable<TaskStatusUpdate> = {
    taskId: id(u.taskId ?? u.task_id, 'taskId', env),
    contextId: idIf<ContextId>(u.contextId ?? u.context_id, 'contextId', env) ?? ('' as ContextId),
    status: member(u.status, 'status', readStatus, env),
  };
  const metadata = metadataIf(u.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function readArtifactUpdate(u: Raw, env: ReadEnv): TaskArtifactUpdate {
  const out: Mutable<TaskArtifactUpdate> = {
    taskId: id(u.taskId ?? u.task_id, 'taskId', env),
    contextId: idIf<ContextId>(u.contextId ?? u.context_id, 'contextId', env) ?? ('' as ContextId),
    artifact: member(u.artifact, 'artifact', readArtifact, env),
  };
  if (flagIf(u.append, 'append') === true) out.append = true;
  if (flagIf(u.lastChunk ?? u.last_chunk, 'lastChunk') === true) out.lastChunk = true;
  const metadata = metadataIf(u.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/** `kind` says what the event is. Without it, a member that only one of the four has tells. */
export function readEvent(raw: unknown, env: ReadEnv): TaskEvent {
  const e = object(raw);
  const kind = e.kind ?? kindOf(e);
  switch (kind) {
    case 'status-update':
      return { statusUpdate: readStatusUpdate(e, env) };
    case 'artifact-update':
      return { artifactUpdate: readArtifactUpdate(e, env) };
    case 'task':
      return { task: readTask(e, env) };
    case 'message':
      return { message: readMessage(e, env) };
    default:
      return fail('kind', 'must be one of task, message, status-update, artifact-update');
  }
}

function kindOf(e: Raw): string {
  if (isSet(e.artifact)) return 'artifact-update';
  if (isSet(e.status)) return isSet(e.id) ? 'task' : 'status-update';
  return isSet(e.parts) ? 'message' : '';
}
