import type { DescMessage, DescMethod, DescMethodServerStreaming, DescMethodUnary, Message as ProtoMessage } from '@bufbuild/protobuf';
import { toBinary, toJsonString } from '@bufbuild/protobuf';
import type { ConnectRouter, ContextKey, HandlerContext } from '@connectrpc/connect';
import { Code, ConnectError, createConnectRouter, createContextKey, createContextValues } from '@connectrpc/connect';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { compressionGzip } from '@connectrpc/connect-node';
import type { StreamOperation, UnaryOperation } from '#protocol';
import { A2AError, ERRORS } from '#protocol';
import type { HttpRequest } from '../../http.ts';
import { requestBytes } from '../../request-body.ts';
import { errorHeaders } from '../../responses.ts';
import { framedBody, onlyFrame } from '../framing.ts';
import type { AdmittedCall, GrpcHost } from '../host.ts';
import { READ_BYTES, READ_JSON } from './codec.ts';
import { connectError, untilEnded } from './connect-errors.ts';
import { headersOf } from './connect-headers.ts';
import { refusalOf } from './connect-refusals.ts';
import { checkConnectBody, checkMembers, isCompressed, isFramed } from './members.ts';
import { packedLength } from './packed.ts';
import type { ServedCall, ServedMethod } from './serve-call.ts';
import { answerTooLarge, CODECS, callStream, callUnary, methodAt, serveCall } from './serve-call.ts';

/** A call in the protocol of Connect or of gRPC-Web. */
export interface ConnectRequest extends HttpRequest {
  readonly httpVersion: '1.1' | '2.0';
}

/** A response of Connect, and what became of the call. */
export interface ConnectAnswer extends UniversalServerResponse {
  readonly admitted: AdmittedCall | undefined;
  readonly requestId: string;
}

/** Answers calls in the protocols of Connect and gRPC-Web, over HTTP/1.1 or HTTP/2. */
export type ConnectRoad = (request: ConnectRequest) => Promise<ConnectAnswer>;

/** What a handler knows of its call. */
export interface ConnectCall {
  readonly request: ConnectRequest;
  readonly membersMax: number;
  readonly answerBytesMax: number;
  /** There is such a method. */
  readonly isKnown: boolean;
  admitted: AdmittedCall | undefined;
  /** A handler has got the message, so the bytes of the request were valid. */
  isRead: boolean;
}

/** The call of a handler's context. */
export const CALL: ContextKey<ConnectCall | undefined> = createContextKey<ConnectCall | undefined>(undefined);

/** The types of Connect for methods whose answers are streams. */
const CONNECT_STREAM = /^application\/connect\+/i;
/** The status of HTTP that Connect has for UNIMPLEMENTED, and the one of an unknown method. */
const NOT_IMPLEMENTED = 501;
const NOT_FOUND = 404;
const UNSUPPORTED_MEDIA_TYPE = 415;

/** Adds methods to Connect's router. */
export type ConnectMethods = (router: ConnectRouter) => void;

