import type { ContextId, MessageId, TaskId } from './ids.ts';
import { messageId } from './ids.ts';
import type { Json, Metadata } from './json.ts';
import type { DataPart, FilePart, Part } from './parts.ts';
import { createDataPart, createTextPart, isDataPart, isFilePart, isTextPart } from './parts.ts';

export type Role = 'ROLE_USER' | 'ROLE_AGENT';

/** A2A 1.0.1 §4.1.4. */
export interface Message {
  readonly messageId: MessageId;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly contextId?: ContextId;
  readonly taskId?: TaskId;
  readonly metadata?: Metadata;
  readonly extensions?: readonly string[];
  readonly referenceTaskIds?: readonly TaskId[];
}

export interface MessageOptions {
  readonly taskId?: TaskId;
  readonly contextId?: ContextId;
  readonly messageId?: MessageId;
  readonly metadata?: Metadata;
}

export function createAgentTextMessage(text: string, options: MessageOptions = {}): Message {
  return createAgentPartsMessage([createTextPart(text)], options);
}

export function createAgentDataMessage(data: Json, options: MessageOptions = {}): Message {
  return createAgentPartsMessage([createDataPart(data)], options);
}

export function createAgentPartsMessage(parts: readonly Part[], options: MessageOptions = {}): Message {
  return createMessage('ROLE_AGENT', parts, options);
}

export function createUserMessage(content: string | readonly Part[], options: MessageOptions = {}): Message {
  return createMessage('ROLE_USER', typeof content === 'string' ? [createTextPart(content)] : content, options);
}

/** The texts of a message, joined by newlines as SAM's helper does. */
export function getTextFromMessage(message: Message): string {
  return message.parts
    .filter(isTextPart)
    .map((part) => part.text)
    .join('\n');
}

export function getDataPartsFromMessage(message: Message): readonly DataPart[] {
  return message.parts.filter(isDataPart);
}

export function getFilePartsFromMessage(message: Message): readonly FilePart[] {
  return message.parts.filter(isFilePart);
}

function createMessage(role: Role, parts: readonly Part[], options: MessageOptions): Message {
  return {
    messageId: options.messageId ?? messageId(crypto.randomUUID()),
    role,
    parts,
    ...(options.contextId === undefined ? {} : { contextId: options.contextId }),
    ...(options.taskId === undefined ? {} : { taskId: options.taskId }),
    ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
  };
}
