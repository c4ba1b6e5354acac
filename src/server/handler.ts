import type { HttpRequest, HttpResponse } from '#bindings';
import { encodeRetry, refusalBody, respondTo } from '#bindings';
import type { Agent } from '#protocol';
import { createAccess } from './access/access.ts';
import type { Authenticate, AuthenticatedCaller, Refusal } from './access/authentication/caller.ts';
import { isRefusal, LOCAL } from './access/authentication/caller.ts';
import { createHostOriginCheck } from './access/host-origin.ts';
import type { ServedAgent } from './agents/served-agent.ts';
import { assembleNode } from './assemble.ts';
import type { HandlerOptions } from './options.ts';
import { headOf, refusal } from './routes/responses.ts';
import type { RoutedRequest } from './routes/route-handlers.ts';
import { ROUTE_HANDLERS } from './routes/route-handlers.ts';
import type { RequestPath, Route } from './routes/routes.ts';
import { methodsOf, parsePath, routesAt } from './routes/routes.ts';

/** Serves agents to anything that speaks in `Request` and `Response`. */
export interface Handler {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same for hosts that make no `Request` and `Response` (adapters/node.ts). Never throws. */
  readonly answer: (httpRequest: HttpRequest) => Promise<HttpResponse>;
  /** Resolves when what the last process left has been taken up; requests wait for it. */
  readonly ready: Promise<void>;
  readonly agents: readonly ServedAgent[];
  /** Serves another agent from now on at `/agents/{name}`, or another one under the name. */
  add(name: string, agent: Agent): ServedAgent;
  /** It is not served any more; its tasks are kept. The first agent stays. */
  remove(name: string): void;
  /** Takes down how the node does now, for `/api/parley/v1/health`. A host calls it every few seconds. */
  sample(): void;
  /** Takes no more, ends the streams with a word on when to come back, lets what runs end, and keeps what it can't. */
  close(): Promise<void>;
}

/** What became of a request. `refused`: by the gate, before anybody was asked. */
interface Outcome {
  readonly route: Route | undefined;
  readonly answer: HttpResponse;
  readonly caller?: AuthenticatedCaller;
  readonly refused?: Refusal;
}

interface Found {
  readonly place: RequestPath;
  readonly agent: ServedAgent | undefined;
  readonly routes: readonly Route[];
  readonly route: Route | undefined;
}

const REQUESTS = { name: 'parley_http_requests_total', help: 'HTTP requests by what was asked for.', labels: ['route', 'status'] } as const;

export function createHandler(options: HandlerOptions): Handler {
  const node = assembleNode(options);
  const { site, log, flows, limits, audit, health, wire } = node;
  const [guard, door] = [createHostOriginCheck(options), createAccess({ options, limits, audit })];
  const requests = site.metrics.counter(REQUESTS);

  const find = (httpRequest: HttpRequest): Found => {
    const place = parsePath(httpRequest.path);
    const agent = place.agent === undefined ? site.agents[0] : site.agents.find(({ name }) => name === place.agent);
    const routes = agent === undefined ? [] : routesAt(place);
    return { place, agent, routes, route: routes.find(({ methods }) => methods.includes(httpRequest.method)) };
  };
  /** Who calls. What is for everybody asks nobody. */
  const pass = (httpRequest: HttpRequest, { route }: Found): ReturnType<Authenticate> => {
    const isPublic = route?.access === 'public';
    return guard.refusesPage(httpRequest, isPublic) ?? (isPublic ? LOCAL : door.admit(httpRequest, route));
  };
  /** In the order of reference/faults §4; what stands before it there is the host's (adapters/node-listen.ts). */
  const visit = async (httpRequest: HttpRequest): Promise<Outcome> => {
    const barred = guard.refuses(httpRequest);
    if (barred !== undefined) return { route: undefined, answer: barred, refused: barred };
    const preflight = guard.preflight(httpRequest);
    if (preflight !== undefined) return { route: undefined, answer: preflight };
    const found = find(httpRequest);
    const { place, agent, route, routes } = found;
    const passing = pass(httpRequest, found);
    const caller = passing instanceof Promise ? await passing : passing;
    if (isRefusal(caller)) return { route, answer: caller, refused: caller };
    if (agent === undefined || route === undefined) return { route: undefined, answer: noRoute(place, routes) };
    const refused = node.turnedAway(route) ?? door.check(httpRequest, route, caller);
    if (refused !== undefined) return { route, answer: refused, caller, refused };
    if (node.starting !== undefined) await node.starting;
    const answer = await ROUTE_HANDLERS[route.name](site, {
      httpRequest: door.counted(caller, httpRequest),
      place,
      route,
      agent,
      caller,
    } satisfies RoutedRequest);
    return { route, answer: httpRequest.method === 'HEAD' ? headOf(answer) : answer, caller };
  };
  const answer = async (given: HttpRequest): Promise<HttpResponse> => {
    const tape = wire.begin(given);
    const httpRequest = tape?.request ?? given;
    try {
      const outcome = await visit(httpRequest);
      const { route, refused } = outcome;
      const made = refused === undefined ? outcome.answer : refusedAs(route, door.note(httpRequest, refused, outcome));
      if (refused === undefined && route?.access === 'admin') door.noteAdmin(httpRequest, outcome);
      requests.add([route?.name ?? 'none', String(made.status)]);
      if (log.isOn('debug')) log.debug('request', { method: httpRequest.method, path: httpRequest.path, status: made.status });
      flows.track(made, outcome.caller?.isStillValid);
      const extra = guard.headersFor(httpRequest);
      const sent = extra === undefined ? made : { ...made, headers: { ...made.headers, ...extra } };
      return tape === undefined ? sent : tape.answered(sent, outcome);
    } catch (thrown) {
      log.error('a request failed', thrown, { method: httpRequest.method, path: httpRequest.path });
      const failed = refusal(500, 'something went wrong here');
      return tape?.answered(failed, { route: undefined }) ?? failed;
    }
  };
  return {
    answer,
    fetch: (request) => respondTo(request, answer),
    ready: node.ready,
    agents: site.agents,
    add: node.add,
    remove: node.remove,
    sample: health.take,
    close: async () => {
      node.stopTaking();
      flows.finishAll(encodeRetry(limits.reconnectMs));
      await node.stop();
    },
  };
}

/** Chat clients look for the reason of a refusal where OpenAI has it. */
function refusedAs(route: Route | undefined, answer: HttpResponse): HttpResponse {
  if (route?.name !== 'chat' && route?.name !== 'models') return answer;
  const said = typeof answer.body === 'string' ? /"message":"([^"]{1,200})"/.exec(answer.body)?.[1] : undefined;
  const { 'Content-Length': _, ...headers } = answer.headers;
  const body = JSON.stringify(refusalBody(answer.status, said ?? 'this is not for you'));
  return { ...answer, headers: { ...headers, 'Content-Type': 'application/json' }, body };
}

function noRoute({ path }: RequestPath, routes: readonly Route[]): HttpResponse {
  if (routes.length === 0) return refusal(404, `nothing is served at ${path.slice(0, 100)}`);
  const methods = methodsOf(routes);
  return refusal(405, `use ${methods} here`, { Allow: methods });
}
