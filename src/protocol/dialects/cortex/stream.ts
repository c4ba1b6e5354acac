import type { Logged, TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import type { ContextId, TaskId } from '../../ids.ts';
import { contextId } from '../../ids.ts';
import type { Json, JsonObject } from '../../json.ts';
import { jsonText } from '../../large-json.ts';
import type { Message } from '../../message.ts';
import type { TaskState } from '../../states.ts';
import { isTerminal } from '../../states.ts';
import type { Codec } from '../define.ts';
import type { Frame, ReadEnv, RpcId, StreamReader, StreamWriter } from '../dialect.ts';
import { attempt, fail, isRaw, member, object } from '../shared/read.ts';
import { envelope, framesOf, isQuestion } from '../shared/stream.ts';
import { answerTask, model, task } from './model.ts';

/** One event as one document: a task under `task`, or a bare update with its `type`. */
export const event: Codec<TaskEvent> = {
  read: (raw, env) => readEvent(raw, env) ?? fail('', 'must have task, status or artifact'),
  write: (value) => {
    if (value.artifactUpdate !== undefined) return artifactFrame(value.artifactUpdate);
    if (value.statusUpdate !== undefined) return statusFrame(value.statusUpdate, isQuestion(value));
    return { task: task.write(value.task ?? answerTask(value.message)) };
  },
};

/**
 * Tasks are enveloped, updates are not. Cortex's client returns the last enveloped task and never reads an artifact event. So the whole
 * task is written again before `[DONE]`, unless the last frame was a task.
 */
export function openStream(requestId: RpcId | undefined): StreamWriter {
  const wrap = envelope(requestId);
  let lastWasTask = false;
  const linesOf = ({ event: value, closes }: Logged): readonly Frame['data'][] => {
    lastWasTask = value.task !== undefined || value.message !== undefined;
    if (value.message !== undefined) return messageLines(value.message, wrap);
    if (value.artifactUpdate !== undefined) return [artifactLine(value.artifactUpdate, requestId !== undefined)];
    if (value.statusUpdate !== undefined) return [jsonText(statusFrame(value.statusUpdate, closes === true))];
    return [wrap(event.write(value))];
  };
  return {
    endsWithTask: true,
    frames: (batch) => batch.flatMap((logged) => framesOf(linesOf(logged), logged)),
    end: (whole) => [...(whole === undefined || lastWasTask ? [] : [{ data: wrap({ task: task.write(whole) }) }]), { data: '[DONE]' }],
  };
}

/**
 * Only the first frame may name the context, so the reader remembers it. A frame after a terminal state only repeats the task and is
 * ignored.
 */
export function openReader(env: ReadEnv): StreamReader {
  let seen: { readonly taskId: TaskId; readonly contextId: ContextId; readonly state: TaskState } | undefined;
  const inContext = <T extends { readonly contextId: ContextId }>(update: T): T =>
    update.contextId === '' && seen !== undefined ? { ...update, contextId: seen.contextId } : update;

  const next = (found: TaskEvent): TaskEvent => {
    if (found.artifactUpdate !== undefined) return { artifactUpdate: inContext(found.artifactUpdate) };
    if (found.task !== undefined) {
      seen = { taskId: found.task.id, contextId: found.task.contextId ?? contextId(''), state: found.task.status.state };
      return found;
    }
    if (found.statusUpdate !== undefined) {
      const statusUpdate = inContext(found.statusUpdate);
      seen = { taskId: statusUpdate.taskId, contextId: statusUpdate.contextId, state: statusUpdate.status.state };
      return { statusUpdate };
    }
    // A message while a task runs is progress, not the answer, which would end the stream.
    if (seen === undefined) return found;
    const { state, ...where } = seen;
    return { statusUpdate: { ...where, status: { state, message: found.message } } };
  };

  const read = (raw: unknown): readonly TaskEvent[] => {
    if (seen !== undefined && isTerminal(seen.state)) return [];
    const found = readEvent(raw, env);
    return found === undefined ? [] : [next(found)];
  };
  return { read: (raw) => attempt(read, raw, env) };
}

/**
 * Recognises an event by its members: CortexPrism's frames have no common tag. Undefined: a frame
 * without an event.
 */
function readEvent(raw: unknown, env: ReadEnv): TaskEvent | undefined {
  const frame = object(raw);
  if (frame.artifact !== undefined) return { artifactUpdate: model.artifactUpdate.read(frame, env) };
  if (frame.status !== undefined) return { statusUpdate: model.statusUpdate.read(frame, env) };
  if (isRaw(frame.task)) return { task: member(frame.task, 'task', task.read, env) };
  if (isRaw(frame.message)) return { message: member(frame.message, 'message', model.message.read, env) };
  return undefined;
}

/** A status frame with its `type` and `final`. */
function statusFrame(update: TaskStatusUpdate, closes: boolean): JsonObject {
  const out = withoutEmptyContext(model.statusUpdate.write(update));
  out.type = 'TaskStatusUpdateEvent';
  out.final = closes || isTerminal(update.status.state);
  return out;
}

function artifactFrame(update: TaskArtifactUpdate): JsonObject {
  const out = withoutEmptyContext(model.artifactUpdate.write(update));
  out.type = 'TaskArtifactUpdateEvent';
  return out;
}

/**
 * Cortex documents that an artifact's text reaches its client's `onChunk`, but the client looks for text only in `result.message.parts`.
 * So the text is there too, in the same frame. A second frame would show everything twice to clients that read both. Clients that read
 * artifacts do not take this frame for a JSON-RPC response, because it has no `jsonrpc`.
 */
function artifactLine(update: TaskArtifactUpdate, called: boolean): Frame['data'] {
  const parts = update.artifact.parts.flatMap(({ text }) => (text ? [{ text }] : []));
  const frame = artifactFrame(update);
  return jsonText(called && parts.length > 0 ? { ...frame, result: { message: { role: 'agent', parts } } } : frame);
}

/** Cortex has no direct message. Writes the whole stream of a task whose answer is the message. */
function messageLines(message: Message, wrap: (result: Json) => Frame['data']): readonly Frame['data'][] {
  const whole = answerTask(message);
  const { artifacts, status, ...begun } = whole;
  const where = { taskId: whole.id, contextId: whole.contextId ?? contextId('') };
  return [
    wrap({ task: task.write({ ...begun, status: { state: 'TASK_STATE_WORKING' } }) }),
    ...(artifacts ?? []).map((artifact) => artifactLine({ ...where, artifact, lastChunk: true }, true)),
    jsonText(statusFrame({ ...where, status }, true)),
    wrap({ task: task.write(whole) }),
  ];
}

/** The update without an empty `contextId`. */
function withoutEmptyContext(update: Json): { [key: string]: Json } {
  const out = update as { [key: string]: Json };
  if (out.contextId !== '') return out;
  const { contextId: _, ...rest } = out;
  return rest;
}
