import type { TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import type { Json, JsonDraft, JsonObject } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { FilePart, Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import { isInterrupted, isTerminal } from '../../states.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import { KEBAB_NAMES } from '../shared/kebab-states.ts';
import { wrapData } from '../shared/wire-parts.ts';

/**
 * `wire`: what SAM's code sends, 0.3's models by their JSON names without nulls. `documented`: what its
 * documents show, the same models by their Python names, parts without `kind`, and an artifact that is
 * one file as `{id,name,uri,…}`. Both write every state of 0.3: the documents name five, but the code
 * has all of them and sends `input-required` itself.
 */
export type Spelling = 'wire' | 'documented';

/** `taskId` differs from the message's own where a request names its task. */
export function writeMessage(message: Message, spelling: Spelling, taskId: string | undefined = message.taskId): JsonObject {
  const wire = spelling === 'wire';
  const role = message.role === 'ROLE_USER' ? 'user' : 'agent';
  const parts = writeParts(message.parts, spelling);
  const out: JsonDraft = wire
    ? { kind: 'message', messageId: message.messageId, role, parts }
    : { kind: 'message', message_id: message.messageId, role, parts };
  if (message.contextId !== undefined) out[wire ? 'contextId' : 'context_id'] = message.contextId;
  if (taskId !== undefined) out[wire ? 'taskId' : 'task_id'] = taskId;
  if (message.metadata !== undefined) out.metadata = message.metadata;
  if (message.extensions !== undefined) out.extensions = message.extensions;
  if (message.referenceTaskIds !== undefined) out[wire ? 'referenceTaskIds' : 'reference_task_ids'] = message.referenceTaskIds;
  return out;
}

function writeParts(parts: readonly Part[], spelling: Spelling): Json[] {
  const out: Json[] = [];
  for (const part of parts) out.push(writePart(part, spelling));
  return out;
}

/** The wire has `kind`, SAM's documentation does not. */
function writePart(part: Part, spelling: Spelling): Json {
  const wire = spelling === 'wire';
  if (part.data !== undefined) return wire ? { kind: 'data', ...wrapData(part) } : wrapData(part);
  let out: JsonDraft;
  if (part.text === undefined) out = wire ? { kind: 'file', file: writeFile(part, 'mimeType') } : { file: writeFile(part, 'mime_type') };
  else out = wire ? { kind: 'text', text: part.text } : { text: part.text };
  if (part.metadata !== undefined) out.metadata = part.metadata;
  return out;
}

function writeFile(part: FilePart, mediaType: 'mimeType' | 'mime_type'): Json {
  const file: JsonDraft = part.url === undefined ? { bytes: part.raw } : { uri: part.url };
  if (part.filename !== undefined) file.name = part.filename;
  if (part.mediaType !== undefined) file[mediaType] = part.mediaType;
  return file;
}

function writeStatus(status: TaskStatus, spelling: Spelling): Json {
  const out: JsonDraft = { state: KEBAB_NAMES[status.state] };
  if (status.message !== undefined) out.message = writeMessage(status.message, spelling);
  if (status.timestamp !== undefined) out.timestamp = status.timestamp;
  return out;
}

function writeArtifact(artifact: Artifact, spelling: Spelling): Json {
  const out: JsonDraft = spelling === 'wire' ? { artifactId: artifact.artifactId } : { id: artifact.artifactId };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  if (spelling === 'wire' || !writeAsFile(artifact, out)) out.parts = writeParts(artifact.parts, spelling);
  if (artifact.metadata !== undefined) out.metadata = artifact.metadata;
  if (artifact.extensions !== undefined) out.extensions = artifact.extensions;
  return out;
}

/**
 * The documented artifact holds one file, whose name is the artifact's. Text, data, several parts, or a
 * file of another name keep `parts` beside the documented `id`, because making a file of them would
 * change them.
 */
function writeAsFile(artifact: Artifact, out: JsonDraft): boolean {
  const part = artifact.parts[0];
  if (part === undefined || artifact.parts.length !== 1 || part.filename !== artifact.name) return false;
  if (part.url !== undefined) {
    if (part.metadata !== undefined) return false;
    out.uri = part.url;
  } else if (part.raw !== undefined) {
    const uri = part.metadata?.uri;
    if (part.metadata !== undefined && (typeof uri !== 'string' || Object.keys(part.metadata).length !== 1)) return false;
    if (typeof uri === 'string') out.uri = uri;
    out.inline_data = { data: part.raw };
  } else return false;
  if (part.mediaType !== undefined) out.mime_type = part.mediaType;
  return true;
}

/** The model requires `contextId`, so a task without one has an empty text there. */
export function writeTask(task: Task, spelling: Spelling): Json {
  const contextId = task.contextId ?? '';
  const status = writeStatus(task.status, spelling);
  const out: JsonDraft =
    spelling === 'wire' ? { kind: 'task', id: task.id, contextId, status } : { kind: 'task', id: task.id, context_id: contextId, status };
  if (task.artifacts !== undefined) {
    const artifacts: Json[] = [];
    for (const artifact of task.artifacts) artifacts.push(writeArtifact(artifact, spelling));
    out.artifacts = artifacts;
  }
  if (task.history !== undefined) {
    const history: Json[] = [];
    for (const message of task.history) history.push(writeMessage(message, spelling));
    out.history = history;
  }
  if (task.metadata !== undefined) out.metadata = task.metadata;
  return out;
}

export function writeStatusUpdate(update: TaskStatusUpdate, spelling: Spelling, final: boolean): Json {
  const { taskId, contextId } = update;
  const status = writeStatus(update.status, spelling);
  const out: JsonDraft =
    spelling === 'wire'
      ? { kind: 'status-update', taskId, contextId, status, final }
      : { kind: 'status-update', task_id: taskId, context_id: contextId, status, final };
  if (update.metadata !== undefined) out.metadata = update.metadata;
  return out;
}

export function writeArtifactUpdate(update: TaskArtifactUpdate, spelling: Spelling): Json {
  const { taskId, contextId } = update;
  const artifact = writeArtifact(update.artifact, spelling);
  const out: JsonDraft =
    spelling === 'wire'
      ? { kind: 'artifact-update', taskId, contextId, artifact }
      : { kind: 'artifact-update', task_id: taskId, context_id: contextId, artifact };
  if (update.append === true) out.append = true;
  if (update.lastChunk === true) out[spelling === 'wire' ? 'lastChunk' : 'last_chunk'] = true;
  if (update.metadata !== undefined) out.metadata = update.metadata;
  return out;
}

/** The event with `final` where SAM's callers stop reading. */
export function writeEvent(event: TaskEvent, spelling: Spelling): Json {
  if (event.artifactUpdate !== undefined) return writeArtifactUpdate(event.artifactUpdate, spelling);
  if (event.statusUpdate !== undefined) return writeStatusUpdate(event.statusUpdate, spelling, isAnswer(event.statusUpdate.status.state));
  if (event.task !== undefined) return writeTask(event.task, spelling);
  return writeMessage(event.message, spelling);
}

/** Whether the status is SAM's answer to the request: the task has ended or waits for the caller. */
export function isAnswer(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
