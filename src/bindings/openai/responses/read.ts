import type { JsonObject, Part, RawObject } from '#protocol';
import { isObject } from '#protocol';
import { filePart, notSupported, objectAt, optionalFlag, optionalText, requiredText, textIn, wrongField } from '../fields.ts';

/** One item of the input that an agent can use. */
export type InputItem =
  | { readonly role: 'user' | 'assistant' | 'system'; readonly parts: readonly Part[] }
  | { readonly role: 'tool'; readonly callId: string; readonly output: string };

/** The members of a Responses request that an agent can use. */
export interface CreateRequest {
  readonly model: string;
  readonly input: readonly InputItem[];
  readonly instructions: string | undefined;
  readonly previous: string | undefined;
  readonly conversation: string | undefined;
  readonly stream: boolean;
  readonly background: boolean;
  readonly store: boolean;
  /** Names of the functions that the caller can run. */
  readonly tools: ReadonlySet<string>;
  /** Members that the response repeats. They are stored with the message. */
  readonly echo: JsonObject;
}

/** Values that change nothing. Anything else of such a member is refused. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  temperature: (value) => value === 1,
  top_p: (value) => value === 1,
  top_logprobs: (value) => value === 0,
  truncation: (value) => value === 'disabled',
  include: (value) => Array.isArray(value) && value.length === 0,
  service_tier: (value) => value === 'auto' || value === 'default',
  tool_choice: (value) => value === 'auto',
  reasoning: (value) => isObject(value) && (value['effort'] ?? null) === null,
  text: (value) => isObject(value) && (value['verbosity'] ?? null) === null && isPlainFormat(value['format']),
};

function isPlainFormat(format: unknown): boolean {
  return format === undefined || format === null || (isObject(format) && format['type'] === 'text');
}

/** Labels that have no effect on the answer. */
const LABELS: ReadonlySet<string> = new Set([
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'parallel_tool_calls',
  'stream_options',
]);
const READ: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'previous_response_id', 'conversation', 'stream', 'background', 'store', 'tools', 'metadata'],
]);

/** Checks and reads a request. Throws INVALID_PARAMS with the member in `field`; nothing is dropped silently. */
export function readCreate(raw: unknown): CreateRequest {
  const body = objectAt(raw, 'the body');
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined || READ.has(name) || LABELS.has(name)) continue;
    if (NEUTRAL[name]?.(value) !== true) throw notSupported(name, 'the agent decides how it works');
  }
  const model = textIn(body, 'model');
  if (model === undefined) throw wrongField('model', 'must be the name of an agent');
  const previous = optionalText(body, 'previous_response_id');
  const conversation = conversationIn(body['conversation']);
  if (previous !== undefined && conversation !== undefined)
    throw wrongField('conversation', "can't be used together with previous_response_id");
  const [background, store] = [optionalFlag(body, 'background') ?? false, optionalFlag(body, 'store') ?? true];
  if (background && !store) throw wrongField('store', 'must be true in background mode');
  const tools = functionsIn(body['tools']);
  const instructions = optionalText(body, 'instructions') || undefined;
  return {
    ...{ model, instructions, previous, conversation, background, store },
    input: readInput(body['input']),
    stream: optionalFlag(body, 'stream') ?? false,
    tools: new Set(tools.map(({ name }) => String(name))),
    echo: {
      metadata: readMetadata(body['metadata']),
      tools,
      parallel_tool_calls: optionalFlag(body, 'parallel_tool_calls') ?? true,
      background,
      instructions: instructions ?? null,
      previous_response_id: previous ?? null,
      conversation: conversation === undefined ? null : { id: conversation },
    },
  };
}

function conversationIn(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const id = typeof value === 'string' ? value : textIn(value, 'id');
  if (id === undefined || id === '') throw wrongField('conversation', 'must be an id or an object with an id');
  return id;
}

/** Up to 16 pairs of text, as OpenAI's API has it. */
export function readMetadata(value: unknown): JsonObject {
  if (value === undefined || value === null) return {};
  const pairs = Object.entries(objectAt(value, 'metadata'));
  if (pairs.length > 16) throw wrongField('metadata', 'must have at most 16 members');
  for (const [name, text] of pairs) if (typeof text !== 'string') throw wrongField(`metadata.${name}`, 'must be text');
  return Object.fromEntries(pairs) as JsonObject;
}

function functionsIn(value: unknown): readonly JsonObject[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongField('tools', 'must be a list');
  return value.map((tool: unknown, at) => {
    const where = `tools[${at}]`;
    const given = objectAt(tool, where);
    if (given['type'] !== 'function') throw notSupported(`${where}.type`, `an agent has its own tools, and no ${String(given['type'])}`);
    requiredText(given, 'name', where);
    return given as JsonObject;
  });
}

function readInput(input: unknown): readonly InputItem[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ text: input }] }];
  if (!Array.isArray(input) || input.length === 0) throw wrongField('input', 'must be text or a list with at least one item');
  return input.flatMap((item: unknown, at) => readItem(objectAt(item, `input[${at}]`), `input[${at}]`));
}

const ROLES: ReadonlyMap<unknown, 'user' | 'assistant' | 'system'> = new Map<unknown, 'user' | 'assistant' | 'system'>([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

/** Items that repeat earlier output, which the context has already. */
const REPEATED: ReadonlySet<unknown> = new Set(['function_call', 'reasoning']);

function readItem(item: RawObject, where: string): readonly InputItem[] {
  const { type = 'message' } = item;
  if (REPEATED.has(type)) return [];
  if (type === 'function_call_output') {
    const { output } = item;
    if (typeof output !== 'string' && !Array.isArray(output)) throw wrongField(`${where}.output`, 'must be text or a list');
    const told = typeof output === 'string' ? output : JSON.stringify(output);
    return [{ role: 'tool', callId: requiredText(item, 'call_id', where), output: told }];
  }
  if (type !== 'message') throw notSupported(`${where}.type`, `an agent takes no ${String(type)}`);
  const role = ROLES.get(item['role']);
  if (role === undefined) throw wrongField(`${where}.role`, 'must be user, assistant, system or developer');
  const parts = readContent(item['content'], `${where}.content`);
  return parts.length === 0 ? [] : [{ role, parts }];
}

function readContent(content: unknown, where: string): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  if (!Array.isArray(content)) throw wrongField(where, 'must be text or a list of parts');
  return content.map((part: unknown, at) => readPart(objectAt(part, `${where}[${at}]`), `${where}[${at}]`));
}

function readPart(part: RawObject, where: string): Part {
  const { type } = part;
  if (type === 'input_text' || type === 'output_text' || type === 'text') return { text: requiredText(part, 'text', where) };
  if (type === 'refusal') return { text: requiredText(part, 'refusal', where) };
  if (textIn(part, 'file_id') !== undefined) throw notSupported(`${where}.file_id`, 'send the content, or a URL');
  if (type === 'input_image') {
    return filePart(requiredText(part, 'image_url', where), { mediaType: 'image/*', where: `${where}.image_url` });
  }
  if (type === 'input_file') {
    const [data, filename] = [textIn(part, 'file_data'), textIn(part, 'filename')];
    const name = data === undefined ? 'file_url' : 'file_data';
    const made = filePart(data ?? requiredText(part, 'file_url', where), {
      mediaType: 'application/octet-stream',
      where: `${where}.${name}`,
    });
    return filename === undefined ? made : { ...made, filename };
  }
  throw notSupported(`${where}.type`, 'use input_text, input_image or input_file');
}
