import { kept } from '#protocol';
import { readBytes } from './body.ts';

/**
 * A request as bindings read it. It is made of a web `Request`, or by a host that has a shorter road: a `Request` and a `Response`
 * cost Node more than everything else that a small call takes (docs/server.md has the figures).
 */
export interface HttpRequest {
  readonly method: string;
  /** Scheme and host that the caller asked for, as `http://127.0.0.1:41242`. Only a host's check makes it trustworthy. */
  readonly origin: string;
  /** As it came: percent-encoded, without the query. */
  readonly path: string;
  /** What follows the question mark; empty if nothing does. */
  readonly query: string;
  /** Where it came from, as far as the host knows. */
  readonly peer?: Peer | undefined;
  /** Fires when the caller has left. */
  readonly signal: AbortSignal;
  /** By its name in lower case. */
  header(name: string): string | undefined;
  /** The whole body. Fails with PAYLOAD_TOO_LARGE as soon as that is known. */
  body(bytesMax: number): Promise<Uint8Array>;
  /** Ends `signal` from this side, where a host has made it for this request alone. */
  abort?(): void;
  /** As in `CallContext`: a host that can tell when its answer has gone out gives this. */
  onDelivered?(mark: () => void): void;
}

/** The other end of the connection. */
export interface Peer {
  /** Its address; behind a proxy that is trusted, the one that the proxy names. */
  readonly address?: string | undefined;
  /** What it has proven by a certificate that our authority has signed. */
  readonly certificate?: PeerCertificate | undefined;
}

export interface PeerCertificate {
  /** Subject alternative names with their kind, as `URI:spiffe://example.org/agent`. */
  readonly names: readonly string[];
  /** SHA-256 of the certificate in base64url, as `cnf` of RFC 8705 has it. */
  readonly thumbprint: string;
}

/** What is answered to it. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | ResponseStream | null;
}

/** Text that comes piece by piece, at the speed of its reader. */
export interface ResponseStream {
  /** The next piece; undefined: that was all. Asked for one at a time. */
  next(): Promise<string | undefined>;
  /** Nobody reads any more. */
  cancel(): void;
  /** Sends a last piece of text and ends the stream: the server is shutting down. */
  finish(text: string): void;
  /** It came to its own end. */
  readonly isWhole: boolean;
  /** Called once when the stream has ended, for any reason. */
  onEnd(listener: (flow: ResponseStream) => void): void;
}

/** Answers a `Request` by whatever answers an `HttpRequest`. */
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

/** A pull after the last piece means that every piece was passed on: only then `delivered` is called. A reader that disconnects cancels. */
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

/** All of it at once. */
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
