import type { Json, LlmContent } from '#protocol';
import { base64ToBytes, isObject } from '#protocol';
import { cutOff, errorOfResponse, ModelError, unreachable } from './errors.ts';
import type { ChatModel, ModelChunk, ModelMessage, ModelRequest } from './model.ts';

/** A language model of the Vercel AI SDK (specification v3 or v4), as its providers make them. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly modelId: string;
  doStream(options: object): PromiseLike<{ readonly stream: ReadableStream<object> }>;
}

/**
 * A model of the Vercel AI SDK.
 *
 * ```ts
 * import { openai } from '@ai-sdk/openai';
 * const agent = llmAgent({ model: aiSdkModel(openai('gpt-5')) });
 * ```
 */
export function aiSdkModel(model: AiSdkModel): ChatModel {
  return { name: model.modelId, stream: (request, signal) => streamed(model, request, signal) };
}

async function* streamed(model: AiSdkModel, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
  let isOver = false;
  try {
    const { stream } = await model.doStream({ ...callOf(request, model.specificationVersion), abortSignal: signal });
    for await (const part of stream) {
      if (!isObject(part)) continue;
      if (part['type'] === 'error') throw part['error'];
      isOver ||= part['type'] === 'finish';
      yield* chunksOf(part);
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw errorOf(thrown, model.modelId);
  }
  if (!isOver) throw cutOff();
}

function callOf({ system, messages, tools }: ModelRequest, version: string): object {
  const asked = messages.map((message) => messageOf(message, version));
  return {
    prompt: system === undefined ? asked : [{ role: 'system', content: system }, ...asked],
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', ...tool })), toolChoice: { type: 'auto' } }),
  };
}

function messageOf(message: ModelMessage, version: string): object {
  if (message.role === 'user') return { role: 'user', content: message.content.map((item) => partOf(item, version)) };
  if (message.role === 'assistant') {
    const text = message.text === '' ? [] : [{ type: 'text', text: message.text }];
    return {
      role: 'assistant',
      content: [...text, ...message.calls.map((call) => ({ ...named(call), type: 'tool-call', input: inputOf(call.input) }))],
    };
  }
  const output = { type: message.isError ? 'error-text' : 'text', value: message.text };
  return { role: 'tool', content: [{ ...named(message.call), type: 'tool-result', output }] };
}

function named({ id, name }: { readonly id: string; readonly name: string }): object {
  return { toolCallId: id, toolName: name };
}

/** Version 4 of the specification says what kind of data a file has; version 3 finds out. */
function partOf(item: LlmContent, version: string): object {
  if (item.kind === 'text') return { type: 'text', text: item.text };
  const { mediaType, name } = item;
  const about = { type: 'file', mediaType, ...(name === undefined ? {} : { filename: name }) };
  if (item.url !== undefined) {
    const url = new URL(item.url);
    return { ...about, data: version === 'v4' ? { type: 'url', url } : url };
  }
  const data = base64ToBytes(item.data);
  return { ...about, data: version === 'v4' ? { type: 'data', data } : data };
}

function inputOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const REASONS: ReadonlyMap<unknown, 'stop' | 'tools' | 'length' | 'filter'> = new Map([
  ['tool-calls', 'tools'],
  ['length', 'length'],
  ['content-filter', 'filter'],
]);

function* chunksOf(part: Readonly<Record<string, unknown>>): Generator<ModelChunk> {
  const { type, delta, toolCallId, toolName, input, usage, finishReason } = part;
  if (type === 'text-delta' && typeof delta === 'string') yield { kind: 'text', text: delta };
  if (type === 'tool-call' && part['providerExecuted'] !== true) {
    yield { kind: 'call', call: { id: String(toolCallId), name: String(toolName), input: typeof input === 'string' ? input : '{}' } };
  }
  if (type !== 'finish') return;
  const counts: Readonly<Record<string, unknown>> = isObject(usage) ? usage : {};
  yield { kind: 'usage', inputTokens: total(counts['inputTokens']), outputTokens: total(counts['outputTokens']) };
  yield { kind: 'end', reason: REASONS.get(isObject(finishReason) ? finishReason['unified'] : finishReason) ?? 'stop' };
}

function total(count: unknown): number {
  const value = isObject(count) ? count['total'] : count;
  return typeof value === 'number' ? value : 0;
}

/** `APICallError` of the AI SDK, known by its members: there may be several copies of the class. */
function errorOf(thrown: unknown, model: string): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const error: Readonly<Record<string, unknown>> = isObject(thrown) ? thrown : {};
  if (!(thrown instanceof Error) || typeof error['statusCode'] !== 'number')
    return thrown instanceof TypeError ? unreachable(thrown) : cutOff(thrown);
  const headers = new Headers(isObject(error['responseHeaders']) ? (error['responseHeaders'] as Record<string, string>) : {});
  const body = typeof error['responseBody'] === 'string' ? error['responseBody'] : thrown.message;
  return errorOfResponse({ model, status: error['statusCode'], headers, body, keyName: "the provider's key" });
}
