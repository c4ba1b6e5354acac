import type { AdmittedCall, HttpRequest, HttpResponse } from '#bindings';
import { encodeRetry, refusalBody, respondTo } from '#bindings';
import type { Agent } from '#protocol';
import { createAccess } from './access/access.ts';
import type { AuthenticatedCaller } from './access/authentication/caller.ts';
import { callerKey, isLocal } from './access/authentication/caller.ts';
import { requestIdHeader, requestIdOf } from './access/request-id.ts';
import type { ServedAgent } from './agents/served-agent.ts';
import type { NodeActivity } from './assemble.ts';
import { assembleNode } from './assemble.ts';
import type { CallRecord } from './observability/call-records.ts';
import type { Log } from './observability/log.ts';
import { requestFields } from './observability/log-fields.ts';
import { METRICS } from './observability/metric-table.ts';
import type { HandlerOptions } from './options.ts';
import { createAdmission } from './routes/admit-call.ts';
import type { FoundRoute } from './routes/find-route.ts';
import { findRoute } from './routes/find-route.ts';
import { errorAnswer, headOf, NO_SNIFF, refusal } from './routes/responses.ts';
import { isReady, respondOn } from './routes/route-handlers.ts';
import type { Route } from './routes/routes.ts';
import { methodsOf } from './routes/routes.ts';
import { pathOf } from './routes/welcome.ts';

/** Serves agents on any host that has `Request` and `Response`. */
export interface Handler {
  /** The web-standard entry point: `export default { fetch: handler.fetch }`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same for hosts that create no `Request` and `Response`, such as `parley-a2a/server/node`. Never rejects. */
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>;
  /**
   * For hosts that serve gRPC: runs the access checks on the head of a call. Throws the error that
   * refuses it.
   */
  readonly admit: (request: HttpRequest) => AdmittedCall | Promise<AdmittedCall>;
  /** Whether requests are served: false at the start, at shutdown, and when the store has failed. */
  readonly isServing: () => boolean;
  /** Resolves when the tasks of the previous process are recovered. Requests wait for it. */
  readonly ready: Promise<void>;
  /** The served agents, the root agent first. Changes with `add` and `remove`. */
  readonly agents: readonly ServedAgent[];
  /**
   * Serves an agent at `/agents/{name}`, in place of the agent `instead`. Default: in place of the agent of that name, if there is one.
   * Running turns of the replaced agent finish.
   */
  add(name: string, agent: Agent, instead?: string): ServedAgent;
  /** Stops serving an agent and keeps its tasks. The first agent can't be removed. */
  remove(name: string): void;
  /** What the node is doing now: running turns, open streams. */
  activity(): NodeActivity;
  /** Takes a sample of the metrics for `/api/parley/v1/health`. The host calls it every few seconds. */
  sample(): void;
  /** Says at `/readyz` that the node shuts down soon, so that load balancers send nothing more. Requests are still served. */
  leave(): void;
  /** Shuts down: refuses new requests, ends streams with a reconnect time, waits for running agents, and closes the store. */
  close(): Promise<void>;
}

interface Outcome {
  readonly route: Route | undefined;
  readonly response: HttpResponse;
  readonly caller?: AuthenticatedCaller | undefined;
  readonly agent?: string | undefined;
  /** The request did not reach its route. */
  readonly isRefused?: true;
}

/**
 * Serves agents as a `fetch` handler, for Workers, Deno, Bun and frameworks. On Node use `serve` of `parley-a2a/server/node`.
 *
 * ```ts
 * const handler = createHandler({ agents: [echo] });
 * const response = await handler.fetch(new Request('http://localhost/.well-known/agent-card.json'));
 * ```
 */
