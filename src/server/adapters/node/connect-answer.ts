import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Writable } from 'node:stream';
import type { GrpcHost, HttpRequest } from '#bindings';
import type { ConnectAnswer } from '../../../bindings/grpc/adapters/connect.ts';
import { ClientPace } from '../../../bindings/grpc/adapters/direct-writer.ts';
import { NO_SNIFF } from '../../routes/responses.ts';
import { lowerCased } from './http2-answer.ts';
import type { Http2HttpRequest } from './http2-request.ts';

/** Where a response of Connect goes. */
export interface ConnectSink {
  readonly writable: Writable;
  head(status: number, headers: Record<string, string>): void;
  end(trailers: Record<string, string> | undefined): void;
  /** Called when the complete response was sent. */
  readonly onDelivered: () => void;
}

/** Writes a response of Connect, as fast as the client takes it. */
export async function writeConnectAnswer(
  { status, header, body, trailer, admitted, requestId }: ConnectAnswer,
  sink: ConnectSink,
  host: GrpcHost,
): Promise<void> {
  const { writable } = sink;
  const pace = new ClientPace(writable, { idleMsMax: host.idleMsMax, unsent: (cut) => host.unsent(admitted?.callerKey, cut) });
  const pieces = body?.[Symbol.asyncIterator]();
  try {
    if (writable.destroyed || writable.closed) return; // the client has reset its stream
    sink.head(status, {
      ...(header === undefined ? {} : Object.fromEntries(header)),
      ...lowerCased({ ...admitted?.headers, ...NO_SNIFF, 'X-Request-Id': requestId }),
    });
    for (let next = await pieces?.next(); next !== undefined && next.done !== true; next = await pieces?.next()) {
      if (writable.destroyed) return;
      if (!writable.write(next.value) && !(await pace.taken('drain'))) return;
    }
    writable.once('finish', sink.onDelivered);
    sink.end(trailer === undefined ? undefined : Object.fromEntries(trailer));
    if (writable.writableLength > 0) void pace.taken('finish');
  } finally {
    void pieces?.return?.().then(undefined, () => undefined); // the client has disconnected, or has everything
  }
}

/** The same answer after its first piece was read. */
export async function withFirstPiece(answer: ConnectAnswer): Promise<ConnectAnswer> {
  const pieces = answer.body?.[Symbol.asyncIterator]();
  const first = await pieces?.next();
  if (pieces === undefined || first === undefined) return answer;
  return { ...answer, body: continued(first, pieces) };
}

async function* continued(first: IteratorResult<Uint8Array>, pieces: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    for (let next = first; next.done !== true; next = await pieces.next()) yield next.value;
  } finally {
    await pieces.return?.();
  }
}

/** Options of `http1Sink`. */
export interface Http1SinkOptions {
  /** Whether to close the connection after the response. */
  readonly isLast: () => boolean;
  /** The response ends only when this promise resolves. */
  readonly hold: () => Promise<void> | undefined;
  readonly onDelivered: () => void;
}

/** A response of HTTP/1.1. */
export function http1Sink(outgoing: ServerResponse, { isLast, hold, onDelivered }: Http1SinkOptions): ConnectSink {
  return {
    writable: outgoing,
    head: (status, headers) => void outgoing.writeHead(status, isLast() ? { ...headers, connection: 'close' } : headers),
    end: () => void (hold() ?? Promise.resolve()).then(() => outgoing.end()),
    onDelivered,
  };
}

/** A stream of HTTP/2. */
export function http2Sink(
  stream: ServerHttp2Stream,
  request: Pick<HttpRequest, 'forwarded'> & Pick<Http2HttpRequest, 'delivered'>,
): ConnectSink {
  let trailers: Record<string, string> = {};
  return {
    writable: stream,
    head: (status, headers) => {
      stream.once('wantTrailers', () => stream.sendTrailers(trailers));
      stream.respond({ ':status': status, ...headers, ...request.forwarded?.answerHeaders() }, { waitForTrailers: true });
    },
    end: (last) => {
      trailers = last ?? {};
      stream.end();
    },
    onDelivered: () => request.delivered?.(),
  };
}
