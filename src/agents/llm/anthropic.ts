import type { Json, JsonObject, LlmContent } from '#protocol';
import { isObject, withoutEndSlashes } from '#protocol';
import { cutOff, ModelError, tooLong } from './errors.ts';
import type { ModelEndpoint } from './http.ts';
import { postForEvents } from './http.ts';
import type { ChatModel, ModelChunk, ModelMessage, ModelRequest } from './model.ts';

/** Where a model with Anthropic's API is. */
export interface AnthropicEndpoint extends ModelEndpoint {
  /** Maximum length of an answer, in tokens. Anthropic's API demands one. Default 8192. */
  readonly maxTokens?: number;
}

/**
 * A model behind Anthropic's messages API. Default address: `https://api.anthropic.com`.
 *
 * ```ts
 * const model = anthropicModel({ model: 'claude-sonnet-5', apiKey: process.env.ANTHROPIC_API_KEY });
 * ```
 */
export function anthropicModel(endpoint: AnthropicEndpoint): ChatModel {
  const { model, apiKey, headers, extra, fetch, maxTokens = 8192, baseUrl = 'https://api.anthropic.com' } = endpoint;
  const root = withoutEndSlashes(baseUrl);
  return {
    name: model,
    stream: (request, signal) =>
      chunksOf(
        postForEvents({
          url: root.endsWith('/v1') ? `${root}/messages` : `${root}/v1/messages`,
          headers: { 'anthropic-version': '2023-06-01', ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }), ...headers },
          body: { model, max_tokens: maxTokens, ...bodyOf(request), stream: true, ...extra },
          ...{ model, keyName: 'ANTHROPIC_API_KEY', fetch, signal },
        }),
        model,
      ),
  };
}

function bodyOf({ system, messages, tools }: ModelRequest): JsonObject {
  return {
    ...(system === undefined ? {} : { system }),
    messages: alternating(messages),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })) }),
  };
}

interface Said {
  readonly role: 'user' | 'assistant';
  readonly content: Json[];
}

/** The API wants the roles to alternate, and a user's message first. Messages without content are left out. */
function alternating(messages: readonly ModelMessage[]): Json[] {
  const all: Said[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message);
    if (content.length === 0) continue;
    if (all.length === 0 && role === 'assistant')
      all.push({ role: 'user', content: [{ type: 'text', text: '(earlier messages are left out)' }] });
    const last = all.at(-1);
    if (last?.role === role) last.content.push(...content);
    else all.push({ role, content });
  }
  return all.map(({ role, content }) => ({ role, content }));
}

function blocksOf(message: ModelMessage): Json[] {
  if (message.role === 'user') return message.content.flatMap(blockOf);
  if (message.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: message.call.id, content: message.text, ...(message.isError ? { is_error: true } : {}) }];
  }
  const uses = message.calls.map(({ id, name, input }): Json => ({ type: 'tool_use', id, name, input: objectIn(input) }));
  return message.text === '' ? uses : [{ type: 'text', text: message.text }, ...uses];
}

/** The API refuses empty texts. */
function blockOf(item: LlmContent): Json[] {
  if (item.kind === 'text') return item.text === '' ? [] : [{ type: 'text', text: item.text }];
  const source: Json =
    item.url === undefined ? { type: 'base64', media_type: item.mediaType, data: item.data } : { type: 'url', url: item.url };
  if (item.kind === 'image') return [{ type: 'image', source }];
  if (item.mediaType === 'application/pdf') return [{ type: 'document', source }];
  return [{ type: 'text', text: `[${item.name ?? 'a file'}, ${item.mediaType}: this model can't read it]` }];
}

function objectIn(text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

const REASONS: ReadonlyMap<Json | undefined, 'stop' | 'tools' | 'length' | 'filter'> = new Map([
  ['tool_use', 'tools'],
  ['max_tokens', 'length'],
  ['refusal', 'filter'],
]);

interface Answer {
  call: { readonly id: string; readonly name: string; input: string } | undefined;
  inputTokens: number;
  reason: Json | undefined;
}

async function* chunksOf(events: AsyncIterable<JsonObject>, model: string): AsyncGenerator<ModelChunk> {
  const answer: Answer = { call: undefined, inputTokens: 0, reason: undefined };
  for await (const event of events) {
    if (event['type'] === 'error') throw errorIn(event['error'], model);
    yield* chunksIn(event, answer);
  }
}

function* chunksIn(event: JsonObject, answer: Answer): Generator<ModelChunk> {
  const { type, delta, content_block: block, message, usage } = event;
  if (type === 'message_start' && isObject(message)) answer.inputTokens = tokens(message['usage'], 'input_tokens');
  else if (type === 'content_block_start' && isObject(block)) answer.call = callIn(block);
  else if (type === 'content_block_delta' && isObject(delta)) yield* deltaIn(delta, answer);
  else if (type === 'content_block_stop' && answer.call !== undefined) {
    const { input, ...call } = answer.call;
    answer.call = undefined;
    yield { kind: 'call', call: { ...call, input: input === '' ? '{}' : input } };
  } else if (type === 'message_delta' && isObject(delta)) {
    answer.reason = delta['stop_reason'];
    yield { kind: 'usage', inputTokens: answer.inputTokens, outputTokens: tokens(usage, 'output_tokens') };
  } else if (type === 'message_stop') yield { kind: 'end', reason: REASONS.get(answer.reason) ?? 'stop' };
}

function callIn({ type, id, name }: JsonObject): Answer['call'] {
  return type === 'tool_use' ? { id: String(id), name: String(name), input: '' } : undefined;
}

/** A text, or a piece of a tool's input. */
function* deltaIn({ text, partial_json: piece }: JsonObject, { call }: Answer): Generator<ModelChunk> {
  if (typeof text === 'string' && text !== '') yield { kind: 'text', text };
  if (call !== undefined && typeof piece === 'string') call.input += piece;
}

function tokens(usage: Json | undefined, member: string): number {
  const count = isObject(usage) ? usage[member] : undefined;
  return typeof count === 'number' ? count : 0;
}

function errorIn(error: Json | undefined, model: string): ModelError {
  const text = JSON.stringify(error ?? '').slice(0, 1000);
  const cause = new Error(text);
  if (/too long|context/i.test(text)) return new ModelError(tooLong(model), { problem: 'length', cause });
  if (/overloaded/i.test(text)) return new ModelError('The model is overloaded. Try again later.', { problem: 'busy', cause });
  return cutOff(cause);
}
