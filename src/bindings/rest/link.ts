import type {
  A2AService,
  CallContext,
  Dialect,
  Logged,
  Operation,
  ReadEnv,
  Requests,
  RestGrammar,
  RestRoute,
  Results,
  StreamOperation,
  UnaryOperation,
} from '#protocol';
import { A2AError, isObject, withoutEndSlashes } from '#protocol';
import { decodeResult, encodeRequest, unreadable, unsupported } from '../codec.ts';
import { incomingEvents, isEventStream } from '../incoming.ts';
import type { LinkResponse } from '../link-http.ts';
import { lastEventId, readResponseBody, requestHeaders, send, statusError } from '../link-http.ts';
import type { LinkOptions } from '../link-service.ts';
import { linkEnv, linkService } from '../link-service.ts';
import { JSON_TYPE } from '../media.ts';
import { EVENT_STREAM } from '../sse.ts';
import { fillPath, queryOf, routeFor } from './wire.ts';

/** An `A2AService` that calls a remote agent over HTTP+JSON. Throws if the dialect has no such form. */
export function restLink(options: LinkOptions): A2AService {
  const { rest } = options.dialect;
  if (rest === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `${options.dialect.title} has no HTTP+JSON form`);
  const link: Link = { options, dialect: options.dialect, env: linkEnv(options), grammar: rest, subscribeBy: undefined };
  return linkService(
    {
      unary: (operation, request, ctx) => call(operation, request, { link, ctx }),
      stream: (operation, request, ctx) => events(operation, request, { link, ctx }),
    },
    options,
  );
}

interface Link {
  readonly options: LinkOptions;
  readonly dialect: Dialect;
  readonly env: ReadEnv;
  readonly grammar: RestGrammar;
  /**
   * HTTP method that this peer accepts for subscriptions, once it is known. The specification names
   * two.
   */
  subscribeBy: RestRoute['verb'] | undefined;
}

interface Calling {
  readonly link: Link;
  readonly ctx: CallContext;
}

async function call<Op extends UnaryOperation>(operation: Op, request: Requests[Op], calling: Calling): Promise<Results[Op]> {
  const { link, ctx } = calling;
  const accept = [...new Set([link.grammar.mediaType, JSON_TYPE])].join(', ');
  const answer = await go(operation, request, { ...calling, route: routeOf(operation, link), accept });
  const { response } = answer;
  const { parsed, isEmpty } = await readResponseBody(answer, link.options, ctx);
  if (!response.ok) throw errorOf(response, parsed.ok ? parsed.value : undefined, link);
  if (!parsed.ok && !isEmpty) throw statusError(response, 'an HTTP+JSON answer');
  return decodeResult(operation, parsed.ok ? parsed.value : undefined, link);
}

/** Opens a stream. An agent that answers with a document instead gives one batch. */
async function* events<Op extends StreamOperation>(
  operation: Op,
  request: Requests[Op],
  calling: Calling,
): AsyncGenerator<readonly Logged[], void> {
  const { link, ctx } = calling;
  const { options, grammar } = link;
  const answer = await openEvents(operation, request, calling);
  const { response } = answer;
  const reader = link.dialect.openReader(link.env);
  if (isEventStream(response)) {
    yield* incomingEvents(answer, { reader, unwrap: (frame, name) => unwrap(frame, name, grammar), options, ctx });
    return;
  }
  const { parsed } = await readResponseBody(answer, options, ctx);
  if (!response.ok) throw errorOf(response, parsed.ok ? parsed.value : undefined, link);
  if (!parsed.ok) throw statusError(response, 'an event stream');
  const read = reader.read(parsed.value); // some agents answer a call for a stream with the result itself
  if (!read.ok) throw unreadable(read);
  yield read.value.map((event) => ({ event }));
}

/**
 * Subscribes by POST, and after 404 or 405 by GET, because the specification names both. The link
 * remembers which one worked.
 */
async function openEvents<Op extends StreamOperation>(operation: Op, request: Requests[Op], calling: Calling): Promise<LinkResponse> {
  const { link } = calling;
  const usual = routeOf(operation, link, operation === 'subscribe' ? link.subscribeBy : undefined);
  const first = await go(operation, request, { ...calling, route: usual, accept: EVENT_STREAM });
  if (operation !== 'subscribe' || link.subscribeBy !== undefined || !noRoute(first)) return first;
  const other = link.grammar.routes.find((route) => route.operation === operation && route.verb !== usual.verb);
  if (other === undefined) return first;
  const second = await go(operation, request, { ...calling, route: other, accept: EVENT_STREAM });
  if (!noRoute(second)) link.subscribeBy = other.verb;
  const [told, untold] = second.response.status === 405 ? [first, second] : [second, first];
  untold.timer.stop();
  await untold.response.body?.cancel();
  return told;
}

function noRoute({ response }: LinkResponse): boolean {
  return response.status === 404 || response.status === 405;
}

function routeOf(operation: Operation, { grammar, options }: Link, verb?: RestRoute['verb']): RestRoute {
  const route = routeFor(grammar, operation, verb);
  if (route === undefined) throw unsupported(operation, options.dialect);
  return route;
}

interface Going extends Calling {
  readonly route: RestRoute;
  readonly accept: string;
}

/** Sends one request: members of the path first, the rest in the query or in the body. */
async function go<Op extends Operation>(operation: Op, given: Requests[Op], { link, ctx, route, accept }: Going): Promise<LinkResponse> {
  const { options, grammar } = link;
  const { params } = encodeRequest(operation, given, link.dialect);
  const { path, left } = fillPath(route, isObject(params) ? params : {}, grammar.tenants);
  const hasBody = route.verb === 'POST';
  const headers = await requestHeaders({ accept, hasBody, resumeAfter: lastEventId(operation, given) }, options, ctx);
  const url = `${withoutEndSlashes(options.url)}${path}${hasBody ? '' : queryOf(left)}`;
  return await send({ url, method: route.verb, headers, ...(hasBody ? { body: JSON.stringify(left) } : {}) }, options, ctx);
}

function errorOf(response: Response, body: unknown, { grammar }: Link): A2AError {
  return body === undefined ? statusError(response, 'an HTTP+JSON error') : grammar.readError(response.status, body);
}

function unwrap(frame: unknown, name: string | undefined, grammar: RestGrammar): unknown {
  const failed = name === 'error' || (typeof frame === 'object' && frame !== null && 'error' in frame);
  if (failed) throw grammar.readError(500, frame);
  return frame;
}
