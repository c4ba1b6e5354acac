import type { Caller, ChatMemory, HttpRequest, HttpResponse, ServeOptions } from '#bindings';
import { answerChat, answerModels } from '#bindings';
import type { AdminService, Fetch, Json } from '#protocol';
import { LOCAL_CALLER } from '../access/authentication/caller.ts';
import { adminAnswer } from '../admin/admin.ts';
import { MESH_AGENTS } from '../agents/mesh-agents.ts';
import type { ServedAgent } from '../agents/served-agent.ts';
import { METRICS_TYPE, type Metrics } from '../observability/metrics.ts';
import type { McpMount } from '../options.ts';
import type { Cards } from './cards.ts';
import { catalogAnswer } from './catalog.ts';
import { ardAnswer } from './catalog-search.ts';
import { relayAnswer } from './console-relay.ts';
import { passedOn } from './fetch-bridge.ts';
import { welcome } from './landing-page.ts';
import { json, refusal, retryAfter, text } from './responses.ts';
import type { RequestPath, Route, RouteName } from './routes.ts';
import { bindingAt } from './routes.ts';

/** What the routes of a node are answered with. */
export interface RouteContext {
  /** The first is the root agent. */
  readonly agents: readonly ServedAgent[];
  readonly cards: Cards;
  readonly admin: AdminService | undefined;
  readonly metrics: Metrics;
  /** The public keys of the node. */
  readonly jwks: () => Promise<{ readonly keys: readonly JsonWebKey[] }>;
  /** Where the node is reached: as configured, or as this caller, whose host was checked, reached it. */
  readonly baseOf: (httpRequest: HttpRequest) => string;
  readonly noteBase: (httpRequest: HttpRequest) => void;
  readonly serving: (agent: ServedAgent, place: RequestPath) => ServeOptions;
  readonly publisher: string;
  readonly changed: Date;
  readonly cardAgeMsMax: number;
  /** Files of the web console, if it is here. */
  readonly console: ((path: string) => HttpResponse | Promise<HttpResponse>) | undefined;
  /** An agent of the mesh, for operators. */
  readonly onMesh: (name: string) => ServedAgent | undefined;
  /** The way to agents elsewhere, for the console. */
  readonly relay: Fetch | undefined;
  readonly chats: ChatMemory;
  readonly bodyBytesMax: number;
  /** Agents as MCP tools, if this node offers them so. */
  readonly mcp: ((agents: readonly ServedAgent[]) => ReturnType<McpMount>) | undefined;
  /** `open` once requests are taken, `draining` when no more are. */
  readonly phase: () => 'starting' | 'open' | 'draining';
  readonly isBroken: () => boolean;
}

/** A request on its way to a route: checked, let in, and with its agent found. */
export interface RoutedRequest {
  readonly httpRequest: HttpRequest;
  readonly place: RequestPath;
  readonly route: Route;
  readonly agent: ServedAgent;
  readonly caller: Caller;
}

type RouteHandler = (site: RouteContext, visit: RoutedRequest) => HttpResponse | Promise<HttpResponse>;

/** Each row of the route table, answered. */
const ROUTE_HANDLERS: Readonly<Record<RouteName, RouteHandler>> = {
  chat: (site, visit) => answerChat(visit.httpRequest, { ...optionsFor(site, visit), ...chatters(site, visit), memory: site.chats }),
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
    const { admin, relay, bodyBytesMax } = site;
    const { httpRequest, place } = visit;
    if (place.path.startsWith(`${MESH_AGENTS}/`)) return meshAgentAnswer(site, visit, place.path.slice(MESH_AGENTS.length + 1));
    const path = place.path.slice('/api/parley/v1'.length);
    return path === '/relay' ? relayAnswer(httpRequest, relay, bodyBytesMax) : adminAnswer(httpRequest, path, admin);
  },
  health: () => json({ status: 'ok' }, 200, { 'Cache-Control': 'no-store' }),
  ready: (site) => ready(site),
  metrics: ({ metrics }) => text(metrics.text(), METRICS_TYPE),
  console: ({ console: files }, { place }) => files?.(place.path) ?? refusal(404, 'this node has no console'),
  welcome: ({ agents, baseOf, console: files }, { httpRequest, agent, place }) =>
    welcome(httpRequest, {
      agents: place.agent === undefined ? agents : [agent],
      base: `${baseOf(httpRequest)}${place.base}`,
      hasConsole: files !== undefined,
    }),
};

/** The handler of a row: a binding's `serve`, or a route of the server's own. */
export function handlerOf(route: Route): RouteHandler {
  const { binding } = route;
  if (binding === undefined) return ROUTE_HANDLERS[route.name];
  return (site, visit) => binding.serve(visit.httpRequest, visit.agent.service, optionsFor(site, visit));
}

/** At the root a request names its agent; below an agent's own path that one is meant. */
function chatters(
  { agents }: RouteContext,
  { agent, place }: RoutedRequest,
): { readonly agents: readonly ServedAgent[]; readonly only?: ServedAgent } {
  return place.agent === undefined ? { agents } : { agents: [agent], only: agent };
}

/** Bindings assume the caller `local` unless they get another one. */
function optionsFor({ serving, noteBase }: RouteContext, { httpRequest, agent, place, caller }: RoutedRequest): ServeOptions {
  noteBase(httpRequest);
  const options = serving(agent, place);
  return caller === LOCAL_CALLER ? options : { ...options, caller: () => caller };
}

/** `/api/parley/v1/mesh/agents/{name}/…`: the surface of an agent, for those with the scope `admin`. */
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

/** For whoever sends traffic here: a node that starts, stops or can't write any more takes none. */
function ready(site: RouteContext): HttpResponse {
  const phase = site.phase();
  const headers = { 'Cache-Control': 'no-store' };
  if (phase === 'open' && !site.isBroken()) return json({ status: 'ready' }, 200, headers);
  return json({ status: phase === 'open' ? 'broken' : phase }, 503, { ...headers, ...retryAfter(1000) });
}