export function createHandler(options: HandlerOptions): Handler {
  const node = assembleNode(options);
  const { routing, log, openStreams, limits, audit, health, traffic } = node;
  const access = createAccess({ options, limits, audit, refuseWhileStopping: node.refuseWhileStopping });
  const requests = routing.metrics.counter(METRICS.requests);

  /** Runs the access checks, then the route. */
  const handle = async (request: HttpRequest): Promise<Outcome> => {
    const found = findRoute(request, routing.agents);
    const checking = access.check(request, () => found.route);
    const { response: refused, route, caller } = checking instanceof Promise ? await checking : checking;
    if (refused !== undefined) return { route, response: inRouteFormat(route, refused), caller, isRefused: true };
    if (found.agent === undefined || route === undefined || caller === undefined)
      return { route: undefined, response: noRoute(request, found, routing.baseOf(request)), isRefused: true };
    if (node.starting !== undefined) await node.starting;
    const httpRequest = access.countBody(caller, request, route);
    const isAdmin = route.access === 'admin';
    if (isAdmin) {
      const unrecorded = await access.admitAdminRequest(request, caller).then(() => undefined, errorAnswer);
      if (unrecorded !== undefined) return { route, response: unrecorded, caller, isRefused: true };
    }
    const response = await respondOn(routing, { httpRequest, place: found.path, route, agent: found.agent, caller });
    if (isAdmin && request.elsewhere?.cell === undefined) access.recordAdminRequest(request, response, caller);
    return { route, response: request.method === 'HEAD' ? headOf(response) : response, caller, agent: found.agent.name };
  };
  const respond = async (received: HttpRequest): Promise<HttpResponse> => {
    const [began, recording] = [performance.now(), traffic.begin(received)];
    const request = recording?.request ?? received;
    try {
      const outcome = await handle(request);
      const { route, response, caller } = outcome;
      // Another replica answers: its response is counted and recorded there.
      if (request.elsewhere?.cell !== undefined) return response;
      requests.add([route?.name ?? 'none', String(response.status)]);
      if (outcome.isRefused === true && options.onCall !== undefined)
        options.onCall(refusedCall(request, { status: response.status, caller, began }));
      if (log.isOn('debug')) logRequest(log, request, outcome, performance.now() - began);
      if (response.body !== null && typeof response.body !== 'string') openStreams.track(response.body, caller?.isStillValid);
      const headers = { ...response.headers, ...NO_SNIFF, 'X-Request-Id': requestIdOf(request), ...access.corsHeaders(request) };
      const key = caller === undefined || isLocal(caller) ? undefined : callerKey(caller);
      const sent: HttpResponse = { status: response.status, headers, body: response.body, caller: key };
      return recording === undefined ? sent : recording.responded(sent, outcome);
    } catch (thrown) {
      log.error('a request failed', thrown, { ...requestFields(request), method: request.method, path: request.path });
      const failed = refusal(500, 'internal error', { ...NO_SNIFF, ...requestIdHeader(request) });
      return recording?.responded(failed, { route: undefined }) ?? failed;
    }
  };
  return {
    respond,
    fetch: (request) => respondTo(request, respond),
    admit: createAdmission({
      ...{ access, node, requests },
      onRefused: (request, refused) => options.onCall?.(refusedCall(request, { ...refused, began: performance.now() })),
    }),
    isServing: () => isReady(routing),
    ready: node.ready,
    agents: routing.agents,
    add: node.add,
    remove: node.remove,
    activity: node.activity,
    sample: health.sample,
    leave: node.leave,
    close: async () => {
      node.refuseRequests();
      openStreams.finishAll(encodeRetry(limits.reconnectMs));
      await node.stop();
    },
  };
}

/** The path without its query, which may hold a token. */
function logRequest(log: Log, request: HttpRequest, { response, caller, agent }: Outcome, ms: number): void {
  const { method, path } = request;
  log.debug('request', { method, path, status: response.status, ms: Math.round(ms), ...requestFields(request, { caller, agent }) });
}

interface RefusedRequest {
  readonly status: number;
  readonly caller: AuthenticatedCaller | undefined;
  readonly began: number;
}

function refusedCall({ method, path }: HttpRequest, { status, caller, began }: RefusedRequest): CallRecord {
  const who = caller?.principal.id ?? '';
  return { who, dialect: '', operation: `${method} ${path}`, agent: '', outcome: String(status), ms: performance.now() - began };
}

/** What an error repeats of a path. */
const PATH_CHARS_MAX = 100;

const OPENAI_ROUTES: ReadonlySet<string> = new Set(['chat', 'models', 'responses', 'conversations']);

/** OpenAI clients expect refusals in OpenAI's error format. The access checks know the other formats. */
function inRouteFormat(route: Route | undefined, response: HttpResponse): HttpResponse {
  if (!OPENAI_ROUTES.has(route?.name ?? '')) return response;
  const message = typeof response.body === 'string' ? /"message":"([^"]{1,200})"/.exec(response.body)?.[1] : undefined;
  const { 'Content-Length': _, ...headers } = response.headers;
  const body = JSON.stringify(refusalBody(response.status, message ?? 'access denied'));
  return { ...response, headers: { ...headers, 'Content-Type': 'application/json' }, body };
}

/** Names the path as the caller has sent it, also behind a proxy that removes a prefix. */
function noRoute({ path: asked }: HttpRequest, { path, agent, routes }: FoundRoute, base: string): HttpResponse {
  const named = `${pathOf(base)}${asked}`.slice(0, PATH_CHARS_MAX);
  if (agent === undefined) return refusal(404, `nothing is served at ${named}: this node has no agent ${path.agent?.slice(0, 100)}`);
  if (routes.length === 0) return refusal(404, `nothing is served at ${named}`);
  const methods = methodsOf(routes);
  return refusal(405, `use ${methods} here`, { Allow: methods });
}
