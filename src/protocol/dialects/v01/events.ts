import type { Logged, TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import type { ContextId, TaskId } from '../../ids.ts';
import type { Json, JsonDraft, Mutable } from '../../json.ts';
import { isTerminal } from '../../states.ts';
import type { Task } from '../../task.ts';
import type { ReadEnv, RpcId, StreamReader, StreamWriter } from '../dialect.ts';
import { NO_CONTEXT } from '../shared/members.ts';
import { attempt, fail, flagIf, id, isRaw, member, metadataIf, object } from '../shared/read.ts';
import { envelope, framesOf, isQuestion } from '../shared/stream.ts';
import { artifactNumbers, ownIndex, readArtifact, writeArtifact } from './artifacts.ts';
import { readStatus, readTask, taskOfMessage, writeStatus } from './model.ts';

/**
 * A 0.1 stream has status events and artifact events, told apart by the member they have. Some servers
 * also stream a task, which is recognised by members that only a task has.
 */
export function readEvent(raw: unknown, env: ReadEnv): TaskEvent {
  return readEventOf(raw, NO_CONTEXT, env);
}

/**
 * An event of 0.1 has exactly one of `status` and `artifact`. A whole task is recognised by its other
 * members.
 */
function readEventOf(raw: unknown, contextId: ContextId, env: ReadEnv): TaskEvent {
  const e = object(raw);
  if (isRaw(e.artifact) === isRaw(e.status)) {
    return fail('', `must have exactly one of status, artifact; has ${isRaw(e.artifact) ? 2 : 0}`);
  }
  if (isRaw(e.artifact)) return { artifactUpdate: readArtifactUpdate(raw, contextId, env) };
  if (e.final === undefined && (e.sessionId !== undefined || e.artifacts !== undefined || e.history !== undefined)) {
    return { task: readTask(raw, env) };
  }
  const out: Mutable<TaskStatusUpdate> = {
    taskId: id<TaskId>(e.id, 'id', env),
    contextId,
    status: member(e.status, 'status', readStatus, env),
  };
  const metadata = metadataIf(e.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return { statusUpdate: out };
}

/** 0.1 has `append` and `lastChunk` in the artifact. */
function readArtifactUpdate(raw: unknown, contextId: ContextId, env: ReadEnv): TaskArtifactUpdate {
  const e = object(raw);
  const out: Mutable<TaskArtifactUpdate> = {
    taskId: id<TaskId>(e.id, 'id', env),
    contextId,
    artifact: member(e.artifact, 'artifact', readArtifact, env),
  };
  const chunk = object(e.artifact);
  if (flagIf(chunk.append, 'artifact.append') === true) out.append = true;
  if (flagIf(chunk.lastChunk, 'artifact.lastChunk') === true) out.lastChunk = true;
  const metadata = metadataIf(e.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/** Events have no session. Only a task has one, and it applies to the events that follow. */
export function openReader(env: ReadEnv): StreamReader {
  let contextId = NO_CONTEXT;
  const read = (raw: unknown): readonly TaskEvent[] => {
    const event = readEventOf(raw, contextId, env);
    if (event.task?.contextId !== undefined) contextId = event.task.contextId;
    return [event];
  };
  return { read: (raw) => attempt(read, raw, env) };
}

/**
 * One event by itself, as a webhook receives it. A task or a message is written as its status; in a
 * stream the artifacts are written too.
 */
export function writeEvent(event: TaskEvent): Json {
  return eventJson(event, isQuestion(event));
}

/** 0.1 has no task and no message in streams: both become a status. */
function eventJson(event: TaskEvent, closes: boolean): Json {
  if (event.artifactUpdate !== undefined) {
    return artifactEvent(event.artifactUpdate, ownIndex(event.artifactUpdate.artifact.artifactId) ?? 0);
  }
  if (event.statusUpdate !== undefined) return statusEvent(event.statusUpdate.taskId, event.statusUpdate, closes);
  const task = event.task === undefined ? taskOfMessage(event.message) : event.task;
  return statusEvent(task.id, task, closes);
}

/** A stream keeps the numbers of its artifacts from one event to the next. */
export function openStream(requestId: RpcId | undefined): StreamWriter {
  const wrap = envelope(requestId);
  const number = artifactNumbers();
  const write = ({ event, closes }: Logged): readonly Json[] => {
    if (event.artifactUpdate !== undefined) return [artifactEvent(event.artifactUpdate, number(event.artifactUpdate.artifact.artifactId))];
    return event.task === undefined ? [eventJson(event, closes === true)] : taskEvents(event.task, number, closes === true);
  };
  const framesOfOne = (logged: Logged) => framesOf(write(logged).map(wrap), logged);
  return { frames: (batch) => batch.flatMap(framesOfOne), end: () => [] };
}

/**
 * Clients stop at the first `final`. So a task's artifacts are written before a status that ends the
 * stream, and after any other status.
 */
function taskEvents(task: Task, number: (artifactId: string) => number, closes: boolean): readonly Json[] {
  const status = statusEvent(task.id, task, closes);
  const artifacts = (task.artifacts ?? []).map((artifact): Json => {
    return { id: task.id, artifact: writeArtifact(artifact, number(artifact.artifactId)) };
  });
  return closes || isTerminal(task.status.state) ? [...artifacts, status] : [status, ...artifacts];
}

function statusEvent(taskId: TaskId, from: Pick<TaskStatusUpdate, 'status' | 'metadata'>, closes: boolean): Json {
  const out: JsonDraft = { id: taskId, status: writeStatus(from.status), final: closes || isTerminal(from.status.state) };
  if (from.metadata !== undefined) out.metadata = from.metadata;
  return out;
}

function artifactEvent(update: TaskArtifactUpdate, index: number): Json {
  const artifact = writeArtifact(update.artifact, index);
  if (update.append === true) artifact.append = true;
  if (update.lastChunk === true) artifact.lastChunk = true;
  return update.metadata === undefined ? { id: update.taskId, artifact } : { id: update.taskId, artifact, metadata: update.metadata };
}
