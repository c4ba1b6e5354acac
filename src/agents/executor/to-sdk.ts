import type { Artifact, Message, Part, Task } from '#protocol';
import { base64ToBytes, TASK_STATES_BY_NUMBER } from '#protocol';
import type { SdkArtifact, SdkContent, SdkMessage, SdkPart, SdkTask } from './sdk.ts';

const ROLES = { ROLE_USER: 1, ROLE_AGENT: 2 } as const;

/** A task in the SDK's form, where absent members are empty. */
export function writeTask(task: Task): SdkTask {
  const { status } = task;
  return {
    id: task.id,
    contextId: task.contextId ?? '',
    status: {
      state: TASK_STATES_BY_NUMBER.indexOf(status.state),
      message: status.message === undefined ? undefined : writeMessage(status.message),
      timestamp: status.timestamp,
    },
    artifacts: (task.artifacts ?? []).map(writeArtifact),
    history: (task.history ?? []).map(writeMessage),
    metadata: structuredClone(task.metadata),
  };
}

/** A message in the SDK's form. */
export function writeMessage(message: Message): SdkMessage {
  return {
    messageId: message.messageId,
    contextId: message.contextId ?? '',
    taskId: message.taskId ?? '',
    role: ROLES[message.role],
    parts: message.parts.map(writePart),
    metadata: structuredClone(message.metadata),
    extensions: [...(message.extensions ?? [])],
    referenceTaskIds: [...(message.referenceTaskIds ?? [])],
  };
}

/** An artifact in the SDK's form. */
export function writeArtifact(artifact: Artifact): SdkArtifact {
  return {
    artifactId: artifact.artifactId,
    name: artifact.name ?? '',
    description: artifact.description ?? '',
    parts: artifact.parts.map(writePart),
    metadata: structuredClone(artifact.metadata),
    extensions: [...(artifact.extensions ?? [])],
  };
}

function writePart(part: Part): SdkPart {
  return {
    content: writeContent(part),
    metadata: structuredClone(part.metadata),
    filename: part.filename ?? '',
    mediaType: part.mediaType ?? '',
  };
}

function writeContent(part: Part): SdkContent {
  if (part.text !== undefined) return { $case: 'text', value: part.text };
  if (part.url !== undefined) return { $case: 'url', value: part.url };
  if (part.raw !== undefined) return { $case: 'raw', value: asBuffer(base64ToBytes(part.raw)) };
  return { $case: 'data', value: structuredClone(part.data) };
}

/** On Node, executors expect a Buffer and call its methods. Elsewhere they get plain bytes. */
function asBuffer(bytes: Uint8Array): Uint8Array {
  return typeof Buffer === 'undefined' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