/** Connect's router, behind the access checks. `addMethods` adds those of A2A by default. */
export function createConnectRoad(host: GrpcHost, addMethods: ConnectMethods = addA2AMethods): ConnectRoad {
  const router = createConnectRouter({
    readMaxBytes: host.requestBytesMax,
    writeMaxBytes: host.answerBytesMax,
    acceptCompression: [compressionGzip],
    binaryOptions: READ_BYTES,
    jsonOptions: READ_JSON,
    requestGate: async ({ values }) => {
      const call = callIn(values.get(CALL));
      try {
        call.admitted = await host.admit(call.request);
        // Callers learn which methods there are only after the access checks.
        if (!call.isKnown) throw new A2AError('METHOD_NOT_FOUND', `unknown method ${call.request.path.slice(0, 100)}`);
      } catch (thrown) {
        throw connectError(thrown, {});
      }
    },
  });
  addMethods(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  const anyUnary = router.handlers.find((handler) => isUnary(handler.method));
  const anyStream = router.handlers.find((handler) => isServerStreaming(handler.method));
  return async (request) => {
    const { requestMembersMax: membersMax, answerBytesMax } = host;
    const { path, httpVersion, method, signal } = request;
    const requestId = host.requestId(request);
    // An agent's own address, `/agents/{name}`, may precede the service.
    const served = path.slice(path.lastIndexOf('/', path.lastIndexOf('/') - 1));
    const known = handlers.get(served);
    const call: ConnectCall = { request, membersMax, answerBytesMax, isKnown: known !== undefined, admitted: undefined, isRead: false };
    // Another method writes the error for one that is unknown, in the protocol of the call.
    const handler = known ?? (CONNECT_STREAM.test(request.header('content-type') ?? '') ? anyStream : anyUnary);
    if (handler === undefined) return { status: 404, admitted: undefined, requestId };
    const answer = await handler({
      httpVersion,
      method,
      url: `http://localhost${served}`, // the caller's own name of the host may be no part of a URL
      header: headersOf(request),
      body: bodyOf(call, host, handler.method.input),
      signal,
      contextValues: createContextValues().set(CALL, call),
    });
    if (call.isRead) return { ...answer, admitted: call.admitted, requestId };
    if (answer.status === UNSUPPORTED_MEDIA_TYPE) return { ...(await wrongType(answer, request, host)), admitted: undefined, requestId };
    const { answer: refused, code } = await refusalOf(answer);
    call.admitted?.ended(code);
    const status = call.isKnown || refused.status !== NOT_IMPLEMENTED ? refused.status : NOT_FOUND;
    return { ...refused, status, admitted: call.admitted, requestId };
  };
}

/** Connect answers a content type that the method does not have before the access checks. */
async function wrongType(answer: UniversalServerResponse, request: HttpRequest, host: GrpcHost): Promise<UniversalServerResponse> {
  try {
    (await host.admit(request)).ended(Code.Unimplemented);
    return answer;
  } catch (thrown) {
    const error = A2AError.from(thrown);
    return { status: ERRORS[error.kind].http, header: new Headers(errorHeaders(error)) };
  }
}

function addA2AMethods(router: ConnectRouter): void {
  for (const { service } of CODECS) {
    for (const method of service.methods) {
      const served = methodAt(`/${service.typeName}/${method.name}`);
      if (served === undefined) continue;
      if (isUnary(method) && !served.streams) {
        router.rpc<DescMethodUnary>(method, (message, context) => unary(served, message, context));
      } else if (isServerStreaming(method) && served.streams) {
        router.rpc<DescMethodServerStreaming>(method, (message, context) => stream(served, message, context));
      }
    }
  }
}

/** Whether a method has one message and one answer. */
export function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === 'unary';
}

/** Whether a method has one message and a stream of answers. */
export function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === 'server_streaming';
}

async function unary(method: ServedMethod<UnaryOperation>, message: ProtoMessage, context: HandlerContext): Promise<ProtoMessage> {
  const { admitted, served, request } = read(method, message, context);
  const write = isJson(request) ? method.codec.writeResult : method.codec.packResult;
  try {
    const answer = write(method.operation, await untilEnded(callUnary(served), context.signal));
    checkAnswer(answer, context, request);
    admitted.recording?.result(method.codec.show(method.operation, 'output', answer));
    admitted.ended(0);
    return answer;
  } catch (thrown) {
    throw failed(thrown, admitted);
  }
}

