import type { AgUiOptions, BindingServeOptions, Caller, ChatMemory, HttpRequest, HttpResponse } from '#bindings';
import { answerAgUi, answerChat, answerConversations, answerModels, answerResponses, isGrpcType } from '#bindings';
import type { AdminService, Fetch, Json } from '#protocol';
import { LOCAL_CALLER } from '../access/authentication/caller.ts';
import { adminAnswer } from '../admin/admin.ts';
import { MESH_AGENTS } from '../agents/mesh-agents.ts';
import type { ServedAgent } from '../agents/served-agent.ts';
import type { NodePhase } from '../lifecycle.ts';
import type { Log } from '../observability/log.ts';
import { requestFields } from '../observability/log-fields.ts';
import { METRICS_TYPE, type Metrics } from '../observability/metrics.ts';
import type { McpMount, ServingOptions } from '../options.ts';
import type { Cards } from './cards.ts';
import { catalogAnswer } from './catalog.ts';
import { ardAnswer } from './catalog-search.ts';
import { relayAnswer } from './console-relay.ts';
import { passedOn } from './fetch-bridge.ts';
import { json, refusal, retryAfter, text } from './responses.ts';
import type { RequestPath, Route, RouteName } from './routes.ts';
import { bindingAt } from './routes.ts';
import { welcome } from './welcome.ts';

/** What the route handlers need of the node. */
export interface RouteContext {
  /** The first is the root agent. */
  readonly agents: readonly ServedAgent[];
  readonly cards: Cards;
  readonly admin: AdminService | undefined;
  /** The admin API for the operators of one tenant. */
  readonly adminOf: (tenant: string) => AdminService | undefined;
  readonly metrics: Metrics;
  readonly metricsText?: (() => Promise<string>) | undefined;
  readonly log: Log;
  /** The node's public keys. */
  readonly jwks: () => Promise<{ readonly keys: readonly JsonWebKey[] }>;
  /**
   * The node's URL: the configured one, or the one that the request was sent to, whose host was
   * checked.
   */
  readonly baseOf: (httpRequest: HttpRequest) => string;
  readonly noteBase: (httpRequest: HttpRequest) => void;
  readonly serving: (agent: ServedAgent, place: RequestPath) => BindingServeOptions;
  readonly publisher: string;
  readonly changed: Date;
  readonly cardAgeMsMax: number;
  /** Serves the files of the web console. Undefined if this node has none. */
  readonly console: ((path: string) => HttpResponse | Promise<HttpResponse>) | undefined;
  /** Serves the documentation. Undefined if this node does not. */
  readonly docs: ((path: string) => HttpResponse | Promise<HttpResponse>) | undefined;
  /** Finds an agent of the mesh, for admin requests. */
  readonly onMesh: (name: string) => ServedAgent | undefined;
  /** Sends the console's requests to agents on other nodes. */
  readonly relay: Fetch | undefined;
  /** How AG-UI runs are served: their larger bodies, and what a hang-up does. */
  readonly agUi: Pick<AgUiOptions, 'bodyBytesMax' | 'jsonMembersMax' | 'onHangUp'>;
  readonly chats: ChatMemory;
  readonly bodyBytesMax: number;
  /** Serves agents as MCP tools. Undefined if this node does not. */
  readonly mcp: ((agents: readonly ServedAgent[]) => ReturnType<McpMount>) | undefined;
  /** `open` while requests are served, `draining` during shutdown. */
  readonly phase: () => NodePhase;
  readonly isBroken: () => boolean;
  readonly storeProblem: ServingOptions['storeProblem'];
  readonly replicaState: ServingOptions['replicaState'];
}

/** A request that has passed the access checks, with its route and agent. */
export interface RoutedRequest {
  readonly httpRequest: HttpRequest;
  readonly place: RequestPath;
  readonly route: Route;
  readonly agent: ServedAgent;
  readonly caller: Caller;
}

type RouteHandler = (site: RouteContext, visit: RoutedRequest) => HttpResponse | Promise<HttpResponse>;

