import type { TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import type { ContextId, Seq, TaskId } from '../../ids.ts';
import { seq as toSeq } from '../../ids.ts';
import type { Json, Mutable } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { Message, Role } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import { TASK_STATES_BY_NUMBER } from '../../states.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { eventContextOf, messageIdOf, readArtifactMembers, readMessageMembers } from '../shared/members.ts';
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
 * The canonical model is 1.0 JSON, so the readers check and copy. ProtoJSON allows snake_case names and
 * enum numbers on input (A2A 1.0.1 §5.5). Unknown members are ignored (§5.7), which is why the known
 * ones are copied.
 */
export const STATES: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ...TASK_STATES_BY_NUMBER.map((state) => [state, state] as const),
  ...TASK_STATES_BY_NUMBER.map((state, number) => [number, state] as const),
  ['TASK_STATE_CANCELLED', 'TASK_STATE_CANCELED'], // the spelling of 0.3's proto; agents mix the two
]);
const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ['ROLE_USER', 'ROLE_USER'],
  ['ROLE_AGENT', 'ROLE_AGENT'],
  [1, 'ROLE_USER'],
  [2, 'ROLE_AGENT'],
]);

/** A message in a result or an event. A missing id is accepted. */
export function readMessage(raw: unknown, env: ReadEnv): Message {
  const m = object(raw);
  const out: Mutable<Message> = {
    messageId: messageIdOf(m, env),
    role: oneOf(m.role, 'role', ROLES),
    parts: listIf(m.parts, 'parts', readPart, env) ?? [],
  };
  const taskId = idIf<TaskId>(m.taskId ?? m.task_id, 'taskId', env);
  if (taskId !== undefined) out.taskId = taskId;
  readMessageMembers(m, out, env);
  return out;
}

/** A message in a request: 1.0.1 §4.1.4 requires its id and at least one part. */
export function readRequestMessage(raw: unknown, env: ReadEnv): Message {
  const m = object(raw);
  id(m.messageId ?? m.message_id, 'messageId', env);
  const { parts } = m;
  checkParts(parts, env);
  const message = readMessage(raw, env);
  parts.forEach(checkContent);
  return message;
}

/**
 * @a2a-js/sdk 1.3.0 leaves out `data: null`. A part without content is accepted in results, not in
 * requests.
 */
function checkContent(part: unknown, at: number): void {
  if (contents(object(part)) === 0) fail(`parts[${at}]`, `${ONE_CONTENT}; has 0`);
}

/** Part (§4.1.6). A part without content becomes the data `null`. */
export function readPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const out = readContent(p, env);
  const metadata = metadataIf(p.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  const filename = textIf(p.filename, 'filename');
  if (filename !== undefined && filename !== '') out.filename = filename;
  const mediaType = textIf(p.mediaType ?? p.media_type, 'mediaType');
  if (mediaType !== undefined && mediaType !== '') out.mediaType = mediaType;
  return out;
}

/** A part must have exactly one of `text`, `raw`, `url` and `data`. */
function readContent(p: Raw, env: ReadEnv): Mutable<Part> {
  const { text: content, raw, url, data } = p;
  const found = contents(p);
  if (found > 1) return fail('', `${ONE_CONTENT}; has ${found}`);
  if (isSet(content)) return { text: text(content, 'text') };
  if (isSet(raw)) return { raw: base64(raw, 'raw') };
  if (isSet(url)) return { url: text(url, 'url') };
  return { data: data === undefined ? null : freeform(data, 'data', env) };
}

const ONE_CONTENT = 'must have exactly one of text, raw, url, data';

function contents(p: Raw): number {
  return Number(isSet(p.text)) + Number(isSet(p.raw)) + Number(isSet(p.url)) + Number(p.data !== undefined);
}

/** `null` is a value only for `data` (google.protobuf.Value). */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** An absent state is unspecified, because ProtoJSON leaves out zero. */
export function readStatus(raw: unknown, env: ReadEnv): TaskStatus {
  const s = object(raw);
  // ProtoJSON leaves out an enum's zero, and null means absent. So an absent state is UNSPECIFIED.
  const out: Mutable<TaskStatus> = { state: isSet(s.state) ? oneOf(s.state, 'state', STATES) : 'TASK_STATE_UNSPECIFIED' };
  const message = memberIf(s.message, 'message', readMessage, env);
  if (message !== undefined) out.message = message;
  const timestamp = timestampIf(s.timestamp, 'timestamp');
  if (timestamp !== undefined) out.timestamp = timestamp;
  return out;
}

