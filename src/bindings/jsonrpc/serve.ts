import type { A2AService, Dialect, DialectId, Frame, Hints, Json, Operation, RawObject, RpcId, StreamWriter } from '#protocol';
import { A2AError, answeringDialect, isStreamOperation } from '#protocol';
import type { Binding } from '../binding.ts';
import { DEFAULT_BODY_LIMITS } from '../body.ts';
import { contextOf } from '../call-context.ts';
import { decodeRequest } from '../codec.ts';
import { jsonBody } from '../document-stream.ts';
import type { HttpRequest, HttpResponse } from '../http.ts';
import { respondTo } from '../http.ts';
import { accepts, isMediaType, JSON_TYPE } from '../media.ts';
import type { BindingServeOptions, Caller } from '../options.ts';
import { callerOf, DEFAULT_ENV, registryOf } from '../options.ts';
import { requestBytes, requestJson } from '../request-body.ts';
import type { RequestTarget } from '../request-target.ts';
import { checkVersion, requestTarget, requestTargetForError } from '../request-target.ts';
import type { StreamFrames } from '../respond.ts';
import { respond } from '../respond.ts';
import { errorHeaders, responseHeaders, toCallerError, writeSafely } from '../responses.ts';
import { EVENT_STREAM, smallFrame } from '../sse.ts';
import { JSON_RPC } from './binding.ts';
import type { RpcRequest } from './wire.ts';
import { errorText, readableId, readEnvelope, requestObject } from './wire.ts';

/** JSON-RPC with its server half. */
export const JSON_RPC_SERVED: Binding<'JSONRPC'> = {
  ...JSON_RPC,
  route: { methods: ['POST'], paths: ['/', '/a2a', '/a2a/jsonrpc', '/api/a2a'] },
  // 0.x uses the root: it becomes the card's `url`, which Society's clients call, and Society is detected only at `/`.
  // At `/a2a/jsonrpc` nothing is ambiguous. `/a2a` is shared with PromptKit and CortexPrism.
  paths: { '1.0': '/a2a/jsonrpc', '0.3': '/' },
  serve: answerJsonRpc,
  refuse: refuseJsonRpc,
};

/**
 * State of one request. `hints`, `dialect` and `id` become known step by step; an error is written with what is
 * known by then.
 */
interface Exchange {
  readonly httpRequest: HttpRequest;
  readonly service: A2AService;
  readonly options: BindingServeOptions;
  hints: Hints;
  dialect: Dialect | undefined;
  id: RpcId;
  /** Set as soon as the method is known. */
  operation: Operation | undefined;
}

const NO_HINTS: Hints = {};

/**
 * Serves one JSON-RPC request of any dialect. Never throws: failures become error responses.
 *
 * ```ts
 * const response = await serveJsonRpc(request, service, { caller: authenticate });
 * ```
 */
export async function serveJsonRpc(request: Request, service: A2AService, options: BindingServeOptions = {}): Promise<Response> {
  return respondTo(request, (httpRequest) => answerJsonRpc(httpRequest, service, options));
}

/** Like `serveJsonRpc`, for hosts that do not use `Request` and `Response`. */
function answerJsonRpc(httpRequest: HttpRequest, service: A2AService, options: BindingServeOptions = {}): Promise<HttpResponse> {
  const exchange: Exchange = {
    httpRequest,
    service,
    options,
    id: null,
    hints: NO_HINTS,
    dialect: options.dialect,
    operation: undefined,
  };
  return answer(exchange).catch((thrown: unknown) => refuse(exchange, toCallerError(thrown, options)));
}

/**
 * The error response to a request that is rejected before its body is read, in the dialect that the
 * path and `A2A-Version` suggest, with the id null.
 */
function refuseJsonRpc(httpRequest: HttpRequest, error: A2AError, options: BindingServeOptions = {}): HttpResponse {
  const target = requestTargetForError(httpRequest, options);
  return refusalText(target.fixed ?? answeringDialect(registryOf(options), hintsOf(target)), null, error);
}