/** The handlers of the server's own routes. */
const ROUTE_HANDLERS: Readonly<Record<RouteName, RouteHandler>> = {
  agUi: (site, visit) => answerAgUi(visit.httpRequest, visit.agent.service, { ...optionsFor(site, visit), ...site.agUi }),
  chat: (site, visit) => answerChat(visit.httpRequest, { ...optionsFor(site, visit), ...chatters(site, visit), memory: site.chats }),
  responses: (site, visit) => answerResponses(visit.httpRequest, below(visit), { ...optionsFor(site, visit), ...chatters(site, visit) }),
  conversations: (site, visit) =>
    answerConversations(visit.httpRequest, below(visit), { ...optionsFor(site, visit), ...chatters(site, visit) }),
  models: (site, { place, agent, ...visit }) =>
    answerModels(place.path.split('/')[3], chatters(site, { ...visit, place, agent }), site.changed),
  mcp: (site, { httpRequest, agent, place, caller }) => {
    const mount = site.mcp?.(place.agent === undefined ? site.agents : [agent]);
    if (mount === undefined) return refusal(404, 'this node does not offer its agents as MCP tools');
    return passedOn(httpRequest, site.bodyBytesMax, (request) => mount(request, caller));
  },
  card: (site, { httpRequest, agent, place }) =>
    site.cards.answer({ httpRequest, card: agent.card, base: `${site.baseOf(httpRequest)}${place.base}` }),
  catalog: ({ agents, publisher, changed, cardAgeMsMax, baseOf }, { httpRequest }) =>
    catalogAnswer({ agents, publisher, changed, ageMsMax: cardAgeMsMax, base: baseOf(httpRequest) }),
  ard: ({ agents, publisher, changed, cardAgeMsMax, baseOf, bodyBytesMax }, { httpRequest }) =>
    ardAnswer(httpRequest, { agents, publisher, changed, ageMsMax: cardAgeMsMax, base: baseOf(httpRequest), bodyBytesMax }),
  keys: async ({ jwks, cardAgeMsMax }) =>
    json((await jwks()) as unknown as Json, 200, { 'Cache-Control': `public, max-age=${Math.floor(cardAgeMsMax / 1000)}` }),
  admin: (site, visit) => {
    const { relay, bodyBytesMax } = site;
    const { httpRequest, place, caller } = visit;
    const admin = caller.tenant === undefined || caller.tenant === '' ? site.admin : site.adminOf(caller.tenant);
    if (place.path.startsWith(`${MESH_AGENTS}/`)) return meshAgentAnswer(site, visit, place.path.slice(MESH_AGENTS.length + 1));
    const path = place.path.slice('/api/parley/v1'.length);
    return path === '/relay' ? relayAnswer(httpRequest, relay, bodyBytesMax) : adminAnswer(httpRequest, path, admin);
  },
  grpc: (_, visit) => notServed(visit),
  'grpc-operators': (_, visit) => notServed(visit),
  health: () => json({ status: 'ok' }, 200, { 'Cache-Control': 'no-store' }),
  ready: (site) => ready(site),
  metrics: async ({ metrics, metricsText }) => text((await metricsText?.()) ?? metrics.text(), METRICS_TYPE),
  console: ({ console: files }, { httpRequest }) => files?.(httpRequest.path) ?? refusal(404, 'this node has no console'),
  docs: ({ docs }, { httpRequest }) => docs?.(httpRequest.path) ?? refusal(404, 'this node does not serve the documentation'),
  welcome: ({ agents, baseOf, console: files }, { httpRequest, agent, place }) =>
    welcome(httpRequest, {
      agents: place.agent === undefined ? agents : [agent],
      base: `${baseOf(httpRequest)}${place.base}`,
      root: baseOf(httpRequest),
      hasConsole: files !== undefined,
    }),
};

/** Lets the route respond: with the binding's `serve`, or with one of `ROUTE_HANDLERS`. */
export function respondOn(site: RouteContext, visit: RoutedRequest): HttpResponse | Promise<HttpResponse> {
  const { route, httpRequest, agent } = visit;
  if (route.binding === undefined) return ROUTE_HANDLERS[route.name](site, visit);
  return route.binding.serve(httpRequest, agent.service, optionsFor(site, visit));
}

