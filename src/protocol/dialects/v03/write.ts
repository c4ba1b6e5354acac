import type { TaskArtifactUpdate, TaskEvent, TaskStatusUpdate } from '../../events.ts';
import type { JsonDraft } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import { isTerminal } from '../../states.ts';
import type { Artifact, Task, TaskStatus } from '../../task.ts';
import type { Form } from './form.ts';

/** `closes`: the stream ends with this event if its state allows it. */
export interface Writers {
  readonly message: (message: Message) => JsonDraft;
  readonly task: (task: Task) => JsonDraft;
  readonly event: (event: TaskEvent, closes: boolean) => JsonDraft;
}

/** Members that a form or an older release lacks, as `Type.member`. */
export type MissingMembers = ReadonlySet<string>;

/** Builds the writers of one form, without the members that the release lacks. */
export function writers(form: Form, missing: MissingMembers): Writers {
  const parts = partsWriter(form);
  const message = messageWriter(form, { missing, parts });
  const status = statusWriter(form, message);
  const artifact = artifactWriter(missing, parts);
  const task = taskWriter(form, { status, artifact, message });
  const statusUpdate = statusUpdateWriter(form, status);
  const artifactUpdate = artifactUpdateWriter(form, artifact);
  const wrap = (name: string, body: JsonDraft): JsonDraft => (form.kinds ? body : { [name]: body });
  const event = (value: TaskEvent, closes: boolean): JsonDraft => {
    if (value.artifactUpdate !== undefined) return wrap('artifactUpdate', artifactUpdate(value.artifactUpdate));
    if (value.statusUpdate !== undefined) return wrap('statusUpdate', statusUpdate(value.statusUpdate, closes));
    if (value.task !== undefined) return wrap('task', task(value.task));
    return wrap('message', message(value.message));
  };
  return { message, task, event };
}

type PartsWriter = (parts: readonly Part[]) => JsonDraft[];

function partsWriter(form: Form): PartsWriter {
  return (parts) => {
    const out: JsonDraft[] = [];
    for (const part of parts) out.push(form.writePart(part));
    return out;
  };
}

/** Writes messages without the members that this release does not have yet. */
function messageWriter(form: Form, own: { readonly missing: MissingMembers; readonly parts: PartsWriter }): Writers['message'] {
  const hasExtensions = !own.missing.has('Message.extensions');
  const hasReferences = !own.missing.has('Message.referenceTaskIds');
  return (message) => {
    const role = form.roleName[message.role];
    const parts = own.parts(message.parts);
    const out: JsonDraft = form.kinds
      ? { kind: 'message', messageId: message.messageId, role, parts }
      : { messageId: message.messageId, role, content: parts };
    if (message.contextId !== undefined) out.contextId = message.contextId;
    if (message.taskId !== undefined) out.taskId = message.taskId;
    if (message.metadata !== undefined) out.metadata = message.metadata;
    if (hasExtensions && message.extensions !== undefined) out.extensions = message.extensions;
    if (hasReferences && message.referenceTaskIds !== undefined) out.referenceTaskIds = message.referenceTaskIds;
    return out;
  };
}

function statusWriter(form: Form, message: Writers['message']): (status: TaskStatus) => JsonDraft {
  return (status) => {
    const out: JsonDraft = { state: form.stateName[status.state] };
    if (status.message !== undefined) out.message = message(status.message);
    if (status.timestamp !== undefined) out.timestamp = status.timestamp;
    return out;
  };
}

function artifactWriter(missing: MissingMembers, parts: PartsWriter): (artifact: Artifact) => JsonDraft {
  const hasExtensions = !missing.has('Artifact.extensions');
  return (artifact) => {
    const out: JsonDraft = { artifactId: artifact.artifactId, parts: parts(artifact.parts) };
    if (artifact.name !== undefined) out.name = artifact.name;
    if (artifact.description !== undefined) out.description = artifact.description;
    if (artifact.metadata !== undefined) out.metadata = artifact.metadata;
    if (hasExtensions && artifact.extensions !== undefined) out.extensions = artifact.extensions;
    return out;
  };
}

interface TaskWriters {
  readonly status: (status: TaskStatus) => JsonDraft;
  readonly artifact: (artifact: Artifact) => JsonDraft;
  readonly message: Writers['message'];
}

function taskWriter(form: Form, write: TaskWriters): Writers['task'] {
  return (task) => {
    const status = write.status(task.status);
    // contextId is required (A2A 0.3.0 a2a.json Task), so a task without one gets its own id.
    const contextId = task.contextId ?? task.id;
    const out: JsonDraft = form.kinds ? { kind: 'task', id: task.id, contextId, status } : { id: task.id, contextId, status };
    if (task.artifacts !== undefined) {
      const artifacts: JsonDraft[] = [];
      for (const artifact of task.artifacts) artifacts.push(write.artifact(artifact));
      out.artifacts = artifacts;
    }
    if (task.history !== undefined) {
      const history: JsonDraft[] = [];
      for (const message of task.history) history.push(write.message(message));
      out.history = history;
    }
    if (task.metadata !== undefined) out.metadata = task.metadata;
    return out;
  };
}

/**
 * `final` tells 0.x clients that nothing follows, and they stop reading there. A stream closes at a
 * terminal state, or where its service says so.
 */
function statusUpdateWriter(form: Form, status: TaskWriters['status']): (update: TaskStatusUpdate, closes: boolean) => JsonDraft {
  return (update, closes) => {
    const { taskId, contextId } = update;
    const final = closes || isTerminal(update.status.state);
    const body = status(update.status);
    const out: JsonDraft = form.kinds
      ? { kind: 'status-update', taskId, contextId, status: body, final }
      : { taskId, contextId, status: body, final };
    if (update.metadata !== undefined) out.metadata = update.metadata;
    return out;
  };
}

function artifactUpdateWriter(form: Form, artifact: TaskWriters['artifact']): (update: TaskArtifactUpdate) => JsonDraft {
  return (update) => {
    const { taskId, contextId } = update;
    const body = artifact(update.artifact);
    const out: JsonDraft = form.kinds
      ? { kind: 'artifact-update', taskId, contextId, artifact: body }
      : { taskId, contextId, artifact: body };
    if (update.append === true) out.append = true;
    if (update.lastChunk === true) out.lastChunk = true;
    if (update.metadata !== undefined) out.metadata = update.metadata;
    return out;
  };
}
