import type {
  Metadata as GrpcMetadata,
  handleServerStreamingCall,
  handleUnaryCall,
  ServerUnaryCall,
  ServerWritableStream,
} from '@grpc/grpc-js';
import { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import type { A2AService, AgentCard, CallContext, Operation, StreamOperation, UnaryOperation, UnaryOperations } from '#protocol';
import { A2AError, behave, isStreamOperation, OPERATION_NAMES, OPERATIONS, seq } from '#protocol';
import type { ProtoCodec } from '../../src/bindings/grpc/adapters/codec.ts';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { statusOf } from '../../src/bindings/grpc/adapters/status.ts';
import { SEQ_EXTENSION } from '../../src/bindings/grpc/seq.ts';
import { callContext } from './calls.ts';
import { CARD } from './card.ts';
import { countingEnv } from './env.ts';

/** A service behind Google's own gRPC server, so that the client is tested with another's HTTP/2. */
export interface GrpcJsServer {
  /** `host:port`, as cards have it. */
  readonly address: string;
  readonly port: number;
  /** A card whose only interface is this server. */
  readonly card: AgentCard;
  /** What each call sent along, newest last. */
  readonly calls: readonly { readonly method: string; readonly metadata: Readonly<Record<string, unknown>>; readonly deadline: boolean }[];
  close(): void;
}

interface GrpcJsOptions {
  readonly credentials?: ServerCredentials;
  readonly version?: '1.0' | '0.3';
  /** Default: a free one. */
  readonly port?: number;
}

const UNARY: UnaryOperations = OPERATIONS;

export async function grpcJsServer(service: A2AService, options: GrpcJsOptions = {}): Promise<GrpcJsServer> {
  const { credentials = ServerCredentials.createInsecure(), version = '1.0', port: wanted = 0 } = options;
  const codec = version === '1.0' ? CODEC_V10 : CODEC_V03;
  const server = new Server();
  const calls: GrpcJsServer['calls'][number][] = [];
  const seen = (method: string, call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>): void => {
    calls.push({ method, metadata: call.metadata.getMap(), deadline: Number.isFinite(Number(call.getDeadline())) });
  };
  const own = behave(service, codec.dialect.traits);
  for (const operation of OPERATION_NAMES) {
    const method = codec.methodOf(operation);
    if (method === undefined) continue;
    const path = `/${codec.service.typeName}/${method.name}`;
    const bytes = (buffer: Buffer): Buffer => buffer;
    if (isStreamOperation(operation)) {
      const handler: handleServerStreamingCall<Buffer, Buffer> = (call) => {
        seen(method.name, call);
        void stream(own, { codec, operation, call });
      };
      server.register(path, handler, bytes, bytes, 'serverStream');
    } else {
      const handler: handleUnaryCall<Buffer, Buffer> = (call, done) => {
        seen(method.name, call);
        unary(own, { codec, operation, call }).then(
          (result) => done(null, result),
          (thrown: unknown) => done(failed(thrown)),
        );
      };
      server.register(path, handler, bytes, bytes, 'unary');
    }
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${wanted}`, credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  const address = `127.0.0.1:${port}`;
  const card = { ...CARD, supportedInterfaces: [{ url: address, protocolBinding: 'GRPC', protocolVersion: version }] };
  return { address, port, card, calls, close: () => server.forceShutdown() };
}

function contextOf(metadata: GrpcMetadata, signal: AbortSignal): CallContext {
  const version = String(metadata.get('a2a-version')[0] ?? '1.0');
  if (!['1.0', '0.3'].includes(version)) throw new A2AError('VERSION_NOT_SUPPORTED', `A2A version ${version} is not supported`);
  const extensions = String(metadata.get('a2a-extensions')[0] ?? '').split(',');
  const key = metadata.get('idempotency-key')[0];
  return { ...callContext(), extensions, signal, ...(key === undefined ? {} : { idempotencyKey: String(key) }) };
}

async function unary(
  service: A2AService,
  { codec, operation, call }: { codec: ProtoCodec; operation: UnaryOperation; call: ServerUnaryCall<Buffer, Buffer> },
): Promise<Buffer> {
  const left = new AbortController();
  call.on('cancelled', () => left.abort());
  const request = codec.decodeRequest(operation, call.request, countingEnv());
  const result = await UNARY[operation].call(service, request as never, contextOf(call.metadata, left.signal));
  return Buffer.from(codec.encodeResult(operation, result as never));
}

async function stream(
  service: A2AService,
  { codec, operation, call }: { codec: ProtoCodec; operation: Operation & StreamOperation; call: ServerWritableStream<Buffer, Buffer> },
): Promise<void> {
  const left = new AbortController();
  call.on('cancelled', () => left.abort());
  try {
    const ctx = contextOf(call.metadata, left.signal);
    const request = codec.decodeRequest(operation, call.request, countingEnv());
    const after = Number(call.metadata.get('last-event-id')[0] ?? 0);
    const resumed = after === 0 ? request : { ...request, after: seq(after) };
    for await (const batch of OPERATIONS[operation].call(service, resumed as never, ctx)) {
      for (const logged of batch) call.write(Buffer.from(codec.encodeEvent(logged, ctx.extensions.includes(SEQ_EXTENSION))));
    }
    call.end();
  } catch (thrown) {
    call.emit('error', failed(thrown));
  }
}

function failed(thrown: unknown): { code: number; details: string; metadata: Metadata } {
  const { code, message, details } = statusOf(A2AError.from(thrown));
  const metadata = new Metadata();
  if (details !== undefined) metadata.set('grpc-status-details-bin', Buffer.from(details));
  return { code, details: message, metadata };
}
