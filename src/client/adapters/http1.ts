import type { ClientRequestArgs } from 'node:http';
import { Agent, request as httpRequest } from 'node:http';
import { isIPv6 } from 'node:net';
import { Duplex } from 'node:stream';
import type { Outgoing } from './http1/exchange.ts';
import { errorOf, exchange, FRAMING } from './http1/exchange.ts';

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
      const url = new URL(request.url);
      const agent = url.protocol === 'https:' ? secure : plain;
      const outgoing = { url, method: request.method, headers: headersOf(request, body), body, signal };
      return await exchange({ request: httpRequest, agent, headBytesMax: HEAD_BYTES_MAX }, outgoing);
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

function headersOf({ headers, method }: Request, body: Uint8Array | undefined): Outgoing['headers'] {
  const length = body?.length ?? (method === 'GET' || method === 'HEAD' ? undefined : 0);
  return {
    'user-agent': 'parley',
    ...Object.fromEntries([...headers].filter(([name]) => !FRAMING.has(name))),
    'accept-encoding': 'identity',
    ...(length === undefined ? {} : { 'content-length': String(length) }),
    connection: 'keep-alive',
  };
}
