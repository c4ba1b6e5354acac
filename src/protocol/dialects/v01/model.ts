import type { ContextId, TaskId } from '../../ids.ts';
import { messageId, taskId } from '../../ids.ts';
import type { Json, JsonDraft, Mutable } from '../../json.ts';
import type { Message, Role } from '../../message.ts';
import type { TaskState } from '../../states.ts';
import type { Task, TaskStatus } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { KEBAB_NAMES } from '../shared/kebab-states.ts';
import { checkParts, id, idIf, listIf, member, memberIf, metadataIf, object, oneOf } from '../shared/read.ts';
import { timestampIf } from '../shared/values.ts';
import { readArtifacts, writeArtifacts } from './artifacts.ts';
import { checkFiles, readPart, writeParts } from './parts.ts';

const STATES: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ['submitted', 'TASK_STATE_SUBMITTED'],
  ['working', 'TASK_STATE_WORKING'],
  ['input-required', 'TASK_STATE_INPUT_REQUIRED'],
  ['completed', 'TASK_STATE_COMPLETED'],
  ['canceled', 'TASK_STATE_CANCELED'],
  ['cancelled', 'TASK_STATE_CANCELED'], // not 0.1's spelling, but agents mix the two
  ['failed', 'TASK_STATE_FAILED'],
  ['unknown', 'TASK_STATE_UNSPECIFIED'],
]);

/**
 * 0.1 asks for further credentials with `input-required` (its text on authentication), and has no state
 * for a rejection.
 */
const STATE_NAMES: Readonly<Record<TaskState, string>> = {
  ...KEBAB_NAMES,
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_AUTH_REQUIRED: 'input-required',
};

const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
]);

/** 0.1's messages have no ids, so the reader makes one. */
export function readMessage(raw: unknown, env: ReadEnv): Mutable<Message> {
  const m = object(raw);
  const out: Mutable<Message> = {
    messageId: messageId(env.ids.next()),
    role: oneOf(m.role, 'role', ROLES),
    parts: listIf(m.parts, 'parts', readPart, env) ?? [],
  };
  const metadata = metadataIf(m.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/** Checks the parts of a request more strictly than those of a response. */
export function readRequestMessage(raw: unknown, env: ReadEnv): Mutable<Message> {
  const { parts } = object(raw);
  checkParts(parts, env);
  checkFiles(parts);
  return readMessage(raw, env);
}

export function writeMessage(message: Message): JsonDraft {
  const out: JsonDraft = { role: message.role === 'ROLE_USER' ? 'user' : 'agent', parts: writeParts(message.parts) };
  if (message.metadata !== undefined) out.metadata = message.metadata;
  return out;
}

export function readStatus(raw: unknown, env: ReadEnv): TaskStatus {
  const s = object(raw);
  const out: Mutable<TaskStatus> = { state: oneOf(s.state, 'state', STATES) };
  const message = memberIf(s.message, 'message', readStatusMessage, env);
  if (message !== undefined) out.message = message;
  const timestamp = timestampIf(s.timestamp, 'timestamp');
  if (timestamp !== undefined) out.timestamp = timestamp;
  return out;
}

/**
 * A text where 0.1 has a message: servers with 0.1's card and method send it (Society), and their card
 * does not show it.
 */
function readStatusMessage(raw: unknown, env: ReadEnv): Message | undefined {
  if (typeof raw !== 'string') return readMessage(raw, env);
  return raw === '' ? undefined : { messageId: messageId(env.ids.next()), role: 'ROLE_AGENT', parts: [{ text: raw }] };
}

export function writeStatus(status: TaskStatus): Json {
  const out: JsonDraft = { state: STATE_NAMES[status.state] };
  if (status.message !== undefined) out.message = writeMessage(status.message);
  if (status.timestamp !== undefined) out.timestamp = status.timestamp;
  return out;
}

/** `sessionId` of 0.1 is the context. */
export function readTask(raw: unknown, env: ReadEnv): Task {
  const t = object(raw);
  const out: Mutable<Task> = { id: id<TaskId>(t.id, 'id', env), status: member(t.status, 'status', readStatus, env) };
  const contextId = idIf<ContextId>(t.sessionId, 'sessionId', env);
  if (contextId !== undefined) out.contextId = contextId;
  const artifacts = memberIf(t.artifacts, 'artifacts', readArtifacts, env);
  if (artifacts !== undefined) out.artifacts = artifacts;
  const history = listIf(t.history, 'history', readMessage, env);
  if (history !== undefined) out.history = history;
  const metadata = metadataIf(t.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/** The context is `sessionId` in 0.1. */
export function writeTask(task: Task): Json {
  const out: JsonDraft = { id: task.id };
  if (task.contextId !== undefined) out.sessionId = task.contextId;
  out.status = writeStatus(task.status);
  if (task.artifacts !== undefined) out.artifacts = writeArtifacts(task.artifacts);
  if (task.history !== undefined) out.history = task.history.map(writeMessage);
  if (task.metadata !== undefined) out.metadata = task.metadata;
  return out;
}

/** 0.1 always answers with a task. A direct message becomes a completed one. */
export function taskOfMessage(message: Message): Task {
  const task: Mutable<Task> = {
    id: message.taskId ?? taskId(message.contextId ?? message.messageId),
    status: { state: 'TASK_STATE_COMPLETED', message },
  };
  if (message.contextId !== undefined) task.contextId = message.contextId;
  return task;
}
