import { isPlainText } from '../../chunks.ts';
import type { TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import { contextId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import type { Part } from '../../parts.ts';
import { isInterrupted, isTerminal } from '../../states.ts';
import type { Task } from '../../task.ts';
import type { Codec } from '../define.ts';
import type { Frame, ReadEnv, RpcId, StreamReader, StreamWriter } from '../dialect.ts';
import { taskOfMessage } from '../shared/flat-model.ts';
import { attempt, fail, object } from '../shared/read.ts';
import { envelope, framesOf } from '../shared/stream.ts';
import { model } from './model.ts';

/** Artifact ids count from 1, like PromptKit's own. */
export const ANSWER_ARTIFACT = 'artifact-1';

/**
 * The scanner of PromptKit's client fails at a line over 1 MiB. A third of that in characters is safe in every script. Longer texts are
 * sent in several appended frames; a file that is longer can't be divided.
 */
const LINE_CHARS_MAX = 349_000;

/** One event as one document. PromptKit has two: a status and an artifact. */
export const event: Codec<TaskEvent> = {
  read: (raw, env) => readEvent(raw, env) ?? fail('', 'must have artifact or status'),
  write: (value) => {
    if (value.artifactUpdate !== undefined) return model.artifactUpdate.write(value.artifactUpdate);
    if (value.statusUpdate !== undefined) return model.statusUpdate.write(value.statusUpdate);
    return model.statusUpdate.write(statusOf(value.task ?? taskOfMessage(value.message, ANSWER_ARTIFACT)));
  },
};

/** Skips frames that are neither a status nor an artifact, as PromptKit's own client does. */
export function openReader(env: ReadEnv): StreamReader {
  return {
    read: (raw) =>
      attempt(
        (frame) => {
          const found = readEvent(frame, env);
          return found === undefined ? [] : [found];
        },
        raw,
        env,
      ),
  };
}

/** One frame may need several lines: PromptKit limits the length of a line. */
export function openStream(requestId: RpcId | undefined): StreamWriter {
  const wrap = envelope(requestId);
  return {
    frames: (batch) => batch.flatMap((logged) => framesOf(linesOf(logged.event, wrap), logged)),
    end: () => [],
  };
}

/** Recognises an event by its members. Undefined: a frame without an event. */
function readEvent(raw: unknown, env: ReadEnv): TaskEvent | undefined {
  const frame = object(raw);
  if (frame.artifact !== undefined) return { artifactUpdate: model.artifactUpdate.read(frame, env) };
  if (frame.status === undefined) return undefined;
  return frame.taskId === undefined && frame.id !== undefined
    ? { task: model.task.read(frame, env) }
    : { statusUpdate: model.statusUpdate.read(frame, env) };
}

type Wrap = (result: Json) => Frame['data'];

function linesOf(value: TaskEvent, wrap: Wrap): readonly Frame['data'][] {
  if (value.artifactUpdate !== undefined) return artifactLines(value.artifactUpdate, wrap);
  if (value.statusUpdate !== undefined) return [wrap(model.statusUpdate.write(value.statusUpdate))];
  return taskLines(value.task ?? taskOfMessage(value.message, ANSWER_ARTIFACT), wrap);
}

/** PromptKit has no task frame. Writes the task's status and artifacts one by one; a status that ends the stream comes last. */
function taskLines(task: Task, wrap: Wrap): readonly Frame['data'][] {
  const status = wrap(model.statusUpdate.write(statusOf(task)));
  const artifacts = (task.artifacts ?? []).flatMap((artifact) => artifactLines({ ...whereOf(task), artifact }, wrap));
  const last = isTerminal(task.status.state) || isInterrupted(task.status.state);
  return last ? [...artifacts, status] : [status, ...artifacts];
}

/** Splits an artifact whose line would be too long for PromptKit's scanner. */
function artifactLines(update: TaskArtifactUpdate, wrap: Wrap): readonly Frame['data'][] {
  const line = wrap(model.artifactUpdate.write(update));
  const { parts } = update.artifact;
  if (typeof line === 'string' && line.length <= LINE_CHARS_MAX) return [line];
  const halves = halvesOf(parts);
  if (halves === undefined) return [line];
  const { lastChunk: _, ...first } = update;
  return [
    ...artifactLines({ ...first, artifact: { ...update.artifact, parts: halves[0] } }, wrap),
    ...artifactLines({ ...update, append: true, artifact: { ...update.artifact, parts: halves[1] } }, wrap),
  ];
}

/** Half of the parts each, or half of the text where there is one plain text part. Undefined: it can't be divided. */
function halvesOf(parts: readonly Part[]): readonly [readonly Part[], readonly Part[]] | undefined {
  const half = parts.length >> 1;
  if (half > 0) return [parts.slice(0, half), parts.slice(half)];
  const [only] = parts;
  if (only === undefined || !isPlainText(only) || only.text.length < 2) return undefined;
  let at = only.text.length >> 1;
  // A character outside the Basic Multilingual Plane is two units: never cut between them.
  if (isLowSurrogate(only.text.charCodeAt(at))) at += 1;
  return at >= only.text.length ? undefined : [[{ text: only.text.slice(0, at) }], [{ text: only.text.slice(at) }]];
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function statusOf(task: Task): TaskStatusUpdate {
  return { ...whereOf(task), status: task.status, ...(task.metadata === undefined ? {} : { metadata: task.metadata }) };
}

function whereOf(task: Task): Pick<TaskStatusUpdate, 'taskId' | 'contextId'> {
  return { taskId: task.id, contextId: task.contextId ?? contextId('') };
}
