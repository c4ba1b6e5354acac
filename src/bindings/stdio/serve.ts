import type { RawObject } from '#protocol';
import { isObject, kept } from '#protocol';
import { isEventStream } from '../incoming.ts';
import { errorText, readableId } from '../jsonrpc/wire.ts';
import { JSON_TYPE } from '../media.ts';
import { readEvents } from '../sse.ts';
import type { Channel } from './wire.ts';
import { CANCEL, CARD, endText, keyOf, linesIn, lineWriter, parsed } from './wire.ts';

/** Options of `serveStdio`. */
export interface StdioOptions {
  /** Maximum length of a line in bytes. Default 16 MiB. A longer line is answered with an error. */
  readonly lineBytesMax?: number;
  /** Stops accepting requests and aborts those that are running. */
  readonly signal?: AbortSignal;
}

const ORIGIN = 'http://localhost';
const EVENT_BYTES_MAX = 67_108_864;

/**
 * Serves the client at the other end of a pipe with a function that answers HTTP requests, so dialects,
 * limits and errors are the same as over HTTP. Resolves when the client has closed its end and every
 * request is answered.
 *
 * ```ts
 * await serveStdio({ input: process.stdin, write }, (request) => serveJsonRpc(request, service));
 * ```
 */
export async function serveStdio(
  channel: Channel,
  fetch: (request: Request) => Promise<Response>,
  options: StdioOptions = {},
): Promise<void> {
  const serving: Serving = { fetch, write: lineWriter(channel), open: new Map() };
  const under = new Set<Promise<void>>();
  const stop = (): void => {
    for (const controller of serving.open.values()) controller.abort();
  };
  options.signal?.addEventListener('abort', stop, { once: true });
  for await (const line of linesIn(channel, options.lineBytesMax)) {
    if (options.signal?.aborted === true) break;
    // Errors are ignored: if an answer can't be written, the client has gone.
    const answered: Promise<void> = take(serving, line)
      .catch(() => undefined)
      .finally(() => under.delete(answered));
    under.add(answered);
  }
  // The client has closed its end. It may still read the answers to requests that it sent before.
  await Promise.all(under);
}

interface Serving {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly write: (text: string) => Promise<void>;
  /** Running requests by id. */
  readonly open: Map<string, AbortController>;
}

/** Handles one line. `$/cancel` aborts the request with that id. */
async function take(serving: Serving, line: string | undefined): Promise<void> {
  if (line === undefined) {
    await serving.write(errorText(null, { code: -32_600, message: 'the line is too long' }));
    return;
  }
  const raw = parsed(line);
  if (isObject(raw) && raw['method'] === CANCEL) {
    serving.open.get(keyOf(isObject(raw['params']) ? raw['params']['id'] : undefined))?.abort();
    return;
  }
  const key = keyOf(readableId(raw));
  const controller = new AbortController();
  serving.open.set(key, controller);
  try {
    await answer(serving, { line, raw, signal: controller.signal });
  } finally {
    if (serving.open.get(key) === controller) serving.open.delete(key);
  }
}

interface Asking {
  readonly line: string;
  readonly raw: unknown;
  readonly signal: AbortSignal;
}

/** Answers one request, with one line or with the lines of a stream. */
async function answer({ fetch, write }: Serving, asking: Asking): Promise<void> {
  const id = readableId(asking.raw);
  const isCard = isObject(asking.raw) && asking.raw['method'] === CARD;
  const response = await fetch(requestFor(asking, isCard));
  if (isEventStream(response) && response.body !== null) {
    await streamed(response.body, asking.signal, write);
    await write(endText(id));
    return;
  }
  const text = await response.text();
  if (isCard) await write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`);
  else if (isObject(parsed(text))) await write(text);
  else await write(errorText(id, { code: -32_603, message: text.slice(0, 200) || `status ${response.status}` }));
}

function requestFor({ line, raw, signal }: Asking, isCard: boolean): Request {
  const headers = isObject(raw) ? headersIn(raw) : {};
  if (isCard) return kept(new Request(`${ORIGIN}/.well-known/agent-card.json`, { headers, signal }));
  return kept(new Request(`${ORIGIN}/`, { method: 'POST', body: line, signal, headers: { ...headers, 'Content-Type': JSON_TYPE } }));
}

/**
 * Writes the events of a stream. A canceled or broken stream ends like any other: with the `end` line.
 */
async function streamed(body: ReadableStream<Uint8Array>, signal: AbortSignal, write: Serving['write']): Promise<void> {
  try {
    for await (const events of readEvents(body, EVENT_BYTES_MAX, { signal })) {
      for (const { data, id } of events) if (data !== '') await write(streamLine(data, id));
    }
  } catch {
    // See above.
  }
}

function headersIn(raw: RawObject): Record<string, string> {
  const given = isObject(raw['headers']) ? raw['headers'] : {};
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && isHeader(entry[0])),
  );
}

/** Headers about the call itself. Host, origin and credentials have no meaning on a pipe. */
function isHeader(name: string): boolean {
  return /^(?:a2a-version|a2a-extensions|x-a2a-extensions|idempotency-key|last-event-id|traceparent|tracestate)$/i.test(name);
}

/**
 * A frame as a line. In most dialects the frame is a JSON-RPC response already; `stream` and `seq` are
 * added to it.
 */
function streamLine(data: string, seq: string | undefined): string {
  const frame = parsed(data);
  const place = seq === undefined || seq === '' ? {} : { seq: Number(seq) };
  return JSON.stringify(isObject(frame) ? { ...frame, stream: true, ...place } : { stream: true, frame, ...place });
}
