import type { Fetch, Json, JsonObject } from '#protocol';
import { isObject, lineSplitter } from '#protocol';
import { cutOff, errorOfResponse, ModelError, unreachable } from './errors.ts';

/** Where a model is, and how it is called. */
export interface ModelEndpoint {
  /** Name of the model, as its endpoint knows it. */
  readonly model: string;
  /** Address of the API, for example `https://api.openai.com/v1`. */
  readonly baseUrl?: string;
  /** The key. Absent: none is sent, as for a model on this machine. */
  readonly apiKey?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Members that are added to every request, for example `{ temperature: 0 }`. */
  readonly extra?: JsonObject;
  /** Default: the platform's. */
  readonly fetch?: Fetch;
}

/** A request to a model's endpoint. */
export interface ModelPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly model: string;
  /** The environment variable with the key. */
  readonly keyName: string;
  readonly fetch: Fetch | undefined;
  readonly signal: AbortSignal;
}

/** How much of an error page is read. */
const ERROR_CHARS_MAX = 4000;

/** Sends the request and yields the data of each server-sent event. Throws a `ModelError`. */
export async function* postForEvents(post: ModelPost): AsyncGenerator<JsonObject> {
  const { signal } = post;
  const response = await responseTo(post);
  if (response.body === null) throw cutOff();
  const splitter = lineSplitter();
  try {
    for await (const bytes of response.body) for (const { text } of splitter.push(bytes)) yield* dataIn(text);
  } catch (thrown) {
    if (signal.aborted || thrown instanceof ModelError) throw thrown;
    throw cutOff(thrown);
  }
  for (const { text } of splitter.end()) yield* dataIn(text);
}

async function responseTo({ url, headers, body, model, keyName, fetch = globalThis.fetch, signal }: ModelPost): Promise<Response> {
  const init: RequestInit = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  };
  let response: Response;
  try {
    // A redirect could carry the key to another server.
    response = await fetch(new Request(url, { ...init, redirect: 'error' }));
  } catch (thrown) {
    signal.throwIfAborted();
    throw unreachable(thrown);
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => '');
  throw errorOfResponse({ model, status: response.status, headers: response.headers, body: text.slice(0, ERROR_CHARS_MAX), keyName });
}

/** The JSON in a `data:` line. Other lines of a server-sent event have none. */
function* dataIn(line: string): Generator<JsonObject> {
  const data = /^data: ?(.*?)\r?$/.exec(line)?.[1];
  if (data === undefined || data === '' || data === '[DONE]') return;
  let value: Json;
  try {
    value = JSON.parse(data);
  } catch (thrown) {
    throw cutOff(thrown);
  }
  if (isObject(value)) yield value;
}
