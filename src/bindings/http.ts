import type { Waiter } from '#protocol';
import { kept } from '#protocol';
import { readBytes } from './body.ts';

/**
 * An HTTP request as bindings read it. `toHttpRequest` converts a web `Request`. The Node server makes
 * its own instead, because creating a `Request` and a `Response` costs Node more than the rest of a
 * small call (docs/server.md has the figures).
 */
export interface HttpRequest {
  /** The id in `X-Request-Id` of the response. The server sets it when it first needs it. */
  id?: string | undefined;
  /** In capital letters, for example `POST`. */
  readonly method: string;
  /** Scheme and host of the URL, for example `http://127.0.0.1:41242`. The caller chooses it: trust it only after the server's host check. */
  readonly origin: string;
  /** The path below which a framework has mounted the handler, as `/a2a`. `path` begins after it. */
  readonly mountedAt?: string | undefined;
  /** Still percent-encoded, without the query. */
  readonly path: string;
  /** The text after the question mark. Empty if there is none. */
  readonly query: string;
  /** The other end of the connection, as far as the server knows it. */
  readonly peer?: Peer | undefined;
  /** Set if another replica of this node has received the request. */
  readonly forwarded?: ForwardedRequest | undefined;
  /** Present if another replica may answer the request. */
  readonly elsewhere?: ElsewhereMark | undefined;
  /** Fires when the caller disconnects. */
  readonly signal: AbortSignal;
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined;
  /** Reads the whole body. Fails with PAYLOAD_TOO_LARGE as soon as it is known to be too large. */
  body(bytesMax: number): Promise<Uint8Array>;
  /** Fires `signal` from the server's side. Present only if the signal belongs to this request alone. */
  abort?(): void;
  /** See `CallContext.onDelivered`. Present if the server knows when its response has been sent. */
  onDelivered?(mark: () => void): void;
}

/** What the replica that has received a request says about it. It has checked the host name. */
export interface ForwardedRequest {
  /** The same for each repetition of the request. See `CallContext.retryKey`. */
  readonly retryKey: string;
  /** Headers of the response for that replica. Called when the response begins. */
  answerHeaders(): Readonly<Record<string, string>>;
}

/** Stands for the cell of a request that any other replica may answer. */
export const ANY_CELL = -1;

/** Tells the server that a request belongs to another replica, which has to answer it instead. */
export interface ElsewhereMark {
  /** See `CallContext.onElsewhere`. `ANY_CELL`: this replica ends, and another one has to answer. Undefined: this one does. */
  cell: number | undefined;
  /** The agent that the request is for. See `CallContext.forAgent`. Undefined: this replica has not found out yet. */
  agent: string | undefined;
  /** The same for each repetition of the request. See `CallContext.retryKey`. */
  readonly key: string;
}

/** The other end of the connection. */
export interface Peer {
  /** The IP address. Behind a trusted proxy: the address that the proxy reports. */
  readonly address?: string | undefined;
  /** Both ends of the connection itself, whatever a proxy reports. Undefined for a Unix socket, and where the host does not know. */
  readonly connection?: { readonly remote: SocketEnd; readonly local: SocketEnd } | undefined;
  /** The client certificate, if one of the configured authorities has signed it. */
  readonly certificate?: PeerCertificate | undefined;
}

/** One end of a TCP connection. */
interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

/** A verified client certificate. */
export interface PeerCertificate {
  /** Subject alternative names with their kind, for example `URI:spiffe://example.org/agent`. */
  readonly names: readonly string[];
  /** SHA-256 of the certificate in base64url, as `cnf` of RFC 8705 has it. */
  readonly thumbprint: string;
}

/** The response to an `HttpRequest`. */
export interface HttpResponse {
  /** HTTP status code. */
  readonly status: number;
  /** Header names in any case. Each occurs once. */
  readonly headers: Readonly<Record<string, string>>;
  /** A text, a stream, or null for no body. */
  readonly body: string | ResponseStream | null;
  /** Who gets the response, so that the server can limit what one caller leaves unread. Undefined: nobody in particular. */
  readonly caller?: string | undefined;
}

/** A response body that is produced in pieces, at the speed of its reader. */
export interface ResponseStream {
  /** The next piece of text. Undefined: the stream has ended. Must not be called again before it resolves. */
  next(): Promise<string | undefined>;
  /** See `Waiter`. The reader calls `next` or `waitsFor` again when it is woken. */
  waitsFor?(waiter: Waiter): boolean;
  /** The reader has disconnected. */
  cancel(): void;
  /** Sends a last piece of text and ends the stream, for a server that shuts down. */
  finish(text: string): void;
  /** About how many bytes the stream holds that are not sent yet. Asked while the reader is slow. */
  readonly heldBytes?: number;
  /** The pieces are one document, not events. Others may not add text to it, and it is not counted as a stream. */
  readonly isDocument?: boolean;
  /** The stream reached its own end: it was neither cancelled nor finished early. */
  readonly isWhole: boolean;
  /** Called once when the stream has ended, for any reason. */
  onEnd(listener: (flow: ResponseStream) => void): void;
}

/**
 * Answers a web `Request` with a function that takes an `HttpRequest`. For fetch handlers: Workers,
 * Deno, Bun, Hono.
 *
 * ```ts
 * export default { fetch: (request: Request) => respondTo(request, handler) };
 * ```
 */
export async function respondTo(request: Request, answer: (httpRequest: HttpRequest) => Promise<HttpResponse>): Promise<Response> {
  const marks: (() => void)[] = [];
  const { status, headers, body } = await answer({ ...toHttpRequest(request), onDelivered: (mark) => void marks.push(mark) });
  const [delivered] = marks;
  if (body !== null && typeof body !== 'string') return new Response(streamOf(body, delivered), { status, headers });
  if (body === null || delivered === undefined) return new Response(body, { status, headers });
  return new Response(streamOf(once(body), delivered), {
    status,
    headers: { ...headers, 'Content-Length': String(utf8.encode(body).length) },
  });
}

/** Converts a web `Request` to the form that bindings read. Reads no body. */
export function toHttpRequest(request: Request): HttpRequest {
  const { headers } = request;
  const from = request.url.indexOf('/', request.url.indexOf('://') + 3);
  const target = from === -1 ? '/' : request.url.slice(from);
  const mark = target.indexOf('?');
  return {
    method: request.method,
    origin: from === -1 ? request.url : request.url.slice(0, from),
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    signal: kept(request).signal,
    header: (name) => headers.get(name) ?? undefined,
    body: (bytesMax) => readBytes(request, bytesMax, { signal: request.signal }),
  };
}

const utf8 = new TextEncoder();

type Flow = Pick<ResponseStream, 'next' | 'cancel' | 'isWhole'>;

/** A pull after the last piece means that every piece was read. Only then `delivered` is called. A reader that disconnects cancels instead. */
function streamOf(flow: Flow, delivered?: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const text = await flow.next();
        if (text !== undefined) {
          controller.enqueue(utf8.encode(text));
          return;
        }
        controller.close();
        if (flow.isWhole) delivered?.();
      },
      cancel: () => flow.cancel(),
    },
    { highWaterMark: 0 },
  );
}

/** A stream of one piece. */
function once(text: string): Flow {
  let rest: string | undefined = text;
  return {
    next: async () => {
      const taken = rest;
      rest = undefined;
      return taken;
    },
    cancel: () => {},
    isWhole: true,
  };
}
