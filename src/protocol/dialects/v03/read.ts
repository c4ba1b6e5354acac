import type { TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import type { ArtifactId, ContextId, TaskId } from '../../ids.ts';
import type { Mutable } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import { eventContextOf, messageIdOf, readArtifactMembers, readMessageMembers } from '../shared/members.ts';
import type { Reader } from '../shared/read.ts';
import { checkParts, fail, flagIf, id, idIf, isRaw, listIf, member, memberIf, metadataIf, object, oneOf } from '../shared/read.ts';
import { timestampIf } from '../shared/values.ts';
import { joinChunkArtifacts } from './chunk-artifacts.ts';
import type { Form } from './form.ts';

/**
 * The readers of 0.3's objects in one of its forms. They also accept snake_case, which ProtoJSON allows
 * and pydantic sends.
 */
export interface Readers {
  readonly message: Reader<Message>;
  readonly requestMessage: Reader<Message>;
  readonly task: Reader<Task>;
  readonly statusUpdate: Reader<TaskStatusUpdate>;
  readonly artifactUpdate: Reader<TaskArtifactUpdate>;
  readonly event: Reader<TaskEvent>;
}

/** Builds the readers of one form once, at load time. */
export function readers(form: Form): Readers {
  const message = messageReader(form);
  const status = statusReader(form, message);
  const artifact = form.readArtifact ?? artifactReader(form);
  const objects = {
    message,
    requestMessage: requestMessageReader(form, message),
    task: taskReader({ status, artifact, message }),
    statusUpdate: statusUpdateReader(status),
    artifactUpdate: artifactUpdateReader(artifact),
  };
  return { ...objects, event: form.kinds ? kindEventReader(objects) : wrappedEventReader(objects) };
}

/**
 * A message in a result or an event. A missing id is accepted. `content` is the proto's name for parts.
 */
function messageReader(form: Form): Reader<Message> {
  return (raw, env) => {
    const m = object(raw);
    const out: Mutable<Message> = {
      messageId: messageIdOf(m, env),
      role: oneOf(m.role, 'role', form.roles),
      parts: listIf(m.parts ?? m.content, partsName(form), form.readPart, env) ?? [],
    };
    const taskId = idIf<TaskId>(m.taskId ?? m.task_id, 'taskId', env);
    if (taskId !== undefined) out.taskId = taskId;
    readMessageMembers(m, out, env);
    return out;
  };
}

/** A message in a request. Its id and at least one part are required (A2A 0.3.0 §6.4). */
function requestMessageReader(form: Form, message: Reader<Message>): Reader<Message> {
  return (raw, env) => {
    const m = object(raw);
    id(m.messageId ?? m.message_id, 'messageId', env);
    checkParts(m.parts ?? m.content, env, partsName(form));
    return message(raw, env);
  };
}

/** The sender's name for a message's parts, so that a problem is reported in the sender's own terms. */
function partsName(form: Form): string {
  return form.kinds ? 'parts' : 'content';
}

function statusReader(form: Form, message: Reader<Message>): Reader<TaskStatus> {
  return (raw, env) => {
    const s = object(raw);
    // ProtoJSON leaves out an enum's zero, and null means absent. `kind` JSON requires the member.
    const isAbsent = !form.kinds && (s.state === undefined || s.state === null);
    const out: Mutable<TaskStatus> = { state: isAbsent ? 'TASK_STATE_UNSPECIFIED' : oneOf(s.state, 'state', form.states) };
    const said = memberIf(s.message ?? s.update, 'message', message, env);
    if (said !== undefined) out.message = said;
    const timestamp = timestampIf(s.timestamp, 'timestamp');
    if (timestamp !== undefined) out.timestamp = timestamp;
    return out;
  };
}

function artifactReader(form: Form): Reader<Artifact> {
  return (raw, env) => {
    const a = object(raw);
    const out: Mutable<Artifact> = {
      artifactId: id<ArtifactId>(a.artifactId ?? a.artifact_id, 'artifactId', env),
      parts: listIf(a.parts, 'parts', form.readPart, env) ?? [],
    };
    readArtifactMembers(a, out, env);
    return out;
  };
}

/**
 * A task without a contextId is accepted: documents of products show it, though the schema requires
 * one.
 */
function taskReader(read: { status: Reader<TaskStatus>; artifact: Reader<Artifact>; message: Reader<Message> }): Reader<Task> {
  return (raw, env) => {
    const t = object(raw);
    const out: Mutable<Task> = { id: id<TaskId>(t.id, 'id', env), status: member(t.status, 'status', read.status, env) };
    const contextId = idIf<ContextId>(t.contextId ?? t.context_id, 'contextId', env);
    if (contextId !== undefined) out.contextId = contextId;
    const artifacts = listIf(t.artifacts, 'artifacts', read.artifact, env);
    if (artifacts !== undefined) out.artifacts = joinChunkArtifacts(artifacts);
    const history = listIf(t.history, 'history', read.message, env);
    if (history !== undefined) out.history = history;
    const metadata = metadataIf(t.metadata, 'metadata', env);
    if (metadata !== undefined) out.metadata = metadata;
    return out;
  };
}

/** `final` is not read. A stream ends when it closes, and the state tells why. */
function statusUpdateReader(status: Reader<TaskStatus>): Reader<TaskStatusUpdate> {
  return (raw, env) => {
    const u = object(raw);
    const out: Mutable<TaskStatusUpdate> = {
      taskId: id<TaskId>(u.taskId ?? u.task_id, 'taskId', env),
      contextId: eventContextOf(u, env),
      status: member(u.status, 'status', status, env),
    };
    const metadata = metadataIf(u.metadata, 'metadata', env);
    if (metadata !== undefined) out.metadata = metadata;
    return out;
  };
}

function artifactUpdateReader(artifact: Reader<Artifact>): Reader<TaskArtifactUpdate> {
  return (raw, env) => {
    const u = object(raw);
    const out: Mutable<TaskArtifactUpdate> = {
      taskId: id<TaskId>(u.taskId ?? u.task_id, 'taskId', env),
      contextId: eventContextOf(u, env),
      artifact: member(u.artifact, 'artifact', artifact, env),
    };
    if (flagIf(u.append, 'append') === true) out.append = true;
    if (flagIf(u.lastChunk ?? u.last_chunk, 'lastChunk') === true) out.lastChunk = true;
    const metadata = metadataIf(u.metadata, 'metadata', env);
    if (metadata !== undefined) out.metadata = metadata;
    return out;
  };
}

type Objects = Omit<Readers, 'event'>;
type EventKind = 'task' | 'message' | 'status-update' | 'artifact-update';
const EVENT_KINDS: ReadonlyMap<unknown, EventKind> = new Map<unknown, EventKind>([
  ['task', 'task'],
  ['message', 'message'],
  ['status-update', 'status-update'],
  ['artifact-update', 'artifact-update'],
]);

/** Reads an event by its `kind`; by its members if an old SDK left `kind` out. */
function kindEventReader(read: Objects): Reader<TaskEvent> {
  return (raw, env) => {
    const e = object(raw);
    const kind = e.kind === undefined || e.kind === null ? kindByShape(e) : oneOf(e.kind, 'kind', EVENT_KINDS);
    if (kind === 'artifact-update') return { artifactUpdate: read.artifactUpdate(raw, env) };
    if (kind === 'status-update') return { statusUpdate: read.statusUpdate(raw, env) };
    return kind === 'task' ? { task: read.task(raw, env) } : { message: read.message(raw, env) };
  };
}

/** For peers that leave `kind` out: each of the four has a member that the others lack. */
function kindByShape(e: Readonly<Record<string, unknown>>): EventKind {
  if (isRaw(e.artifact)) return 'artifact-update';
  if (isRaw(e.status)) return e.id === undefined ? 'status-update' : 'task';
  if (e.role !== undefined) return 'message';
  return fail('kind', 'is required');
}

/**
 * StreamResponse and SendMessageResponse: exactly one member. `msg` is the proto's name for `message`.
 */
function wrappedEventReader(read: Objects): Reader<TaskEvent> {
  return (raw, env) => {
    const e = object(raw);
    const { task } = e;
    const message = e.message ?? e.msg;
    const statusUpdate = e.statusUpdate ?? e.status_update;
    const artifactUpdate = e.artifactUpdate ?? e.artifact_update;
    const found = Number(isRaw(task)) + Number(isRaw(message)) + Number(isRaw(statusUpdate)) + Number(isRaw(artifactUpdate));
    if (found !== 1) return fail('', `must have exactly one of task, message, statusUpdate, artifactUpdate; has ${found}`);
    if (isRaw(artifactUpdate)) return { artifactUpdate: member(artifactUpdate, 'artifactUpdate', read.artifactUpdate, env) };
    if (isRaw(statusUpdate)) return { statusUpdate: member(statusUpdate, 'statusUpdate', read.statusUpdate, env) };
    if (isRaw(task)) return { task: member(task, 'task', read.task, env) };
    return { message: member(message, 'message', read.message, env) };
  };
}
