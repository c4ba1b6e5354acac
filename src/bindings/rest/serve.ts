import type { A2AService, Dialect, Frame, Json, Operation, RestGrammar, StreamWriter } from '#protocol';
import { A2AError, isStreamOperation } from '#protocol';
import type { Binding } from '../binding.ts';
import { DEFAULT_BODY_LIMITS } from '../body.ts';
import { jsonBody } from '../document-stream.ts';
import type { HttpRequest, HttpResponse } from '../http.ts';
import { respondTo } from '../http.ts';
import { isMediaType, JSON_TYPE, preferredType } from '../media.ts';
import type { BindingServeOptions } from '../options.ts';
import { callerOf, DEFAULT_ENV, registryOf } from '../options.ts';
import { requestBytes, requestJson } from '../request-body.ts';
import type { RequestTarget } from '../request-target.ts';
import { checkVersion, pathBelow, requestTarget, requestTargetForError, speaks } from '../request-target.ts';
import type { ResponseWriter, StreamFrames } from '../respond.ts';
import { respond } from '../respond.ts';
import { errorHeaders, responseHeaders, toCallerError, writeSafely } from '../responses.ts';
import { HTTP_JSON } from './binding.ts';
import type { RouteMatch } from './wire.ts';
import { decodedMembers, matchPath, queryMembers } from './wire.ts';

/** HTTP+JSON with its server half. */
export const HTTP_JSON_SERVED: Binding<'HTTP+JSON'> = {
  ...HTTP_JSON,
  route: { methods: ['GET', 'HEAD', 'POST', 'DELETE'], matches: (path) => hasRestRoute(path), bodyOptional: true },
  // The base address itself: 1.0's paths are below it, 0.3's below its `/v1`.
  paths: { '1.0': '', '0.3': '' },
  serve: answerRest,
  refuse: refuseRest,
};

/** A dialect that has an HTTP+JSON form. */
type RestDialect = Dialect & { readonly rest: RestGrammar };

interface Exchange {
  readonly httpRequest: HttpRequest;
  readonly service: A2AService;
  readonly options: BindingServeOptions;
  dialect: RestDialect;
  /** HTTP status, if it differs from the one of the error's kind. */
  status?: number;
}

/**
 * Serves one HTTP+JSON request of any dialect that has this form. Never throws: failures become error
 * responses.
 *
 * ```ts
 * Deno.serve((request) => serveRest(request, engine.serviceOf('echo')));
 * ```
 */
export async function serveRest(request: Request, service: A2AService, options: BindingServeOptions = {}): Promise<Response> {
  return respondTo(request, (httpRequest) => answerRest(httpRequest, service, options));
}

/** Like `serveRest`, for hosts that do not use `Request` and `Response`. */
async function answerRest(httpRequest: HttpRequest, service: A2AService, options: BindingServeOptions = {}): Promise<HttpResponse> {
  const [first] = restDialects(options.dialect, options);
  if (first === undefined) throw new Error('no dialect here has an HTTP+JSON form');
  const exchange: Exchange = { httpRequest, service, options, dialect: first };
  try {
    return await answer(exchange, requestTarget(httpRequest, options));
  } catch (thrown) {
    return refuse(exchange, toCallerError(thrown, options));
  }
}

/**
 * The error response to a request that is rejected before its body is read, in the dialect to which the
 * path belongs. `status` overrides the status of the error's kind.
 */
function refuseRest(
  httpRequest: HttpRequest,
  error: A2AError,
  { status, ...options }: BindingServeOptions & { readonly status?: number } = {},
): HttpResponse {
  const target = requestTargetForError(httpRequest, options);
  const dialects = restDialects(target.fixed, options);
  const dialect = foundOrNot(dialects, target)?.dialect ?? dialects[0] ?? restDialects(undefined, options)[0];
  if (dialect === undefined) throw new Error('no dialect here has an HTTP+JSON form');
  const { status: own, body } = writeSafely(error, (safe) => dialect.rest.writeError(safe, status));
  return {
    status: own,
    headers: { ...responseHeaders(dialect, []), ...errorHeaders(error), 'Content-Type': JSON_TYPE },
    body: JSON.stringify(body),
  };
}

/** A malformed path belongs to no dialect. */
function foundOrNot(dialects: readonly RestDialect[], target: RequestTarget): Found | undefined {
  try {
    return findRoutes(dialects, target);
  } catch {
    return undefined;
  }
}

/** Whether `serveRest` has a route for this path. A server calls it before it passes a request on. */
export function hasRestRoute(path: string, options: BindingServeOptions = {}): boolean {
  const dialects = restDialects(options.dialect, options);
  const below = pathBelow(path, options.basePath ?? '');
  return [false, true].some((tenants) => dialects.some(({ rest }) => matchPath(rest, below, tenants).length > 0));
}

function restDialects(fixed: Dialect | undefined, options: BindingServeOptions): readonly RestDialect[] {
  const candidates = fixed === undefined ? registryOf(options).all : [fixed];
  return candidates.filter((dialect): dialect is RestDialect => dialect.rest !== undefined);
}

