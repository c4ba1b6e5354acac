import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { percentDecoded } from '#protocol';
import type { OtlpTarget } from './environment.ts';
import type { OtlpRequestName } from './protobuf.ts';
import { otlpBytes } from './protobuf.ts';

/** What became of a request. Undefined: the receiver has taken it. */
export type OtlpOutcome = { readonly problem: string; readonly mayRetry: boolean } | undefined;

/** Sends requests of one signal. */
export interface OtlpSender {
  /** Never rejects. */
  send(request: object): Promise<OtlpOutcome>;
  close(): void;
}

const PATHS: Readonly<Record<OtlpRequestName, string>> = {
  ExportTraceServiceRequest: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  ExportMetricsServiceRequest: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  ExportLogsServiceRequest: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
};

/** OTLP/gRPC: CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS. */
const RETRIED: ReadonlySet<number> = new Set([1, 4, 8, 10, 11, 14, 15]);

/** RFC 9113, section 7. */
const CANCEL = 8;

/** Sends over gRPC. The connection is opened with the first request, kept, and does not keep the process alive. */
export function grpcSender({ url, headers, timeoutMs }: OtlpTarget, name: OtlpRequestName): OtlpSender {
  const { origin } = new URL(url);
  const metadata = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
  let session: ClientHttp2Session | undefined;
  const opened = async (): Promise<ClientHttp2Session> => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    // Loaded late, because few nodes send over gRPC and HTTP/2 is a tenth of a start.
    const { connect } = await import('node:http2');
    const fresh = connect(origin);
    // The request that waits for the connection reports its failure.
    fresh.on('error', () => fresh.destroy());
    fresh.on('goaway', () => fresh.close());
    fresh.unref();
    session = fresh;
    return fresh;
  };
  return {
    send: async (request) => {
      try {
        const { status, message } = await call(await opened(), {
          headers: {
            ...metadata,
            ':method': 'POST',
            ':path': PATHS[name],
            'content-type': 'application/grpc',
            te: 'trailers',
            'grpc-timeout': `${timeoutMs}m`,
          },
          body: framed(otlpBytes(name, request)),
          timeoutMs,
        });
        return status === 0 ? undefined : { problem: `gRPC status ${status}${message}`, mayRetry: RETRIED.has(status) };
      } catch (thrown) {
        session?.destroy();
        return { problem: thrown instanceof Error ? thrown.message : String(thrown), mayRetry: true };
      }
    },
    close: () => void session?.close(),
  };
}

/** gRPC's frame: not compressed, then the length. */
function framed(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

interface GrpcCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly timeoutMs: number;
}

/** The status of a call. Rejects if there is none: the connection failed, or the receiver does not speak gRPC. */
function call(session: ClientHttp2Session, { headers, body, timeoutMs }: GrpcCall): Promise<{ status: number; message: string }> {
  return new Promise((resolve, reject) => {
    let found: IncomingHttpHeaders = {};
    // A stream waits for its connection without keeping the process alive.
    const onError = (cause: Error): void => reject(cause);
    session.once('error', onError);
    const stream = session.request(headers);
    const timer = setTimeout(() => {
      stream.close(CANCEL);
      reject(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    stream.on('response', (response) => {
      found = { ...found, ...response };
    });
    stream.on('trailers', (trailers) => {
      found = { ...found, ...trailers };
    });
    stream.on('error', onError);
    stream.on('close', () => {
      clearTimeout(timer);
      session.off('error', onError);
      const text = found['grpc-status'];
      if (text === undefined) reject(new Error(`HTTP ${found[':status'] ?? 'without a response'}, and no gRPC status`));
      else resolve({ status: Number(text), message: messageIn(found['grpc-message']) });
    });
    stream.resume();
    stream.end(body);
  });
}

/** Percent-encoded, as gRPC sends it. */
function messageIn(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && header !== '' ? `: ${percentDecoded(header)}` : '';
}