async function answer(exchange: Exchange): Promise<HttpResponse> {
  const { httpRequest, options } = exchange;
  if (httpRequest.method !== 'POST') return notPost(exchange);
  const target = requestTarget(httpRequest, options);
  exchange.hints = hintsOf(target);
  exchange.dialect = target.fixed;
  if (!isMediaType(httpRequest.header('content-type'), [JSON_TYPE])) {
    throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type must be ${JSON_TYPE}`);
  }
  const bodyBytesMax = options.bodyBytesMax ?? target.fixed?.wire.bodyBytesMax ?? DEFAULT_BODY_LIMITS.bodyBytesMax;
  const raw = requestJson(await requestBytes(httpRequest, bodyBytesMax), options);
  exchange.id = readableId(raw);
  const envelope = requestObject(raw);
  const found = callerOf(httpRequest, options);
  const caller = found instanceof Promise ? await found : found;
  const { method, params } = envelope;
  if (target.fixed === undefined && typeof method === 'string') {
    const picked = pickDialect(exchange, { ...exchange.hints, method, params }, caller);
    exchange.dialect = picked instanceof Promise ? await picked : picked;
  }
  const dialect = dialectOf(exchange);
  if (envelope['id'] === undefined) checkWithoutId(dialect, options, envelope);
  const rpc = readEnvelope(envelope, dialect.envelope ?? {});
  exchange.operation = dialect.operationOf(rpc.method);
  checkVersion(target.version, dialect, options);
  return call(exchange, { rpc, dialect, caller });
}

function hintsOf({ path, version }: Pick<RequestTarget, 'path' | 'version'>): Hints {
  return version === undefined ? { path } : { path, version };
}

/** The dialect of the response. */
function dialectOf({ dialect, hints, options }: Exchange): Dialect {
  return dialect ?? answeringDialect(registryOf(options), hints);
}

/**
 * A request without an id is rejected. If its method is unknown or its params are wrong as well, the
 * response says that first, as the official SDK and the 0.3 kit have it. Society checks the id first.
 */
function checkWithoutId(dialect: Dialect, options: BindingServeOptions, { jsonrpc, method, params }: RawObject): void {
  if (jsonrpc !== '2.0' || typeof method !== 'string' || method === '' || dialect.envelope !== undefined) return;
  const operation = dialect.operationOf(method);
  if (operation === undefined) throw methodNotFound(method);
  decodeRequest(operation, params, { dialect, env: options.env ?? DEFAULT_ENV });
}

function pickDialect(exchange: Exchange, hints: Hints, caller: Caller): Dialect | Promise<Dialect> {
  const registry = registryOf(exchange.options);
  let reading: Promise<DialectId | undefined> | undefined;
  const origin = (): DialectId | undefined => {
    const found = originOf(exchange, hints, caller);
    if (!(found instanceof Promise)) return found;
    reading = found;
    return undefined;
  };
  const picked = registry.detect(hints, origin) ?? answeringDialect(registry, hints);
  return reading === undefined ? picked : reading.then((made) => registry.detect(hints, () => made) ?? picked);
}

type TaskOrigin = NonNullable<A2AService['originOf']>;

/**
 * The dialect in which the request's task was created. Get, cancel and subscribe look alike in half of
 * the dialects.
 */
function originOf({ httpRequest, service, options }: Exchange, hints: Hints, caller: Caller): ReturnType<TaskOrigin> {
  const dialect = registryOf(options).detect(hints);
  const operation = hints.method === undefined ? undefined : dialect?.operationOf(hints.method);
  if (dialect === undefined || (operation !== 'get' && operation !== 'cancel' && operation !== 'subscribe')) return undefined;
  const decoded = dialect.decode(`${operation}.request`, hints.params, options.env ?? DEFAULT_ENV);
  return decoded.ok ? service.originOf?.(decoded.value.id, contextOf(httpRequest, { dialect, caller }, httpRequest.signal)) : undefined;
}

interface ReadCall {
  readonly rpc: RpcRequest;
  readonly dialect: Dialect;
  readonly caller: Caller;
}

function call({ httpRequest, service, options, id, operation }: Exchange, { rpc, dialect, caller }: ReadCall): Promise<HttpResponse> {
  if (operation === undefined) throw methodNotFound(rpc.method);
  const env = { ...(options.env ?? DEFAULT_ENV), rpcId: rpc.id };
  return respond(
    { httpRequest, service, options, dialect, caller, operation, raw: rpc.params, env },
    {
      result: (value, headers) => json(resultBody(id, value), 200, headers),
      openStream: () => new RpcFrames(dialect, id),
    },
  );
}

class RpcFrames implements StreamFrames {
  readonly writer: StreamWriter;
  readonly #dialect: Dialect;
  readonly #id: RpcId;

  constructor(dialect: Dialect, id: RpcId) {
    this.writer = dialect.openStream(id);
    this.#dialect = dialect;
    this.#id = id;
  }

  errorFrame(error: A2AError): Frame {
    return { event: 'error', data: writeSafely(error, (safe) => errorText(this.#id, this.#dialect.error.write(safe))) };
  }
}

function methodNotFound(method: string): A2AError {
  const shown = method.slice(0, 100);
  return new A2AError('METHOD_NOT_FOUND', `Method not found: ${shown}`, { info: { method: shown } });
}

function refuse(exchange: Exchange, error: A2AError): HttpResponse {
  const dialect = dialectOf(exchange);
  const response = refusalText(dialect, exchange.id, error);
  if (response.status !== 200 || typeof response.body !== 'string' || !wantsEvent(exchange, dialect, error)) return response;
  const headers = { ...response.headers, 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-cache' };
  return { ...response, headers, body: smallFrame({}, response.body) };
}

/** Whether an error is an event of the stream that the caller asked for (docs/decisions/2026-11-16-what-other-sdks-read.md). */
function wantsEvent({ operation, httpRequest }: Exchange, dialect: Dialect, { kind }: A2AError): boolean {
  const { streamErrors } = dialect.wire;
  if (streamErrors === undefined || operation === undefined || !isStreamOperation(operation)) return false;
  const accept = httpRequest.header('accept') ?? '*/*';
  if (!accepts(accept, EVENT_STREAM)) return false;
  if (streamErrors === 'event') return true;
  // A2A 1.0.1 §3.1.6 wants an error response for a subscription to a finished task, and the official kit checks it.
  return !accepts(accept, JSON_TYPE) && !(operation === 'subscribe' && kind === 'UNSUPPORTED_OPERATION');
}

function refusalText(dialect: Dialect, id: RpcId, error: A2AError): HttpResponse {
  const status = dialect.wire.httpStatusOnError(error.kind);
  const text = writeSafely(error, (safe) => errorText(id, dialect.error.write(safe)));
  return json(text, status, { ...responseHeaders(dialect, []), ...errorHeaders(error) });
}

function notPost(exchange: Exchange): HttpResponse {
  const error = dialectOf(exchange).error.write(new A2AError('INVALID_REQUEST', 'JSON-RPC requests must use POST'));
  return json(errorText(null, error), 405, { Allow: 'POST' });
}

function resultBody(id: RpcId, result: Json): HttpResponse['body'] {
  return jsonBody(result, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`, '}');
}

function json(body: HttpResponse['body'], status: number, headers: Record<string, string>): HttpResponse {
  return { status, headers: { ...headers, 'Content-Type': JSON_TYPE }, body };
}
