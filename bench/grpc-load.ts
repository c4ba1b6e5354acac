import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:http2';
import { messageId } from '#protocol';
import { CODEC_V10 } from '../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../src/bindings/grpc/framing.ts';
import { within } from './deadline.ts';
import { http2CallsPerSecond } from './http2-load.ts';
import { ID_PLACE, nextId } from './load.ts';

export interface GrpcLoad {
  readonly url: string;
  /** `application/grpc`, or `application/proto` for Connect. */
  readonly type: string;
  /** Calls at once, on one connection. */
  readonly streams: number;
  readonly ms: number;
}

const SERVICE = '/lf.a2a.v1.A2AService';

function bodyOf(id: string, text: string, type: string): Uint8Array {
  const bytes = CODEC_V10.encodeRequest('send', { message: { messageId: messageId(id), role: 'ROLE_USER', parts: [{ text }] } });
  return type === 'application/proto' ? bytes : framed([bytes]);
}

/** Calls `SendMessage` on one connection of HTTP/2, as gRPC clients do. */
export async function grpcCallsPerSecond({ url, type, streams, ms }: GrpcLoad): Promise<number> {
  const body = bodyOf(ID_PLACE, 'Add a health check', type);
  const calling = http2CallsPerSecond({ url, path: `${SERVICE}/SendMessage`, type, body, streams, ms });
  return await within(ms + 10_000, `${streams} streams to ${url}`, calling);
}

/** Reads one stream of chunks to its end. Chunks a second. */
export async function grpcChunksPerSecond(url: string, type: string, chunks: number): Promise<number> {
  const session = connect(url);
  const streamType = type === 'application/proto' ? 'application/connect+proto' : type;
  const began = performance.now();
  try {
    const path = `${SERVICE}/SendStreamingMessage`;
    const body = bodyOf(nextId(), `chunks=${chunks} size=32`, streamType);
    const bytes = await within(120_000, `a stream of ${url}`, call(session, path, { type: streamType, body }));
    if (bytes < chunks * 32) throw new Error(`the stream of ${url} was not whole: ${bytes} bytes`);
    return chunks / ((performance.now() - began) / 1000);
  } finally {
    session.destroy();
  }
}

/** One call. The number of bytes in its answer. */
function call(
  session: ClientHttp2Session,
  path: string,
  { type, body }: { readonly type: string; readonly body: Uint8Array },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, 'a2a-version': '1.0', te: 'trailers' });
    let bytes = 0;
    let status = 0;
    stream.on('response', (head) => {
      status = Number(head[':status']);
    });
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
    });
    stream.on('error', reject);
    stream.on('end', () => (status === 200 && bytes > 0 ? resolve(bytes) : reject(new Error(`status ${status}, ${bytes} bytes`))));
    stream.end(body);
  });
}
