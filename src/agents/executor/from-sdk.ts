import type { Artifact, Json, Message, Metadata, Mutable, Part, TaskState, TaskStatus } from '#protocol';
import { A2AError, artifactId, bytesToBase64, contextId, messageId, randomIds, TASK_STATES_BY_NUMBER, taskId } from '#protocol';
import type { SdkArtifact, SdkMessage, SdkPart, SdkStatus, SdkStruct } from './sdk.ts';

/** Everything is copied, because an executor may keep changing what it has published. */
export function readMessage(from: SdkMessage): Message {
  const out: Mutable<Message> = {
    messageId: messageId(from.messageId || randomIds.next()),
    role: 'ROLE_AGENT',
    parts: from.parts.map(readPart),
  };
  if (isText(from.contextId)) out.contextId = contextId(from.contextId);
  if (isText(from.taskId)) out.taskId = taskId(from.taskId);
  const metadata = readStruct(from.metadata);
  if (metadata !== undefined) out.metadata = metadata;
  if (isList(from.extensions)) out.extensions = [...from.extensions];
  if (isList(from.referenceTaskIds)) out.referenceTaskIds = from.referenceTaskIds.map(taskId);
  return out;
}

export function readArtifact(from: SdkArtifact): Artifact {
  const out: Mutable<Artifact> = { artifactId: artifactId(from.artifactId || randomIds.next()), parts: from.parts.map(readPart) };
  if (isText(from.name)) out.name = from.name;
  if (isText(from.description)) out.description = from.description;
  const metadata = readStruct(from.metadata);
  if (metadata !== undefined) out.metadata = metadata;
  if (isList(from.extensions)) out.extensions = [...from.extensions];
  return out;
}

export function readStatus(from: SdkStatus | undefined): TaskStatus {
  const state = readState(from?.state);
  return from?.message === undefined ? { state } : { state, message: readMessage(from.message) };
}

/** `{}` is the SDK's form of "none". */
export function readStruct(from: SdkStruct | undefined): Metadata | undefined {
  return from === undefined || from === null || Object.keys(from).length === 0 ? undefined : (copy(from) as Metadata);
}

function readPart(from: SdkPart): Part {
  const metadata = readStruct(from.metadata);
  return {
    ...readContent(from.content),
    ...(isText(from.filename) ? { filename: from.filename } : {}),
    ...(isText(from.mediaType) ? { mediaType: from.mediaType } : {}),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function readContent(content: SdkPart['content']): Part {
  switch (content?.$case) {
    case 'text':
      return { text: content.value };
    case 'url':
      return { url: content.value };
    case 'raw':
      return { raw: bytesToBase64(content.value) };
    case 'data':
      return { data: copy(content.value) };
    default:
      throw new A2AError('INVALID_AGENT_RESPONSE', 'the executor published a part without content');
  }
}

function readState(state: number | undefined): TaskState {
  const found = TASK_STATES_BY_NUMBER[state ?? 0];
  if (found === undefined || state === 0) throw new A2AError('INVALID_AGENT_RESPONSE', `the executor published the unknown state ${state}`);
  return found;
}

function copy(value: unknown): Json {
  return JSON.parse(JSON.stringify(value) ?? 'null');
}

/** The SDK's types promise text and lists; a caller from JavaScript may leave them out. */
function isText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function isList(value: string[] | undefined): value is string[] {
  return value !== undefined && value.length > 0;
}
