/// <reference types="node" />
// Loads no module of Node, because bundles for browsers contain it.
import type { Agent, ClientRequest, ClientRequestArgs, IncomingMessage, OutgoingHttpHeaders, request } from 'node:http';
import type { Readable } from 'node:stream';

/** A request over HTTP/1.1. */
export interface Outgoing {
  readonly url: URL;
  readonly method: string;
  /** With the length of the body. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/** How requests are sent. */
export interface Http1Sender {
  /** `request` of `node:http`. Its agent decides whether a connection has TLS. */
  readonly request: typeof request;
  readonly agent: Agent;
  /** Maximum size of the head of a response. Default: that of Node. */
  readonly headBytesMax?: number;
  /** Maximum time until a new connection is open, with TLS if it has that. Default: no limit. */
  readonly connectMs?: number;
  /** Undoes the codings of a body. Default: the body stays as it is. */
  readonly decoded?: (incoming: IncomingMessage) => Readable;
}

/** Headers that describe the connection or the length of the body. The sender of a request sets them itself. */
export const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Sends a request with `node:http`. Follows no redirects. */
export function exchange(sender: Http1Sender, { url, method, headers, body, signal }: Outgoing): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const options: ClientRequestArgs = { agent: sender.agent, ...targetOf(url), method, headers };
  if (sender.headBytesMax !== undefined) options.maxHeaderSize = sender.headBytesMax;
  const sent = sender.request(options);
  if (sender.connectMs !== undefined) limitConnecting(sent, sender.connectMs);
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
      resolve(responseOf(incoming, sender.decoded));
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

function limitConnecting(sent: ClientRequest, ms: number): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = Object.assign(new Error(`no connection within ${ms} ms`), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => sent.destroy(late), ms);
    const opened = (): void => clearTimeout(timer);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', opened).once('close', opened);
  });
}

function targetOf({ protocol, hostname, port, pathname, search }: URL): ClientRequestArgs {
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { defaultPort, host, port: port === '' ? defaultPort : Number(port), path: pathname + search };
}

/** Statuses whose `Response` may have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(incoming: IncomingMessage, decoded: Http1Sender['decoded']): Response {
  const { statusCode: status = 0, rawHeaders } = incoming;
  if (status < 200 || status > 599) throw new Error(`the server responded with the invalid status ${status}`);
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  if (!BODILESS.has(status)) return new Response(bodyOf(decoded === undefined ? incoming : decoded(incoming)), { status, headers });
  incoming.on('error', () => undefined);
  // A 205 may have a body by mistake. The connections of the others can be used again.
  if (status === 205) incoming.destroy();
  else incoming.resume();
  return new Response(null, { status, headers });
}

/** The body as it arrives, at the speed of its reader. */
function bodyOf(incoming: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
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

export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