async function answer(exchange: Exchange, target: RequestTarget): Promise<HttpResponse> {
  const { httpRequest, options } = exchange;
  const found = findRoutes(restDialects(target.fixed, options), target);
  if (found === undefined)
    throw new A2AError('METHOD_NOT_FOUND', `nothing is served at ${target.path.slice(0, 100)}`, { info: { method: httpRequest.method } });
  exchange.dialect = found.dialect;
  checkVersion(target.version, found.dialect, options);
  const verb = httpRequest.method === 'HEAD' ? 'GET' : httpRequest.method;
  const match = found.matches.find(({ route }) => route.verb === verb);
  if (match === undefined || (httpRequest.method === 'HEAD' && isStreamOperation(match.route.operation))) {
    return wrongVerb(exchange, found.matches);
  }
  const raw = { ...(await readBody(exchange, match)), ...queryMembers(target.query, match.route.flags), ...decodedMembers(match) };
  const answered = await call(exchange, match.route.operation, raw);
  return httpRequest.method === 'HEAD' ? { ...answered, body: null } : answered;
}

interface Found {
  readonly dialect: RestDialect;
  readonly matches: readonly RouteMatch[];
}

/**
 * Finds the dialect to which a path belongs. Dialects of the requested version are tried first, so that
 * a 1.0 client can use a tenant named `v1`. Otherwise a route without a tenant takes precedence over
 * one with a tenant.
 */
function findRoutes(dialects: readonly RestDialect[], { path, version }: RequestTarget): Found | undefined {
  const fitting = version === undefined ? [] : dialects.filter((dialect) => speaks(dialect, version));
  for (const candidates of [fitting, dialects]) {
    for (const tenants of [false, true]) {
      for (const dialect of candidates) {
        const matches = matchPath(dialect.rest, path, tenants);
        if (matches.length > 0) return { dialect, matches };
      }
    }
  }
  return undefined;
}

/**
 * The members of the body. No body, an empty body and `null` all mean none: clients of 0.3 send all
 * three.
 */
async function readBody(exchange: Exchange, { route }: RouteMatch): Promise<object> {
  if (route.verb !== 'POST') return {};
  const { httpRequest, options, dialect } = exchange;
  const type = httpRequest.header('content-type');
  const json = isMediaType(type, [JSON_TYPE, dialect.rest.mediaType]);
  if (!json && (type !== undefined || Number(httpRequest.header('content-length') ?? 0) > 0)) throw wrongType(exchange);
  const bytes = await requestBytes(httpRequest, options.bodyBytesMax ?? DEFAULT_BODY_LIMITS.bodyBytesMax);
  if (bytes.length === 0) return {};
  if (!json) throw wrongType(exchange);
  const value = requestJson(bytes, options) ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new A2AError('INVALID_REQUEST', 'the body must be an object');
  return value;
}

/** 415, because the header belongs to HTTP. An unsupported media type of a part is 400. */
function wrongType(exchange: Exchange): A2AError {
  exchange.status = 415;
  return new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type must be ${exchange.dialect.rest.mediaType} or ${JSON_TYPE}`);
}

async function call(exchange: Exchange, operation: Operation, raw: unknown): Promise<HttpResponse> {
  const { httpRequest, service, options, dialect } = exchange;
  const caller = await callerOf(httpRequest, options);
  const incoming = { httpRequest, service, options, dialect, caller, operation, raw, env: options.env ?? DEFAULT_ENV };
  return await respond(incoming, new RestResponseWriter(exchange));
}

class RestResponseWriter implements ResponseWriter {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** An empty result is written as `{}`, like protobuf's Empty. */
  result(value: Json, headers: Record<string, string>): HttpResponse {
    return json(this.#exchange, value ?? {}, { status: 200, headers });
  }

  openStream(): StreamFrames {
    return new RestFrames(this.#exchange.dialect);
  }
}

class RestFrames implements StreamFrames {
  readonly writer: StreamWriter;
  readonly #rest: RestGrammar;

  constructor(dialect: RestDialect) {
    this.writer = dialect.openStream(undefined);
    this.#rest = dialect.rest;
  }

  errorFrame(error: A2AError): Frame {
    return { event: 'error', data: writeSafely(error, (safe) => JSON.stringify(this.#rest.writeError(safe).body)) };
  }
}

function wrongVerb(exchange: Exchange, matches: readonly RouteMatch[]): HttpResponse {
  exchange.status = 405;
  const verbs = [...new Set(matches.map(({ route }) => route.verb))].join(', ');
  const refusal = refuse(exchange, new A2AError('METHOD_NOT_FOUND', `use ${verbs} here`));
  return { ...refusal, headers: { ...refusal.headers, Allow: verbs } };
}

function refuse(exchange: Exchange, error: A2AError): HttpResponse {
  const headers = { ...responseHeaders(exchange.dialect, []), ...errorHeaders(error) };
  return writeSafely(error, (safe) => {
    const { status, body } = exchange.dialect.rest.writeError(safe, exchange.status);
    return json(exchange, body, { status, headers });
  });
}

/**
 * Uses `application/json`, unless the client prefers the dialect's own type: 1.0.1 only recommends its
 * own type, and the conformance kit of 1.0.0 expects JSON.
 */
function json(
  { httpRequest, dialect }: Exchange,
  value: Json,
  init: { readonly status: number; readonly headers: Record<string, string> },
): HttpResponse {
  const type = preferredType(httpRequest.header('accept'), [JSON_TYPE, dialect.rest.mediaType]);
  return { status: init.status, headers: { ...init.headers, 'Content-Type': type }, body: jsonBody(value) };
}
