import type { RawObject } from '#protocol';
import { isObject, kept } from '#protocol';
import { isEventStream } from '../incoming.ts';
import { errorText, readableId } from '../jsonrpc/wire.ts';
import { JSON_TYPE } from '../media.ts';
import { readEvents } from '../sse.ts';
import type { Channel } from './wire.ts';
import { CANCEL, CARD, endText, keyOf, linesIn, lineWriter, parsed } from './wire.ts';

export interface StdioOptions {
  readonly lineBytesMax?: number;
  /** Fires when no more requests are to be taken: what is under way is left. */
  readonly signal?: AbortSignal;
}

const ORIGIN = 'http://localhost';
const EVENT_BYTES_MAX = 67_108_864;

/**
 * Serves the client at the other end of the channel by a function that answers HTTP: the same dialects, limits and errors. Resolves when the other side has
 * closed its end and everything is answered.
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
    // An answer that can't be written has nobody who waits for it.
    const answered: Promise<void> = take(serving, line)
      .catch(() => undefined)
      .finally(() => under.delete(answered));
    under.add(answered);
  }
  // Nobody reads a stream whose reader has closed its end, but answers that are on their way are still wanted.
  await Promise.all(under);
}

interface Serving {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly write: (text: string) => Promise<void>;
  /** What is under way, by the id it was asked with. */
  readonly open: Map<string, AbortController>;
}

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

/** A stream that is cancelled or breaks ends like any other: the line after it says so. */
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

/** Those that say something about the call. Whom it is for and from whom it is are known: this is a pipe. */
function isHeader(name: string): boolean {
  return /^(?:a2a-version|a2a-extensions|x-a2a-extensions|idempotency-key|last-event-id|traceparent|tracestate)$/i.test(name);
}

/** The frame is an answer already, in all dialects but those that send it bare; `seq` joins it. */
function streamLine(data: string, seq: string | undefined): string {
  const frame = parsed(data);
  const place = seq === undefined || seq === '' ? {} : { seq: Number(seq) };
  return JSON.stringify(isObject(frame) ? { ...frame, stream: true, ...place } : { stream: true, frame, ...place });
}
