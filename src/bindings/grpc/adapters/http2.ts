/// <reference types="node" />
// The console is compiled without the types of Node. It imports this file, and never runs it.
import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import type { Fetch } from '#protocol';
import { isMediaType } from '../../media.ts';
import { GRPC_TYPE, GRPC_WEB_TYPE } from '../media-types.ts';
import { trailersFrame } from '../wire.ts';
import type { Http2Connection, Http2Sessions, OpenSocket } from './sessions.ts';
import { openSessions } from './sessions.ts';

/** Options of `grpcOverHttp2`. */
export interface Http2Options {
  /** Opens the connection to an origin, with TLS if its scheme says so. Default: Node does. */
  readonly connect?: OpenSocket;
}

/** A fetch that also tells how to close the connections that it keeps. */
export interface Http2Fetch {
  readonly fetch: Fetch;
  close(): void;
}

/** Node, Bun and Deno have it, browsers and workers do not. A browser's bundle must not import the module. */
function http2Module(): typeof import('node:http2') | undefined {
  return typeof process === 'undefined' ? undefined : process.getBuiltinModule?.('node:http2');
}

/**
 * A fetch that sends gRPC-Web requests as gRPC over HTTP/2, and returns the responses as gRPC-Web: with
 * the trailers as their last frame. Other requests go to `next`.
 *
 * ```ts
 * const { fetch } = grpcOverHttp2((request) => globalThis.fetch(request));
 * ```
 */
export function grpcOverHttp2(next: Fetch, options: Http2Options = {}): Http2Fetch {
  const http2 = http2Module();
  if (http2 === undefined) return { fetch: next, close: () => undefined };
  const sessions = openSessions(http2, options.connect);
  return {
    fetch: async (request) => {
      if (!isMediaType(request.headers.get('content-type'), [GRPC_WEB_TYPE])) return await next(request);
      const { url, signal, headers } = request;
      return await exchange(sessions, { url: new URL(url), headers, signal, body: new Uint8Array(await request.arrayBuffer()) });
    },
    close: () => sessions.close(),
  };
}

interface Outgoing {
  readonly url: URL;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly body: Uint8Array;
}

/** Sends a request. A server that has not begun to work on it (GOAWAY, or REFUSED_STREAM) gets it once more, over a new connection. */
async function exchange(sessions: Http2Sessions, outgoing: Outgoing): Promise<Response> {
  const first = await sessions.get(outgoing.url.origin, outgoing.signal);
  try {
    return await sent(first, outgoing, () => sessions.drop(first));
  } catch (thrown) {
    if (!(thrown instanceof NotBegun)) throw thrown;
    sessions.drop(first);
    const second = await sessions.get(outgoing.url.origin, outgoing.signal);
    return await sent(second, outgoing, () => sessions.drop(second));
  }
}

/** The server did not begin to work on the request. */
class NotBegun extends Error {
  override readonly name = 'NotBegun';
  readonly code = 'ERR_HTTP2_NOT_BEGUN';
}

const REFUSED_STREAM = 7;
const CANCEL = 8;

function sent(connection: Http2Connection, { url, headers, signal, body }: Outgoing, drop: () => void): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  if (signal.aborted) return Promise.reject(signal.reason);
  let stream: ClientHttp2Stream;
  try {
    stream = connection.request({
      ...metadataOf(headers),
      ':method': 'POST',
      ':path': url.pathname,
      'content-type': GRPC_TYPE,
      te: 'trailers',
    });
  } catch (cause) {
    return Promise.reject(new NotBegun('the connection is closing', { cause }));
  }
  const leave = (): void => {
    stream.close(CANCEL);
    if (connection.isSilent) drop();
  };
  signal.addEventListener('abort', leave, { once: true });
  let failure: unknown;
  stream.on('error', (thrown) => {
    failure = thrown;
  });
  stream.once('response', (received) => resolve(responseOf(stream, received, leave)));
  stream.once('close', () => {
    signal.removeEventListener('abort', leave);
    // After a response, the body has the error.
    if (signal.aborted) reject(signal.reason);
    else if (stream.rstCode === REFUSED_STREAM) reject(new NotBegun('the server refused the call', { cause: failure }));
    else reject(failure ?? new Error(`the connection closed before the response (HTTP/2 error ${stream.rstCode})`));
  });
  stream.end(body);
  return promise;
}

/** Headers that HTTP/2 does not have, or that only gRPC-Web has. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'host',
  'content-length',
  'content-type',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
  'x-grpc-web',
]);

function metadataOf(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !LEFT_OUT.has(name)));
}

/** Statuses whose `Response` may have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(stream: ClientHttp2Stream, received: IncomingHttpHeaders & IncomingHttpStatusHeader, leave: () => void): Response {
  const status = received[':status'] ?? 200;
  const headers = new Headers();
  for (const [name, value] of pairsOf(received)) headers.append(name, value);
  const isGrpc = /^application\/grpc(?:[+;]|$)/.test(headers.get('content-type') ?? '');
  if (isGrpc) headers.set('content-type', GRPC_WEB_TYPE);
  if (BODILESS.has(status) || status < 200 || status > 599) {
    stream.close(CANCEL);
    return new Response(null, { status: 502, headers });
  }
  return new Response(bodyOf(stream, { isGrpc, leave }), { status, headers });
}

function pairsOf(headers: IncomingHttpHeaders): readonly (readonly [string, string])[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (name.startsWith(':') || value === undefined) return [];
    return [[name, Array.isArray(value) ? value.join(', ') : String(value)] as const];
  });
}

/**
 * An empty chunk this often tells the reader that the connection is alive, as comments do in event
 * streams. gRPC itself sends nothing on a silent stream, and servers answer frequent pings by closing
 * the connection.
 */
const ALIVE_MS = 10_000;
const NOTHING = new Uint8Array();

/** The body as it arrives, at the speed of its reader. The trailers become its last frame. */
function bodyOf(
  stream: ClientHttp2Stream,
  { isGrpc, leave }: { readonly isGrpc: boolean; readonly leave: () => void },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let trailers: IncomingHttpHeaders | undefined;
  let alive: ReturnType<typeof setInterval> | undefined;
  let isOver = false;
  const end = (finish: () => void): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(alive);
    finish();
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start: (controller) => {
        alive = setInterval(() => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(NOTHING);
        }, ALIVE_MS);
        alive.unref();
        stream.on('trailers', (received: IncomingHttpHeaders) => {
          trailers = received;
        });
        stream.on('data', (chunk: Buffer<ArrayBuffer>) => {
          if (isOver) return;
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) stream.pause();
        });
        stream.once('end', () =>
          end(() => {
            if (isGrpc && trailers !== undefined) controller.enqueue(trailersFrame(pairsOf(trailers)));
            controller.close();
          }),
        );
        stream.once('error', (thrown: Error) => end(() => controller.error(thrown)));
        stream.once('close', () => end(() => controller.error(new Error(`the stream was reset (HTTP/2 error ${stream.rstCode})`))));
      },
      pull: () => {
        stream.resume();
      },
      cancel: () => {
        end(leave);
      },
    },
    { highWaterMark: 16 },
  );
}