async function* stream(
  method: ServedMethod<StreamOperation>,
  message: ProtoMessage,
  context: HandlerContext,
): AsyncGenerator<ProtoMessage, void> {
  const { admitted, served, request } = read(method, message, context);
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const events = callStream(served, request)[Symbol.asyncIterator]();
  const write = isJson(request) ? method.codec.writeEvent : method.codec.packEvent;
  let onEnd: (() => void) | undefined;
  let isOver = false;
  try {
    let next = await untilEnded(events.next(), signal);
    admitted.track({
      finish: (_, why) =>
        ended.abort(
          why === 'shutdown'
            ? new ConnectError('this node is shutting down; try again', Code.Unavailable)
            : new ConnectError('the credential is not valid any more', Code.Unauthenticated),
        ),
      onEnd(listener) {
        onEnd = () => listener(this);
      },
    });
    for (; next.done !== true; next = await untilEnded(events.next(), signal)) {
      for (const logged of next.value) {
        const event = write(logged, served.withSeq);
        checkAnswer(event, context, request);
        admitted.recording?.event(method.codec.show(method.operation, 'output', event));
        yield event;
      }
    }
    isOver = true;
    admitted.ended(0);
  } catch (thrown) {
    isOver = true;
    throw failed(thrown, admitted);
  } finally {
    if (!isOver) admitted.ended(Code.Canceled); // the caller has disconnected
    onEnd?.();
    void events.return?.().then(undefined, () => undefined); // the caller has its status already
  }
}

/** Connect's own error for an answer that is too large names no way to read it, and comes after the call has counted as successful. */
function checkAnswer(message: ProtoMessage, { method, values }: HandlerContext, request: HttpRequest): void {
  const { answerBytesMax } = callIn(values.get(CALL));
  const length = isJson(request) ? Buffer.byteLength(toJsonString(method.output, message)) : packedLength(message);
  if (length > answerBytesMax) throw answerTooLarge(length, answerBytesMax);
}

/** Whether the messages of a call are JSON. */
function isJson(request: HttpRequest): boolean {
  return /json/i.test(request.header('content-type') ?? '');
}

interface ReadCall<Op extends UnaryOperation | StreamOperation> {
  readonly admitted: AdmittedCall;
  readonly request: ConnectRequest;
  readonly served: ServedCall<Op>;
}

/** Reads the message and finds the agent. */
function read<Op extends UnaryOperation | StreamOperation>(
  method: ServedMethod<Op>,
  message: ProtoMessage,
  context: HandlerContext,
): ReadCall<Op> {
  const call = callIn(context.values.get(CALL));
  call.isRead = true;
  const { admitted, request } = call;
  if (admitted === undefined) throw new ConnectError('no access', Code.PermissionDenied);
  try {
    const head = { httpRequest: request, admitted, signal: context.signal };
    checkInflated(method, message, call);
    admitted.recording?.request(method.codec.show(method.operation, 'input', message));
    const served = serveCall(method, head, (env) => method.codec.readRequest(method.operation, message, env));
    for (const [name, value] of Object.entries(served.headers)) context.responseHeader.set(name, value);
    return { admitted, request, served };
  } catch (thrown) {
    throw failed(thrown, admitted);
  }
}

/** The body of a compressed request does not show its members. */
function checkInflated({ codec, operation }: ServedMethod, message: ProtoMessage, { request, membersMax }: ConnectCall): void {
  const schema = codec.methodOf(operation)?.input;
  if (schema !== undefined && isCompressed(request)) checkMembers(schema, toBinary(schema, message), membersMax);
}

function failed(thrown: unknown, admitted: AdmittedCall): ConnectError {
  const error = connectError(thrown, admitted);
  admitted.ended(error.code, error.rawMessage);
  return error;
}

function callIn(call: ConnectCall | undefined): ConnectCall {
  if (call === undefined) throw new Error('the call has no request');
  return call;
}

/** The body, which Connect reads after the access checks. Every method takes one message. */
async function* bodyOf(call: ConnectCall, host: GrpcHost, schema: DescMessage): AsyncGenerator<Uint8Array, void> {
  const { requestBytesMax, requestMembersMax: membersMax } = host;
  const { request, admitted } = call;
  const { httpRequest } = admitted ?? { httpRequest: request };
  const hasFrames = isFramed(request);
  try {
    const body = await (hasFrames ? framedBody : requestBytes)(httpRequest, requestBytesMax);
    if (hasFrames) onlyFrame(body, requestBytesMax);
    checkConnectBody(schema, request, { body, membersMax });
    yield body;
  } catch (thrown) {
    throw connectError(thrown, {});
  }
}
