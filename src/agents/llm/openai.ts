import type { Json, JsonObject, LlmContent } from '#protocol';
import { isObject, withoutEndSlashes } from '#protocol';
import { cutOff, ModelError, tooLong } from './errors.ts';
import type { ModelEndpoint } from './http.ts';
import { postForEvents } from './http.ts';
import type { ChatModel, ModelCall, ModelChunk, ModelMessage, ModelRequest } from './model.ts';

/**
 * A model behind OpenAI's chat completions API: OpenAI's own, or Ollama's, vLLM's, LM Studio's and most
 * vendors'. Default address: `https://api.openai.com/v1`.
 *
 * ```ts
 * const model = openAiModel({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama3.2' });
 * ```
 */
export function openAiModel(endpoint: ModelEndpoint): ChatModel {
  const { model, apiKey, headers, extra, fetch, baseUrl = 'https://api.openai.com/v1' } = endpoint;
  return {
    name: model,
    stream: (request, signal) =>
      chunksOf(
        postForEvents({
          url: `${withoutEndSlashes(baseUrl)}/chat/completions`,
          headers: { ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }), ...headers },
          body: { model, ...bodyOf(request), stream: true, stream_options: { include_usage: true }, ...extra },
          ...{ model, keyName: 'OPENAI_API_KEY', fetch, signal },
        }),
        model,
      ),
  };
}

function bodyOf({ system, messages, tools }: ModelRequest): JsonObject {
  return {
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages.map(messageOf)],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
        }),
  };
}

function messageOf(message: ModelMessage): JsonObject {
  if (message.role === 'user') return { role: 'user', content: contentOf(message.content) };
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.call.id, content: message.text };
  const calls = message.calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } }));
  return { role: 'assistant', content: message.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

/** Text alone as a string, which every server understands. */
function contentOf(content: readonly LlmContent[]): Json {
  if (content.every(({ kind }) => kind === 'text')) return content.map((item) => (item.kind === 'text' ? item.text : '')).join('\n');
  return content.map((item): JsonObject => {
    if (item.kind === 'text') return { type: 'text', text: item.text };
    const url = item.url ?? `data:${item.mediaType};base64,${item.data}`;
    if (item.kind === 'image') return { type: 'image_url', image_url: { url } };
    if (item.kind === 'audio' && item.data !== undefined) {
      return { type: 'input_audio', input_audio: { data: item.data, format: item.mediaType.includes('wav') ? 'wav' : 'mp3' } };
    }
    return { type: 'file', file: { filename: item.name ?? 'file', file_data: url } };
  });
}

const REASONS = { stop: 'stop', tool_calls: 'tools', length: 'length', content_filter: 'filter' } as const;

interface Answer {
  readonly calls: Map<number, { id: string; name: string; input: string }>;
  reason: keyof typeof REASONS | undefined;
}

async function* chunksOf(events: AsyncIterable<JsonObject>, model: string): AsyncGenerator<ModelChunk> {
  const answer: Answer = { calls: new Map(), reason: undefined };
  for await (const event of events) {
    if (isObject(event['error'])) throw errorIn(event['error'], model);
    const choice: Json | undefined = Array.isArray(event['choices']) ? event['choices'][0] : undefined;
    if (isObject(choice)) yield* textIn(choice, answer);
    if (isObject(event['usage'])) yield usageIn(event['usage']);
  }
  if (answer.reason === undefined) throw cutOff();
  for (const call of answer.calls.values()) yield { kind: 'call', call };
  yield { kind: 'end', reason: answer.calls.size > 0 ? 'tools' : REASONS[answer.reason] };
}

/** Yields the text of a chunk. Its calls and the reason of the end are added to the answer. */
function* textIn({ delta, finish_reason: reason }: JsonObject, answer: Answer): Generator<ModelChunk> {
  if (typeof reason === 'string') answer.reason = reasonOf(reason);
  if (!isObject(delta)) return;
  const { content, tool_calls: calls } = delta;
  if (typeof content === 'string' && content !== '') yield { kind: 'text', text: content };
  if (Array.isArray(calls)) for (const call of calls) addCall(answer.calls, call);
}

/** Some servers send an error in place of the next chunk. */
function errorIn(error: JsonObject, model: string): ModelError {
  const text = `${typeof error['code'] === 'string' ? error['code'] : ''} ${typeof error['message'] === 'string' ? error['message'] : ''}`;
  const cause = new Error(text.slice(0, 1000));
  return /context/i.test(text) ? new ModelError(tooLong(model), { problem: 'length', cause }) : cutOff(cause);
}

function reasonOf(text: string): keyof typeof REASONS {
  return text === 'tool_calls' || text === 'length' || text === 'content_filter' ? text : 'stop';
}

/** The name comes with the first piece of a call, its arguments in pieces. */
function addCall(calls: Map<number, { id: string; name: string; input: string }>, given: Json): void {
  if (!isObject(given)) return;
  const { index, id, function: called } = given;
  const at = typeof index === 'number' ? index : calls.size;
  const known = calls.get(at) ?? { id: typeof id === 'string' ? id : `call_${at}`, name: '', input: '' };
  if (isObject(called)) {
    if (typeof called['name'] === 'string') known.name += called['name'];
    if (typeof called['arguments'] === 'string') known.input += called['arguments'];
  }
  calls.set(at, known satisfies ModelCall);
}

function usageIn({ prompt_tokens: input, completion_tokens: output }: JsonObject): ModelChunk {
  return { kind: 'usage', inputTokens: typeof input === 'number' ? input : 0, outputTokens: typeof output === 'number' ? output : 0 };
}