/** Artifact (§4.1.7). */
export function readArtifact(raw: unknown, env: ReadEnv): Artifact {
  const a = object(raw);
  const out: Mutable<Artifact> = {
    artifactId: id(a.artifactId ?? a.artifact_id, 'artifactId', env),
    parts: listIf(a.parts, 'parts', readPart, env) ?? [],
  };
  readArtifactMembers(a, out, env);
  return out;
}

/** Task (§4.1.1). */
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
  const generation = generationIf(t.generation, 'generation');
  if (generation !== undefined) out.generation = generation;
  return out;
}

export function readStatusUpdate(raw: unknown, env: ReadEnv): TaskStatusUpdate {
  const u = object(raw);
  const out: Mutable<TaskStatusUpdate> = {
    taskId: id(u.taskId ?? u.task_id, 'taskId', env),
    contextId: eventContextOf(u, env),
    status: member(u.status, 'status', readStatus, env),
  };
  const metadata = metadataIf(u.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  const generation = generationIf(u.generation, 'generation');
  if (generation !== undefined) out.generation = generation;
  return out;
}

export function readArtifactUpdate(raw: unknown, env: ReadEnv): TaskArtifactUpdate {
  const u = object(raw);
  const out: Mutable<TaskArtifactUpdate> = {
    taskId: id(u.taskId ?? u.task_id, 'taskId', env),
    contextId: eventContextOf(u, env),
    artifact: member(u.artifact, 'artifact', readArtifact, env),
  };
  const append = flagIf(u.append, 'append');
  if (append === true) out.append = append;
  const lastChunk = flagIf(u.lastChunk ?? u.last_chunk, 'lastChunk');
  if (lastChunk === true) out.lastChunk = lastChunk;
  const metadata = metadataIf(u.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  const generation = generationIf(u.generation, 'generation');
  if (generation !== undefined) out.generation = generation;
  return out;
}

/** StreamResponse: exactly one of four members. SendMessageResponse is the same with two of them. */
export function readEvent(raw: unknown, env: ReadEnv): TaskEvent {
  const e = object(raw);
  const statusUpdate = e.statusUpdate ?? e.status_update;
  const artifactUpdate = e.artifactUpdate ?? e.artifact_update;
  const found = Number(isRaw(e.task)) + Number(isRaw(e.message)) + Number(isRaw(statusUpdate)) + Number(isRaw(artifactUpdate));
  if (found === 0 && typeof e.kind === 'string') return readBareEvent(e.kind, e, env);
  if (found !== 1) return fail('', `must have exactly one of task, message, statusUpdate, artifactUpdate; has ${found}`);
  if (isRaw(artifactUpdate)) return { artifactUpdate: member(artifactUpdate, 'artifactUpdate', readArtifactUpdate, env) };
  if (isRaw(statusUpdate)) return { statusUpdate: member(statusUpdate, 'statusUpdate', readStatusUpdate, env) };
  if (isRaw(e.task)) return { task: member(e.task, 'task', readTask, env) };
  return { message: member(e.message, 'message', readMessage, env) };
}

/** The 1.1 draft's int64, which ProtoJSON writes as a string. 0 means that the peer does not count. */
export function generationIf(value: unknown, name: string): Seq | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) return fail(name, 'must be a whole number');
  return number === 0 ? undefined : toSeq(number);
}

/** The value as 1.0.1 has it: without `generation`, which only the 1.1 draft's variant writes. */
export function withoutGeneration<T extends { readonly generation?: Seq }>(value: T): Json {
  if (value.generation === undefined) return jsonOf(value);
  const { generation: _, ...rest } = value;
  return jsonOf(rest);
}

/**
 * The value with its `generation`, for the variant of the 1.1 draft. `seq` is the number to use if the
 * value has none.
 */
export function withGeneration<T extends { readonly generation?: Seq }>(value: T, seq?: Seq): Json {
  const generation = value.generation ?? seq;
  return jsonOf(generation === undefined ? value : { ...value, generation: String(generation) });
}

/**
 * LangGraph's Agent Server announces 1.0 and streams updates as 0.3 does, without a member around them
 * and with their `kind`.
 */
function readBareEvent(kind: string, e: Raw, env: ReadEnv): TaskEvent {
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
      return fail('kind', 'must be task, message, status-update or artifact-update');
  }
}
