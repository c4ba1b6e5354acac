import type { A2AService, Dialect, Json, Operation, RestGrammar } from '#protocol';
import { A2AError, isStreamOperation } from '#protocol';
import { DEFAULT_BODY_LIMITS } from '../body.ts';
import type { Visit } from '../door.ts';
import { answerHeaders, checkVersion, errorHeaders, readVisit, requestBytes, requestJson, speaks, toPeer, writeSafely } from '../door.ts';
import type { Answer, Asked } from '../exchange.ts';
import { respondTo } from '../exchange.ts';
import { isMediaType, JSON_TYPE, preferredType } from '../media.ts';
import type { ServeOptions } from '../options.ts';
import { callerOf, DEFAULT_ENV, registryOf } from '../options.ts';
import { pathBelow } from '../path.ts';
import { respond } from '../respond.ts';
import type { RouteMatch } from './wire.ts';
import { decodedMembers, matchPath, queryMembers } from './wire.ts';

/** A dialect that has an HTTP+JSON form. */
type RestDialect = Dialect & { readonly rest: RestGrammar };

interface Exchange {
  readonly asked: Asked;
  readonly service: A2AService;
  readonly options: ServeOptions;
  dialect: RestDialect;
  /** HTTP status of a refusal at the door, where it is not the error's own. */
  status?: number;
}

/** Serves one HTTP+JSON request. Never throws: what goes wrong is answered. */
export async function serveRest(request: Request, service: A2AService, options: ServeOptions = {}): Promise<Response> {
  return respondTo(request, (asked) => answerRest(asked, service, options));
}

/** The same for hosts that make no `Request` and `Response`. */
export async function answerRest(asked: Asked, service: A2AService, options: ServeOptions = {}): Promise<Answer> {
  const [first] = restDialects(options.dialect, options);
  if (first === undefined) throw new Error('no dialect here has an HTTP+JSON form');
  const exchange: Exchange = { asked, service, options, dialect: first };
  try {
    return await answer(exchange, readVisit(asked, options));
  } catch (thrown) {
    return refuse(exchange, toPeer(thrown, options));
  }
}

/** Whether `serveRest` has a route for this path, so that a host can ask before it hands the request over. */
export function hasRestRoute(path: string, options: ServeOptions = {}): boolean {
  const dialects = restDialects(options.dialect, options);
  const below = pathBelow(path, options.basePath ?? '');
  return [false, true].some((tenants) => dialects.some(({ rest }) => matchPath(rest, below, tenants).length > 0));
}

function restDialects(fixed: Dialect | undefined, options: ServeOptions): readonly RestDialect[] {
  const candidates = fixed === undefined ? registryOf(options).all : [fixed];
  return candidates.filter((dialect): dialect is RestDialect => dialect.rest !== undefined);
}

async function answer(exchange: Exchange, visit: Visit): Promise<Answer> {
  const { asked, options } = exchange;
  const found = findRoutes(restDialects(visit.fixed, options), visit);
  if (found === undefined)
    throw new A2AError('METHOD_NOT_FOUND', `nothing is served at ${visit.path.slice(0, 100)}`, { info: { method: asked.method } });
  exchange.dialect = found.dialect;
  checkVersion(visit.version, found.dialect, options);
  const verb = asked.method === 'HEAD' ? 'GET' : asked.method;
  const match = found.matches.find(({ route }) => route.verb === verb);
  if (match === undefined || (asked.method === 'HEAD' && isStreamOperation(match.route.operation))) {
    return wrongVerb(exchange, found.matches);
  }
  const raw = { ...(await readBody(exchange, match)), ...queryMembers(visit.query, match.route.flags), ...decodedMembers(match) };
  const answered = await call(exchange, match.route.operation, raw);
  return asked.method === 'HEAD' ? { ...answered, body: null } : answered;
}

interface Found {
  readonly dialect: RestDialect;
  readonly matches: readonly RouteMatch[];
}

/**
 * Whose path it is. A dialect that speaks the wanted version comes first, so that a 1.0 client can have a tenant named `v1`;
 * otherwise a path that a dialect has in its own words wins over one that starts with a tenant.
 */
function findRoutes(dialects: readonly RestDialect[], { path, version }: Visit): Found | undefined {
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

/** Body members. No body, an empty one and `null` all mean none: clients of 0.3 send all three. */
async function readBody(exchange: Exchange, { route }: RouteMatch): Promise<object> {
  if (route.verb !== 'POST') return {};
  const { asked, options, dialect } = exchange;
  const type = asked.header('content-type');
  const json = isMediaType(type, [JSON_TYPE, dialect.rest.mediaType]);
  if (!json && (type !== undefined || Number(asked.header('content-length') ?? 0) > 0)) throw wrongType(exchange);
  const bytes = await requestBytes(asked, options.bodyBytesMax ?? DEFAULT_BODY_LIMITS.bodyBytesMax);
  if (bytes.length === 0) return {};
  if (!json) throw wrongType(exchange);
  const value = requestJson(bytes, options) ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new A2AError('INVALID_REQUEST', 'the body must be an object');
  return value;
}

/** 415, not the 400 of a part's media type: the header is HTTP's business (reference/conformance §7). */
function wrongType(exchange: Exchange): A2AError {
  exchange.status = 415;
  return new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type must be ${exchange.dialect.rest.mediaType} or ${JSON_TYPE}`);
}

async function call(exchange: Exchange, operation: Operation, raw: unknown): Promise<Answer> {
  const { asked, service, options, dialect } = exchange;
  const caller = await callerOf(asked, options);
  return await respond(
    { asked, service, options, dialect, caller, operation, raw, env: options.env ?? DEFAULT_ENV },
    {
      result: (value, headers) => json(exchange, value ?? {}, { status: 200, headers }), // nothing to say is `{}`, as protobuf's Empty
      openStream: () => dialect.openStream(undefined),
      errorFrame: (error) => ({ event: 'error', data: writeSafely(error, (safe) => JSON.stringify(dialect.rest.writeError(safe).body)) }),
    },
  );
}

function wrongVerb(exchange: Exchange, matches: readonly RouteMatch[]): Answer {
  exchange.status = 405;
  const verbs = [...new Set(matches.map(({ route }) => route.verb))].join(', ');
  const refusal = refuse(exchange, new A2AError('METHOD_NOT_FOUND', `use ${verbs} here`));
  return { ...refusal, headers: { ...refusal.headers, Allow: verbs } };
}

function refuse(exchange: Exchange, error: A2AError): Answer {
  const headers = { ...answerHeaders(exchange.dialect, []), ...errorHeaders(error) };
  return writeSafely(error, (safe) => {
    const { status, body } = exchange.dialect.rest.writeError(safe, exchange.status);
    return json(exchange, body, { status, headers });
  });
}

/** `application/json`, unless the client asks for the dialect's own type: 1.0.1 only says SHOULD, and 1.0.0's kit wants JSON. */
function json(
  { asked, dialect }: Exchange,
  value: Json,
  init: { readonly status: number; readonly headers: Record<string, string> },
): Answer {
  const type = preferredType(asked.header('accept'), [JSON_TYPE, dialect.rest.mediaType]);
  return { status: init.status, headers: { ...init.headers, 'Content-Type': type }, body: JSON.stringify(value) };
}
