import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Readable, Writable } from 'node:stream';
import type { HttpResponse } from '#bindings';
import { isCutOff } from '../node/cut-off.ts';
import { lowerCased } from '../node/http2-answer.ts';
import type { LinkFacts } from './link-wire.ts';
import { isLinkHeader } from './link-wire.ts';

/** A request of a caller outside, to be answered by another replica. */
export interface OutsideRequest {
  readonly method: string;
  /** With the query. */
  readonly target: string;
  readonly host: string;
  readonly headers: OutgoingHttpHeaders;
  readonly facts: LinkFacts;
  /** The cell that it belongs to, as far as that is known. */
  readonly cell: number;
  /** A stream for calls whose two sides wait for one another. Such a call can't be repeated. */
  readonly body: Uint8Array | Readable | undefined;
  readonly reply: OutsideReply;
}

/** The response to that caller. */
export interface OutsideReply {
  readonly out: Writable;
  /** Writes status and headers. */
  head(status: number, headers: OutgoingHttpHeaders): void;
  /** Writes a whole response. */
  whole(status: number, headers: OutgoingHttpHeaders, body: Uint8Array): void;
  /** Ends the response. Trailers are those of gRPC. */
  end(trailers?: OutgoingHttpHeaders): void;
  /** Breaks the response off, so that the caller sees that it is not complete. */
  cut(): void;
  /** Calls the listener when the last byte of the complete response was handed to the operating system. */
  onSent(listener: () => void): void;
}

/** Of one connection only (RFC 9110 §7.6.1), or set anew by the next one. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings', 'expect', 'host'],
  ...['content-length', 'date'],
]);

/** The headers to send on the link. Those of the link itself are ours alone. */
export function requestHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return kept(headers, (name) => !OF_CONNECTION.has(name) && (name !== 'te' || headers.te === 'trailers'));
}

/** The headers to send to the caller. */
export function responseHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return kept(headers, (name) => name === 'content-length' || !OF_CONNECTION.has(name));
}

function kept(headers: IncomingHttpHeaders, isMeant: (name: string) => boolean): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) if (!name.startsWith(':') && !isLinkHeader(name) && isMeant(name)) out[name] = value;
  return out;
}

/** The response on HTTP/1.1. */
export function http1Reply(incoming: IncomingMessage, outgoing: ServerResponse): OutsideReply {
  // What is left of the request would be read as the next one.
  const head = (status: number, headers: OutgoingHttpHeaders): unknown =>
    outgoing.writeHead(status, incoming.complete ? headers : { ...headers, connection: 'close' });
  return {
    out: outgoing,
    head: (status, headers) => {
      head(status, headers);
      outgoing.flushHeaders();
    },
    whole: (status, headers, body) => {
      head(status, headers);
      outgoing.end(body);
    },
    end: () => outgoing.end(),
    cut: () => outgoing.destroy(),
    onSent: (listener) => void outgoing.once('finish', listener),
  };
}

/** The response on a stream of HTTP/2. */
export function http2Reply(stream: ServerHttp2Stream): OutsideReply {
  let isOpen = false;
  return {
    out: stream,
    head: (status, headers) => {
      isOpen = true;
      if (!stream.destroyed) stream.respond({ ':status': status, ...headers }, { waitForTrailers: true });
    },
    whole: (status, headers, body) => {
      if (stream.destroyed) return;
      stream.respond({ ':status': status, ...headers });
      stream.end(body);
    },
    end: (trailers) => {
      if (stream.destroyed || !isOpen) return;
      stream.once('wantTrailers', () => (trailers === undefined ? stream.close() : stream.sendTrailers(trailers)));
      stream.end();
    },
    cut: () => stream.destroy(),
    // The trailers go out after `finish`.
    onSent: (listener) =>
      void stream.once('close', () => {
        if (!isCutOff(stream) && stream.rstCode === constants.NGHTTP2_NO_ERROR) listener();
      }),
  };
}

/** Writes a response of this replica itself. */
export function answerOutside(reply: OutsideReply, { status, headers, body }: HttpResponse): void {
  if (reply.out.destroyed) return;
  const text = typeof body === 'string' ? body : '';
  reply.head(status, { ...lowerCased(headers), 'content-length': Buffer.byteLength(text) });
  if (text !== '') reply.out.write(text);
  reply.end();
}

/** Writes a piece, and waits until the caller has taken it. False: the caller has left, or reads nothing for too long. */
export async function writeOutside({ out }: OutsideReply, piece: string | Uint8Array, idleMsMax: number): Promise<boolean> {
  if (out.destroyed) return false;
  if (out.write(piece)) return true;
  return await new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(late);
      out.off('drain', done).off('close', done);
      resolve(!out.destroyed && !out.writableNeedDrain);
    };
    const late = setTimeout(done, idleMsMax);
    out.once('drain', done).once('close', done);
  });
}
