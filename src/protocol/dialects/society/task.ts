import type { TaskId } from '../../ids.ts';
import { artifactId, messageId, taskId } from '../../ids.ts';
import type { Json, JsonDraft, Mutable } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import { isTextPart } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import { isInterrupted } from '../../states.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { id, listIf, member, memberIf, object, oneOf } from '../shared/read.ts';
import { readArtifacts, readMessage, writeArtifact, writeArtifacts, writeMessage } from './model.ts';

const STATES: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ['submitted', 'TASK_STATE_SUBMITTED'],
  ['working', 'TASK_STATE_WORKING'],
  ['completed', 'TASK_STATE_COMPLETED'],
  ['failed', 'TASK_STATE_FAILED'],
  ['cancelled', 'TASK_STATE_CANCELED'],
  ['canceled', 'TASK_STATE_CANCELED'], // not Society's spelling, but agents mix the two
]);

/**
 * A state that Society lacks is written as one that it has, with a note that names the difference if
 * the agent gave none.
 */
const STATE_NAMES: Readonly<Record<TaskState, { readonly name: string; readonly note: string }>> = {
  TASK_STATE_UNSPECIFIED: { name: 'working', note: '' },
  TASK_STATE_SUBMITTED: { name: 'submitted', note: '' },
  TASK_STATE_WORKING: { name: 'working', note: 'still working' },
  TASK_STATE_COMPLETED: { name: 'completed', note: '' },
  TASK_STATE_FAILED: { name: 'failed', note: '' },
  TASK_STATE_CANCELED: { name: 'cancelled', note: '' },
  TASK_STATE_INPUT_REQUIRED: { name: 'working', note: 'input required' },
  TASK_STATE_REJECTED: { name: 'failed', note: 'rejected' },
  TASK_STATE_AUTH_REQUIRED: { name: 'working', note: 'authentication required' },
};

/**
 * `status.message` is a string: Society's client can't read a response that has an object there. The
 * client shows artifacts, and shows the string only for a failure. So a status message that would not
 * be seen, or that is more than one text, is repeated as an artifact of this name. The reader removes
 * that artifact again.
 */
const STATUS_ARTIFACT = 'status';

/** Society has fewer states. The text of the status says what the state can't. */
export function writeTask(task: Task): Json {
  const { name: state, note } = STATE_NAMES[task.status.state];
  const message = task.status.message?.parts ?? [];
  const own =
    textOf(message) ||
    message
      .filter((part) => !isTextPart(part))
      .map(textFor)
      .join('\n');
  const statusText = own || note;
  const parts: readonly Part[] = own === '' ? [{ text: statusText }] : message;
  const out: JsonDraft = { id: task.id, status: statusText === '' ? { state } : { state, message: statusText } };
  if (task.history !== undefined) out.messages = task.history.map(writeMessage);
  const artifacts = writeArtifacts(task.artifacts ?? []);
  const unseen = isInterrupted(task.status.state) || (artifacts.length === 0 && state !== 'failed');
  const repeated = statusText !== '' && (unseen || parts.length > 1 || parts[0]?.text === undefined);
  if (repeated) artifacts.push(writeArtifact(STATUS_ARTIFACT, parts));
  if (repeated || task.artifacts !== undefined) out.artifacts = artifacts;
  return out;
}

function textOf(parts: readonly Part[]): string {
  return parts
    .filter(isTextPart)
    .map((part) => part.text)
    .join('\n');
}

function textFor(part: Part): string {
  return part.data === undefined ? (part.url ?? part.filename ?? 'file') : JSON.stringify(part.data);
}

/** Reads a task. A status text that repeats an artifact is dropped. */
export function readTask(raw: unknown, env: ReadEnv): Task {
  const t = object(raw);
  const status = member(t.status, 'status', readStatus, env);
  const out: Mutable<Task> = { id: id<TaskId>(t.id, 'id', env), status };
  const artifacts = memberIf(t.artifacts, 'artifacts', readArtifacts, env);
  const message = status.message === undefined || artifacts === undefined ? undefined : withoutRepetition(status.message, artifacts);
  if (message !== undefined) out.status = { ...status, message };
  if (artifacts !== undefined && (message === undefined || artifacts.length > 0)) out.artifacts = artifacts;
  const history = listIf(t.messages, 'messages', readMessage, env);
  if (history !== undefined) out.history = history;
  return out;
}

/**
 * Removes the artifact that repeats the status message, and gives the message all of its parts again.
 */
function withoutRepetition(message: Message, artifacts: Artifact[]): Message | undefined {
  const last = artifacts.at(-1);
  const repeated = last?.name === STATUS_ARTIFACT ? textOf(last.parts) : undefined;
  if (last === undefined || repeated === undefined || (repeated !== '' && repeated !== textOf(message.parts))) return undefined;
  artifacts.pop();
  return { ...message, parts: last.parts };
}

function readStatus(raw: unknown, env: ReadEnv): TaskStatus {
  const s = object(raw);
  const state = oneOf(s.state, 'state', STATES);
  const message = memberIf(s.message, 'message', readStatusMessage, env);
  return message === undefined ? { state } : { state, message };
}

/** Society has no object here, but a 0.1 server with a card like Society's sends one. */
function readStatusMessage(raw: unknown, env: ReadEnv): Message | undefined {
  if (typeof raw !== 'string') return readMessage(raw, env);
  return raw === '' ? undefined : { messageId: messageId(env.ids.next()), role: 'ROLE_AGENT', parts: [{ text: raw }] };
}

/** A direct message becomes a completed task whose output is the message. */
export function taskOfMessage(message: Message): Task {
  return {
    id: message.taskId ?? taskId(message.contextId ?? message.messageId),
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: artifactId('0'), parts: message.parts }],
  };
}
