import type {
  A2AService,
  CallContext,
  EventStream,
  Operation,
  ReadEnv,
  Requests,
  Results,
  StreamOperation,
  StreamOperations,
  TenantId,
  UnaryOperation,
  UnaryOperations,
} from '#protocol';
import { A2AError, behave, isStreamOperation, OPERATIONS } from '#protocol';
import { contextOf, resumeAfter } from '../../call-context.ts';
import type { HttpRequest } from '../../http.ts';
import { checkVersion } from '../../request-target.ts';
import { checkExtensions } from '../../respond.ts';
import type { AdmittedCall } from '../host.ts';
import { SEQ_EXTENSION } from '../seq.ts';
import type { ProtoCodec } from './codec.ts';
import { CODEC_V03 } from './codec-v03.ts';
import { CODEC_V10 } from './codec-v10.ts';

/** The versions that are served, the newest first. */
export const CODECS: readonly ProtoCodec[] = [CODEC_V10, CODEC_V03];

/** A method of an A2A service. */
export interface ServedMethod<Op extends Operation = Operation> {
  readonly codec: ProtoCodec;
  readonly operation: Op;
}

/** A method of an A2A service, by the form of its response. */
export type AnyMethod =
  | (ServedMethod<UnaryOperation> & { readonly streams: false })
  | (ServedMethod<StreamOperation> & { readonly streams: true });

const METHODS = new Map<string, AnyMethod>();
for (const codec of CODECS) {
  for (const { name } of codec.service.methods) {
    const operation = codec.operationOf(name);
    if (operation === undefined) continue;
    const path = `/${codec.service.typeName}/${name}`;
    if (isStreamOperation(operation)) METHODS.set(path, { codec, operation, streams: true });
    else METHODS.set(path, { codec, operation, streams: false });
  }
}

/** The A2A method at a path such as `/lf.a2a.v1.A2AService/SendMessage`, or the same below `/agents/{name}`. */
export function methodAt(path: string): AnyMethod | undefined {
  const known = METHODS.get(path);
  if (known !== undefined) return known;
  const [method, service] = path.split('/').reverse();
  return METHODS.get(`/${service}/${method}`);
}

/** A call with its message and its agent. */
export interface ServedCall<Op extends Operation = Operation> {
  readonly method: ServedMethod<Op>;
  readonly request: Requests[Op];
  readonly service: A2AService;
  readonly ctx: CallContext;
  /** The caller wants the number of each event. */
  readonly withSeq: boolean;
  /** Metadata of the response: the version, and the extensions that are active. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What is known of a call before its message is read. */
export interface CallHead {
  readonly httpRequest: HttpRequest;
  readonly admitted: AdmittedCall;
  /** Fires when the caller disconnects or its deadline has passed. */
  readonly signal: AbortSignal;
}

/** Finds the agent of a call and makes its context. `read` decodes the message. Throws what refuses the call. */
export function serveCall<Op extends Operation>(
  method: ServedMethod<Op>,
  { httpRequest, admitted, signal }: CallHead,
  read: (env: ReadEnv) => Requests[Op],
): ServedCall<Op> {
  const { dialect } = method.codec;
  const decoded = read(admitted.env);
  const { service, options, tenant } = admitted.target(decoded.tenant);
  const request = withTenant(decoded, tenant);
  // The name of the service tells the version, so `a2a-version` may be absent. If it is there, it must not contradict.
  const version = httpRequest.header('a2a-version');
  if (version !== undefined) checkVersion(version, dialect, options);
  checkExtensions({ httpRequest, dialect, options });
  const ctx = contextOf(httpRequest, { dialect, caller: admitted.caller, operation: method.operation }, signal);
  const active = ctx.extensions.filter((uri) => uri === SEQ_EXTENSION || options.extensions?.includes(uri) === true);
  return {
    method,
    request,
    service: behave(service, dialect.traits),
    ctx,
    withSeq: active.includes(SEQ_EXTENSION),
    headers: active.length === 0 ? NO_HEADERS : { [dialect.wire.extensionsHeader?.toLowerCase() ?? 'a2a-extensions']: active.join(',') },
  };
}

const NO_HEADERS: ServedCall['headers'] = {};

function withTenant<R extends { readonly tenant?: TenantId }>(request: R, tenant: TenantId | undefined): R {
  if (request.tenant === tenant) return request;
  if (tenant !== undefined) return { ...request, tenant };
  const copy: { tenant?: TenantId } & R = { ...request };
  delete copy.tenant;
  return copy;
}

/** The table of operations, typed for those with one result. */
const UNARY: UnaryOperations = OPERATIONS;

/** Calls the agent for one result. */
export function callUnary<Op extends UnaryOperation>({ method, request, service, ctx }: ServedCall<Op>): Promise<Results[Op]> {
  return UNARY[method.operation].call(service, request, ctx);
}

/** The same for those with a stream. */
const STREAMS: StreamOperations = OPERATIONS;

/** Calls the agent for a stream. A subscription resumes after the metadata `last-event-id`. */
export function callStream<Op extends StreamOperation>(call: ServedCall<Op>, httpRequest: HttpRequest): EventStream {
  const { method, request, service, ctx } = call;
  const after = method.operation === 'subscribe' ? resumeAfter(httpRequest) : undefined;
  return STREAMS[method.operation].call(service, after === undefined ? request : { ...request, after }, ctx);
}

/** The error for an answer that is larger than gRPC clients accept. */
export function answerTooLarge(bytes: number, bytesMax: number): A2AError {
  const hint = 'read the task as a stream, ask for less (historyLength, pageSize), or read it over HTTP';
  return new A2AError('PAYLOAD_TOO_LARGE', `The answer has ${bytes} bytes, more than the ${bytesMax} that gRPC clients accept: ${hint}`);
}