/** The host handles gRPC, gRPC-Web and Connect before the routes. What arrives here is a call that it does not serve. */
function notServed({ httpRequest, route }: RoutedRequest): HttpResponse {
  if (isGrpcType(httpRequest.header('content-type')))
    return refusal(415, 'gRPC needs HTTP/2 up to this node: a proxy in front must pass it on, and the node must serve gRPC');
  if (route.name === 'grpc-operators') return refusal(415, 'health checks and reflection are served over gRPC only');
  return refusal(415, 'this node does not serve gRPC, gRPC-Web and Connect');
}

/** The segments below `/v1/responses` or `/v1/conversations`. */
function below({ place }: RoutedRequest): readonly string[] {
  return place.path.split('/').slice(3).map(decoded);
}

/** At the root, the request's model names the agent. Below an agent's path it is always that agent. */
function chatters(
  { agents }: RouteContext,
  { agent, place }: RoutedRequest,
): { readonly agents: readonly ServedAgent[]; readonly only?: ServedAgent } {
  return place.agent === undefined ? { agents } : { agents: [agent], only: agent };
}

/** Bindings assume the caller `local` unless they get another one. */
export function optionsFor(
  { serving, noteBase, log }: RouteContext,
  { httpRequest, agent, place, caller }: Omit<RoutedRequest, 'route'>,
): BindingServeOptions {
  noteBase(httpRequest);
  const options = serving(agent, place);
  if (caller === LOCAL_CALLER) return options;
  const onError = (cause: unknown): void =>
    log.error('a call failed with an internal error', cause, requestFields(httpRequest, { caller, agent: agent.name }));
  return { ...options, caller: () => caller, onError };
}

/** `/api/parley/v1/mesh/agents/{name}/…`: the routes of an agent of the mesh, for admin requests. */
async function meshAgentAnswer(site: RouteContext, visit: RoutedRequest, rest: string): Promise<HttpResponse> {
  const { httpRequest } = visit;
  const [encoded = ''] = rest.split('/', 1);
  const agent = site.onMesh(decoded(encoded));
  if (agent === undefined) return refusal(404, `there is no agent ${encoded.slice(0, 100)} on the mesh of this node`);
  const path = rest.slice(encoded.length) || '/';
  const place = { agent: agent.name, base: `${MESH_AGENTS}/${encoded}`, path };
  if (path === '/.well-known/agent-card.json')
    return site.cards.answer({ httpRequest, card: agent.card, base: `${site.baseOf(httpRequest)}${place.base}` });
  const options = optionsFor(site, { ...visit, agent, place });
  const binding = bindingAt(httpRequest.method, path);
  return binding?.serve(httpRequest, agent.service, options) ?? refusal(404, 'no binding serves this path');
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}

/** Whether requests are served. */
export function isReady({ phase, isBroken, storeProblem }: Pick<RouteContext, 'phase' | 'isBroken' | 'storeProblem'>): boolean {
  return phase() === 'open' && !isBroken() && storeProblem?.() === undefined;
}

const REASONS = {
  starting: 'the node starts; it recovers the tasks of the previous process',
  draining: 'the node shuts down; send requests to another one',
  broken: 'the store has failed; the process ends, and a restart recovers what is on disk',
  open: 'the node is ready',
} as const;

const SEE_LOG = 'its log says what to do';

/** The readiness probe: a node that starts, shuts down or can't write to its store is not ready. */
function ready(site: RouteContext): HttpResponse {
  const phase = site.phase();
  const headers = { 'Cache-Control': 'no-store' };
  const replica = site.replicaState?.();
  if (isReady(site)) return json({ status: 'ready', ...(replica === undefined ? {} : { replica: { ...replica } }) }, 200, headers);
  const status = site.isBroken() ? 'broken' : phase === 'leaving' ? 'draining' : phase;
  const problem = status === 'open' ? site.storeProblem?.() : undefined;
  const shown = problem === undefined ? { status, message: REASONS[status] } : { status: 'unavailable', message: `${problem}; ${SEE_LOG}` };
  return json(shown, 503, { ...headers, ...retryAfter(1000) });
}
