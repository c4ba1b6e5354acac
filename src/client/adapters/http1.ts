import type { ClientRequestArgs, IncomingMessage } from 'node:http';
import { Agent, request as httpRequest } from 'node:http';
import { isIPv6 } from 'node:net';
import { Duplex } from 'node:stream';

/** Options of `fetchOverHttp1`. */
export interface Http1Options {
  /** Opens the connection to an origin, with TLS if its scheme says so. */
  readonly connect: (origin: URL) => Promise<Duplex>;
}

/** A fetch with connections of its own. */
export interface Http1Fetch {
  /** Sends a request. The second argument replaces the request's signal. */
  readonly fetch: (request: Request, signal?: AbortSignal) => Promise<Response>;
  /** Closes all connections. */
  close(): void;
}

/** An idle connection is closed after this time, or a second before the server closes it (its `Keep-Alive` header). */
const IDLE_MS = 10_000;
const HEAD_BYTES_MAX = 16_384;

/**
 * A fetch over HTTP/1.1 whose connections its caller opens. Node's own fetch has no such hook. Unlike
 * it, this one follows no redirects and decompresses nothing.
 *
 * ```ts
 * const { fetch, close } = fetchOverHttp1({ connect: async ({ hostname, port }) => connect({ host: hostname, port: Number(port) }) });
 * ```
 */
export function fetchOverHttp1({ connect }: Http1Options): Http1Fetch {
  const plain = new Connections('http:', connect);
  const secure = new Connections('https:', connect);
  return {
    fetch: async (request, signal = request.signal) => {
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
      signal.throwIfAborted();
      return await exchange(new URL(request.url).protocol === 'https:' ? secure : plain, { request, signal, body });
    },
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** The second argument of a callback that gets an error. Node ignores it. */
const NO_SOCKET = new Duplex();

/** Kept-alive connections of one scheme, by host and port. */
class Connections extends Agent {
  readonly scheme: 'http:' | 'https:';
  readonly #connect: Http1Options['connect'];
  #isClosed = false;

  constructor(scheme: 'http:' | 'https:', connect: Http1Options['connect']) {
    super({ keepAlive: true, timeout: IDLE_MS });
    this.scheme = scheme;
    this.#connect = connect;
  }

  override createConnection({ host, port }: ClientRequestArgs, done?: (error: Error | null, socket: Duplex) => void): undefined {
    this.#opened(new URL(`${this.scheme}//${isIPv6(host ?? '') ? `[${host}]` : host}:${port}`)).then(
      (socket) => done?.(null, socket),
      (thrown: unknown) => done?.(errorOf(thrown), NO_SOCKET),
    );
  }

  override destroy(): void {
    this.#isClosed = true;
    super.destroy();
  }

  async #opened(origin: URL): Promise<Duplex> {
    const socket = await this.#connect(origin);
    if (!this.#isClosed) return socket;
    socket.destroy();
    throw new Error('the connections are closed');
  }
}

interface Outgoing {
  readonly request: Request;
  readonly signal: AbortSignal;
  readonly body: Uint8Array | undefined;
}

function exchange(agent: Connections, { request, signal, body }: Outgoing): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { hostname, port, pathname, search } = new URL(request.url);
  const defaultPort = agent.scheme === 'https:' ? 443 : 80;
  const sent = httpRequest({
    agent,
    defaultPort,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || defaultPort),
    path: `${pathname}${search}`,
    method: request.method,
    headers: headersOf(request, body),
    maxHeaderSize: HEAD_BYTES_MAX,
  });
  let answer: IncomingMessage | undefined;
  // A request that waits for its connection reports no error when it is destroyed.
  const stop = (): void => {
    reject(signal.reason);
    (answer ?? sent).destroy(errorOf(signal.reason));
  };
  const ended = (): void => signal.removeEventListener('abort', stop);
  signal.addEventListener('abort', stop, { once: true });
  sent.once('response', (incoming) => {
    answer = incoming.once('close', ended);
    try {
      resolve(responseOf(incoming));
    } catch (thrown) {
      incoming.destroy();
      reject(thrown);
    }
  });
  sent.on('error', (thrown) => {
    if (answer === undefined) ended();
    reject(thrown);
  });
  sent.end(body);
  return promise;
}

/** Headers that describe the connection or the length of the body. This file sets them itself. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function headersOf({ headers, method }: Request, body: Uint8Array | undefined): Record<string, string> {
  const length = body?.length ?? (method === 'GET' || method === 'HEAD' ? undefined : 0);
  return {
    'user-agent': 'parley',
    ...Object.fromEntries([...headers].filter(([name]) => !FRAMING.has(name))),
    'accept-encoding': 'identity',
    ...(length === undefined ? {} : { 'content-length': String(length) }),
    connection: 'keep-alive',
  };
}

/** Statuses whose `Response` may have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = incoming;
  if (status < 200 || status > 599) throw new Error(`the server responded with the invalid status ${status}`);
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  if (!BODILESS.has(status)) return new Response(bodyOf(incoming), { status, headers });
  incoming.on('error', () => undefined);
  // A 205 may have a body by mistake. The connections of the others can be used again.
  if (status === 205) incoming.destroy();
  else incoming.resume();
  return new Response(null, { status, headers });
}

/** The body as it arrives, at the speed of its reader. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false;
  const end = (finish: () => void): void => {
    if (isOver) return;
    isOver = true;
    finish();
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start: (controller) => {
        incoming.on('data', (chunk: Buffer<ArrayBuffer>) => {
          if (isOver) return;
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
        });
        incoming.once('end', () => end(() => controller.close()));
        incoming.on('error', (thrown: Error) => end(() => controller.error(thrown)));
        incoming.once('close', () => end(() => controller.error(new Error('the connection closed before the end of the response'))));
      },
      pull: () => {
        incoming.resume();
      },
      cancel: () => {
        end(() => incoming.destroy());
      },
    },
    { highWaterMark: 4 },
  );
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
