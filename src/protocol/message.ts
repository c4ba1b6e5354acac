import type { ContextId, MessageId, TaskId } from './ids.ts';
import { messageId } from './ids.ts';
import type { Json, Metadata } from './json.ts';
import type { DataPart, FilePart, Part } from './parts.ts';
import { createDataPart, createTextPart, isDataPart, isFilePart, isTextPart } from './parts.ts';

/** Author of a message: the caller (`ROLE_USER`) or the agent. */
export type Role = 'ROLE_USER' | 'ROLE_AGENT';

/**
 * A message of the caller or of the agent (A2A 1.0.1 §4.1.4).
 *
 * @example `{ messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] }`
 */
export interface Message {
  /**
   * Chosen by the sender. A second send with the same id can count as a repetition of the first one,
   * which starts nothing new (docs/engine.md).
   */
  readonly messageId: MessageId;
  /** The author. */
  readonly role: Role;
  /** The content, at least one part. */
  readonly parts: readonly Part[];
  /** The conversation. Absent in the first message: the agent then chooses one. */
  readonly contextId?: ContextId;
  /** The task that this message continues. Absent: the message starts a new task. */
  readonly taskId?: TaskId;
  /** Free members. Those of extensions have names that start with the URI of the extension. */
  readonly metadata?: Metadata;
  /** URIs of the extensions that this message uses. */
  readonly extensions?: readonly string[];
  /** Other tasks that the message refers to. */
  readonly referenceTaskIds?: readonly TaskId[];
}

/** Optional members of a message that the `create…Message` functions build. */
export interface MessageOptions {
  /** The task that the message continues or belongs to. */
  readonly taskId?: TaskId;
  /** The conversation that the message belongs to. */
  readonly contextId?: ContextId;
  /** Default: a random UUID. */
  readonly messageId?: MessageId;
  /** Free members. */
  readonly metadata?: Metadata;
}

/**
 * A message of the agent with one text part.
 *
 * ```ts
 * const message = createAgentTextMessage('Done.', { contextId });
 * ```
 */
export function createAgentTextMessage(text: string, options: MessageOptions = {}): Message {
  return createAgentPartsMessage([createTextPart(text)], options);
}

/**
 * A message of the agent with one data part, that is, any JSON value.
 *
 * ```ts
 * const message = createAgentDataMessage({ total: 42 });
 * ```
 */
export function createAgentDataMessage(data: Json, options: MessageOptions = {}): Message {
  return createAgentPartsMessage([createDataPart(data)], options);
}

/** A message of the agent with the given parts. */
export function createAgentPartsMessage(parts: readonly Part[], options: MessageOptions = {}): Message {
  return createMessage('ROLE_AGENT', parts, options);
}

/**
 * A message of the caller, from a text or from parts.
 *
 * ```ts
 * const message = createUserMessage('Summarise this file', { contextId });
 * ```
 */
export function createUserMessage(content: string | readonly Part[], options: MessageOptions = {}): Message {
  return createMessage('ROLE_USER', typeof content === 'string' ? [createTextPart(content)] : content, options);
}

/** The text parts of a message, joined by newlines. Empty when it has none. */
export function getTextFromMessage(message: Message): string {
  return message.parts
    .filter(isTextPart)
    .map((part) => part.text)
    .join('\n');
}

/** The data parts (JSON values) of a message, in order. */
export function getDataPartsFromMessage(message: Message): readonly DataPart[] {
  return message.parts.filter(isDataPart);
}

/** The file parts of a message, in order: inline bytes (`raw`) and links (`url`). */
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
