import type { Part, RawObject } from '#protocol';
import { isObject } from '#protocol';
import { filePart, objectAt, requiredText, textIn, wrongField } from './fields.ts';

/** One message of a chat. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly Part[];
}

/** The members of an OpenAI chat request that an agent can use. */
export interface ChatRequest {
  /** Name of the agent. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream: boolean;
  /** `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /**
   * `metadata.contextId` and `metadata.taskId`, with which a client that knows A2A chooses the context
   * or the task.
   */
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
}

/**
 * Checks and reads a request. Throws INVALID_PARAMS with the wrong member in `field`. Unknown members,
 * such as `temperature`, are ignored.
 */
export function readChat(raw: unknown): ChatRequest {
  const body = objectAt(raw, 'the body');
  if (typeof body['model'] !== 'string' || body['model'] === '') throw wrongField('model', 'must be the name of an agent');
  const { messages, n, metadata } = body;
  if (!Array.isArray(messages) || messages.length === 0) throw wrongField('messages', 'must be a list with at least one message');
  if (n !== undefined && n !== null && n !== 1) throw wrongField('n', 'must be 1: an agent gives one answer');
  const options = body['stream_options'];
  return {
    model: body['model'],
    messages: messages.flatMap((message, at) => readMessage(message, `messages[${at}]`)),
    stream: body['stream'] === true,
    includeUsage: isObject(options) && options['include_usage'] === true,
    contextId: textIn(metadata, 'contextId'),
    taskId: textIn(metadata, 'taskId'),
  };
}

/** Skips `tool` messages and the caller's tools: agents never call tools of the caller. */
function readMessage(value: unknown, where: string): readonly ChatMessage[] {
  const message = objectAt(value, where);
  const role = ROLES.get(message['role']);
  if (role === undefined) throw wrongField(`${where}.role`, 'must be system, developer, user, assistant or tool');
  if (role === 'tool') return [];
  const parts = readContent(message['content'], `${where}.content`);
  return parts.length === 0 ? [] : [{ role, parts }];
}

const ROLES: ReadonlyMap<unknown, ChatMessage['role'] | 'tool'> = new Map<unknown, ChatMessage['role'] | 'tool'>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
]);

function readContent(content: unknown, where: string): readonly Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  if (!Array.isArray(content)) throw wrongField(where, 'must be text or a list of parts');
  return content.map((part, at) => readPart(objectAt(part, `${where}[${at}]`), `${where}[${at}]`));
}

/** Reads one content part of OpenAI's types: text, image, audio or file. */
function readPart(part: RawObject, where: string): Part {
  switch (part['type']) {
    case 'text':
    case 'refusal':
      return { text: requiredText(part, part['type'], where) };
    case 'image_url':
      return filePart(requiredText(objectAt(part['image_url'], `${where}.image_url`), 'url', `${where}.image_url`), {
        mediaType: 'image/*',
        where: `${where}.image_url.url`,
      });
    case 'input_audio': {
      const audio = objectAt(part['input_audio'], `${where}.input_audio`);
      const format = textIn(audio, 'format') ?? 'wav';
      return { raw: requiredText(audio, 'data', `${where}.input_audio`), mediaType: `audio/${format === 'mp3' ? 'mpeg' : format}` };
    }
    case 'file': {
      const file = objectAt(part['file'], `${where}.file`);
      const filename = textIn(file, 'filename');
      const made = filePart(requiredText(file, 'file_data', `${where}.file`), {
        mediaType: 'application/octet-stream',
        where: `${where}.file.file_data`,
      });
      return filename === undefined ? made : { ...made, filename };
    }
    default:
      throw wrongField(`${where}.type`, 'must be text, image_url, input_audio or file');
  }
}
