import type { A2AService, Dialect, Fetch, RawObject } from '#protocol';
import { A2AError, isObject } from '#protocol';
import { jsonRpcLink } from '../jsonrpc/link.ts';

import { JSON_TYPE } from '../media.ts';
import { EVENT_STREAM } from '../sse.ts';
import type { Channel } from './wire.ts';
import { CANCEL, CARD, keyOf, linesIn, lineWriter, parsed } from './wire.ts';

/** A connection to an agent at the other end of a pipe, usually a child process. */
export interface StdioLink {
  /** Calls the agent. */
  readonly service: A2AService;
  /** Reads the agent's card, as unchecked JSON. */
  card(): Promise<unknown>;
  /** Resolves when the other side has closed the pipe. Pending calls then fail with UNAVAILABLE. */
  readonly closed: Promise<void>;
}

/**
 * Connects to an agent over a pipe, in any dialect.
 *
 * ```ts
 * const child = spawn('parley', ['serve', '--stdio']);
 * const { service } = stdioLink({ input: child.stdout, write: (text) => write(child.stdin, text) }, dialect);
 * ```
 */
export function stdioLink(channel: Channel, dialect: Dialect): StdioLink {
  const write = lineWriter(channel);
  const pending = new Map<string, Pending>();
  const closed = listen(channel, pending);
  let cards = 0;
  const fetch: Fetch = async (request) => await exchange(request, { write, pending });
  return {
    service: jsonRpcLink({ url: 'http://localhost/', dialect, fetch }),
    closed,
    card: async () => {
      cards += 1;
      const body = JSON.stringify({ jsonrpc: '2.0', id: `card-${cards}`, method: CARD });
      const answer: unknown = await (await fetch(new Request('http://localhost/', { method: 'POST', body }))).json();
      return isObject(answer) ? answer['result'] : undefined;
    },
  };
}

interface Pending {
  resolve(response: Response): void;
  reject(error: unknown): void;
  /** The caller no longer wants the rest of the response. */
  leave(): void;
  stream: ReadableStreamDefaultController<Uint8Array> | undefined;
}

interface Wire {
  readonly write: (text: string) => Promise<void>;
  readonly pending: Map<string, Pending>;
}

/**
 * Sends a request as one line and builds a `Response` of the answer, so that the HTTP link can be
 * reused.
 */
async function exchange(request: Request, { write, pending }: Wire): Promise<Response> {
  const body: unknown = await request.json();
  const id = isObject(body) ? body['id'] : undefined;
  const key = keyOf(id);
  const headers = Object.fromEntries([...request.headers].filter(([name]) => name !== 'content-type' && name !== 'accept'));
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const leave = (): void => {
    if (!pending.delete(key)) return;
    void write(JSON.stringify({ jsonrpc: '2.0', method: CANCEL, params: { id } })).catch(() => undefined);
    reject(request.signal.reason);
  };
  pending.set(key, { resolve, reject, leave, stream: undefined });
  request.signal.addEventListener('abort', leave, { once: true });
  await write(JSON.stringify(Object.keys(headers).length === 0 ? body : { ...(body as RawObject), headers }));
  return await promise;
}

/** Reads lines until the pipe closes, then fails everything that still waits. */
async function listen(channel: Channel, pending: Map<string, Pending>): Promise<void> {
  const gone = new A2AError('UNAVAILABLE', 'the agent has closed the pipe');
  try {
    for await (const line of linesIn(channel)) {
      const message = line === undefined ? undefined : parsed(line);
      const waiting = isObject(message) ? pending.get(keyOf(message['id'])) : undefined;
      if (isObject(message) && waiting !== undefined) receive(message, waiting, pending);
    }
  } finally {
    for (const waiting of pending.values()) {
      waiting.reject(gone);
      waiting.stream?.error(gone);
    }
    pending.clear();
  }
}

const utf8 = new TextEncoder();

/** Passes a line to the call that waits for it: a whole response, or the next event of a stream. */
function receive(message: RawObject, waiting: Pending, pending: Map<string, Pending>): void {
  const { stream: isStream, end, seq, ...frame } = message;
  if (isStream !== true) {
    pending.delete(keyOf(message['id']));
    waiting.resolve(new Response(JSON.stringify(message), { headers: { 'Content-Type': JSON_TYPE } }));
    return;
  }
  if (waiting.stream === undefined) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        waiting.stream = controller;
      },
      cancel: waiting.leave,
    });
    waiting.resolve(new Response(body, { headers: { 'Content-Type': EVENT_STREAM } }));
  }
  if (end === true) {
    pending.delete(keyOf(message['id']));
    waiting.stream?.close();
    return;
  }
  const place = typeof seq === 'number' ? `id: ${seq}\n` : '';
  waiting.stream?.enqueue(utf8.encode(`${place}data: ${JSON.stringify(frame)}\n\n`));
}
