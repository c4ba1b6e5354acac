import type { ChannelCredentials, ClientReadableStream, ServiceError, StatusObject } from '@grpc/grpc-js';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { A2AError, Logged, Operation, ReadEnv, Requests, Results, UnaryOperation } from '#protocol';
import { countedIds, DEFAULT_READ_LIMITS } from '#protocol';
import type { ProtoCodec } from '../../src/bindings/grpc/adapters/codec.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { errorOfStatus } from '../../src/bindings/grpc/adapters/status.ts';

const ENV: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };

/** How a call of the client of `grpcClient` ended. */
export interface GrpcEnd {
  readonly code: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface GrpcCallOptions {
  readonly metadata?: Readonly<Record<string, string>>;
  /** In milliseconds. */
  readonly timeoutMs?: number;
  /** Metadata of the response. */
  readonly onMetadata?: (metadata: Readonly<Record<string, unknown>>) => void;
  /** Each event of a stream, as it arrives. */
  readonly onEvent?: (logged: Logged) => void;
}

/** A client of the official gRPC library, which shares no code with our server but the messages. */
export interface GrpcClient {
  call<Op extends UnaryOperation>(operation: Op, request: Requests[Op], options?: GrpcCallOptions): Promise<Results[Op]>;
  /** The error of a call that must fail. */
  refusal<Op extends UnaryOperation>(
    operation: Op,
    request: Requests[Op],
    options?: GrpcCallOptions,
  ): Promise<GrpcEnd & { error: A2AError }>;
  /** All events of a stream, and how it ended. */
  stream<Op extends 'stream' | 'subscribe'>(operation: Op, request: Requests[Op], options?: GrpcCallOptions): GrpcStream;
  /** Any path, any bytes. */
  raw(path: string, bytes: Uint8Array, options?: GrpcCallOptions): Promise<GrpcEnd & { bytes: Uint8Array | undefined }>;
  close(): void;
}

export interface GrpcStream {
  readonly events: Logged[];
  readonly ended: Promise<GrpcEnd>;
  cancel(): void;
}

export interface GrpcChannel {
  /** Default: no TLS. */
  readonly tls?: ChannelCredentials;
  /** What the client calls the server. Default: its address. */
  readonly authority?: string;
}

/** Connects to a node, for A2A 1.0 unless told otherwise. */
export function grpcClient(port: number, codec: ProtoCodec = CODEC_V10, { tls, authority }: GrpcChannel = {}): GrpcClient {
  const named = authority === undefined ? {} : { 'grpc.default_authority': authority };
  const client = new Client(`127.0.0.1:${port}`, tls ?? credentials.createInsecure(), named);
  const pathOf = (operation: Operation): string => `/${codec.service.typeName}/${codec.methodOf(operation)?.name}`;
  const callOptions = ({ timeoutMs }: GrpcCallOptions) => (timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs });
  const unary = <Op extends UnaryOperation>(operation: Op, request: Requests[Op], options: GrpcCallOptions): Promise<Results[Op]> =>
    new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        pathOf(operation),
        (value: Requests[Op]) => Buffer.from(codec.encodeRequest(operation, value)),
        // An empty result is null, which the library takes for no message.
        (bytes) => ({ result: codec.decodeResult(operation, bytes, ENV) }),
        request,
        metadataOf(options),
        callOptions(options),
        (error, value) => (error === null && value !== undefined ? resolve(value.result) : reject(error)),
      );
      call.on('metadata', (metadata) => options.onMetadata?.(metadata.getMap()));
    });
  return {
    call: (operation, request, options = {}) => unary(operation, request, options),
    refusal: async (operation, request, options = {}) => {
      const thrown = await unary(operation, request, options).then(
        () => Promise.reject(new Error('the call succeeded')),
        (error: ServiceError) => error,
      );
      return { ...endOf(thrown), error: errorOf(thrown) };
    },
    stream: (operation, request, options = {}) => {
      const call = client.makeServerStreamRequest(
        pathOf(operation),
        (value: typeof request) => Buffer.from(codec.encodeRequest(operation, value)),
        (bytes) => codec.decodeEvent(bytes, ENV),
        request,
        metadataOf(options),
        callOptions(options),
      );
      return streamOf(call, options);
    },
    raw: (path, bytes, options = {}) =>
      new Promise((resolve) => {
        client.makeUnaryRequest(
          path,
          (value: Uint8Array) => Buffer.from(value),
          (answer) => new Uint8Array(answer),
          bytes,
          metadataOf(options),
          callOptions(options),
          (error, answer) => resolve({ ...(error === null ? { code: 0, message: '', metadata: {} } : endOf(error)), bytes: answer }),
        );
      }),
    close: () => client.close(),
  };
}

function streamOf(call: ClientReadableStream<Logged>, { onMetadata, onEvent }: GrpcCallOptions): GrpcStream {
  const events: Logged[] = [];
  call.on('metadata', (metadata) => onMetadata?.(metadata.getMap()));
  call.on('data', (logged: Logged) => {
    events.push(logged);
    onEvent?.(logged);
  });
  call.on('error', () => undefined); // the status has the same
  const ended = new Promise<GrpcEnd>((resolve) => call.on('status', (status) => resolve(endOf(status))));
  return { events, ended, cancel: () => call.cancel() };
}

function metadataOf({ metadata = {} }: GrpcCallOptions): Metadata {
  const out = new Metadata();
  for (const [name, value] of Object.entries(metadata)) out.set(name, value);
  return out;
}

function endOf({ code, details, metadata }: StatusObject | ServiceError): GrpcEnd {
  return { code, message: details, metadata: metadata.getMap() };
}

function errorOf({ code, details: message, metadata }: ServiceError): A2AError {
  const [details] = metadata.get('grpc-status-details-bin');
  return errorOfStatus({ code, message, ...(details instanceof Uint8Array ? { details } : {}) });
}
