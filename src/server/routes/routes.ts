import type { Binding } from '#bindings';
import { BINDINGS, GRPC_OPERATOR_SERVICES, GRPC_SERVICES } from '#bindings';

/** The names of the server's own routes. Routes of bindings have the binding's id as their name. */
export type RouteName =
  | 'card'
  | 'catalog'
  | 'ard'
  | 'keys'
  | 'admin'
  | 'health'
  | 'ready'
  | 'metrics'
  | 'console'
  | 'docs'
  | 'welcome'
  | 'agUi'
  | 'chat'
  | 'responses'
  | 'conversations'
  | 'models'
  | 'mcp'
  | 'grpc'
  | 'grpc-operators';

interface RouteRow {
  /** `agent`: at the root and below each `/agents/{name}`. `node`: at the root only. */
  readonly at: 'agent' | 'node';
  readonly methods: readonly string[];
  /** Exact paths. A trailing slash in a request's path is ignored. */
  readonly paths?: readonly string[];
  /** A prefix: the route serves every path below it. */
  readonly under?: string;
  /**
   * `public`: no authentication. `caller`: any authenticated caller. `admin`: callers with the scope
   * `admin`.
   */
  readonly access: 'public' | 'caller' | 'admin';
  /** A POST may have no body and no Content-Type. */
  readonly bodyOptional?: true;
}

/** One row of the route table: a route of the server itself, or a binding. */
export type Route =
  | (RouteRow & { readonly name: RouteName; readonly binding?: undefined })
  | (RouteRow & { readonly name: string; readonly binding: Binding });

const BINDING_ROUTES: readonly Route[] = BINDINGS.map((binding) => {
  const { methods, paths } = binding.route;
  return { name: binding.id, binding, at: 'agent', methods, access: 'caller', ...(paths === undefined ? {} : { paths }) };
});

/** The calls of a gRPC service. Agents other than the root have them below their own path too. */
const grpcRoutes = (services: readonly string[], row: Pick<RouteRow, 'at' | 'access'> & { readonly name: RouteName }): readonly Route[] =>
  services.map((service) => ({ ...row, methods: ['POST'], under: `/${service}` }));

const OPENAI_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'DELETE'];

/**
 * The route table. A path may have several rows with different methods. The paths of HTTP+JSON are
 * defined by each dialect and are looked up last.
 */
export const ROUTES: readonly Route[] = [
  {
    name: 'card',
    at: 'agent',
    methods: ['GET', 'HEAD'],
    paths: ['/.well-known/agent-card.json', '/.well-known/agent.json', '/.well-known/a2a-agent-card.json', '/api/a2a/agent-card.json'],
    access: 'public',
  },
  {
    name: 'catalog',
    at: 'node',
    methods: ['GET', 'HEAD'],
    paths: ['/.well-known/ai-catalog.json', '/.well-known/ard.json'],
    access: 'public',
  },
  { name: 'ard', at: 'node', methods: ['POST'], paths: ['/ard/search'], access: 'public' },
  { name: 'ard', at: 'node', methods: ['GET', 'HEAD'], paths: ['/ard/agents'], access: 'public' },
  { name: 'keys', at: 'node', methods: ['GET', 'HEAD'], paths: ['/.well-known/jwks.json'], access: 'public' },
  ...BINDING_ROUTES.filter(({ paths }) => paths !== undefined),
  { name: 'agUi', at: 'agent', methods: ['POST'], paths: ['/ag-ui'], access: 'caller' },
  { name: 'chat', at: 'agent', methods: ['POST'], paths: ['/v1/chat/completions'], access: 'caller' },
  {
    name: 'responses',
    at: 'agent',
    methods: OPENAI_METHODS,
    paths: ['/v1/responses'],
    under: '/v1/responses',
    access: 'caller',
    bodyOptional: true,
  },
  {
    name: 'conversations',
    at: 'agent',
    methods: OPENAI_METHODS,
    paths: ['/v1/conversations'],
    under: '/v1/conversations',
    access: 'caller',
    bodyOptional: true,
  },
  { name: 'models', at: 'agent', methods: ['GET', 'HEAD'], paths: ['/v1/models'], under: '/v1/models', access: 'caller' },
  { name: 'mcp', at: 'agent', methods: ['GET', 'POST', 'DELETE'], paths: ['/mcp'], access: 'caller' },
  ...grpcRoutes(GRPC_SERVICES, { name: 'grpc', at: 'agent', access: 'caller' }),
  ...grpcRoutes(GRPC_OPERATOR_SERVICES, { name: 'grpc-operators', at: 'node', access: 'public' }),
  { name: 'welcome', at: 'agent', methods: ['GET', 'HEAD'], paths: ['/'], access: 'public' },
  { name: 'admin', at: 'node', methods: ['GET', 'HEAD', 'POST', 'DELETE'], under: '/api/parley/v1', access: 'admin' },
  { name: 'console', at: 'node', methods: ['GET', 'HEAD'], under: '/console', access: 'public' },
  { name: 'docs', at: 'node', methods: ['GET', 'HEAD'], under: '/docs', access: 'public' },
  { name: 'health', at: 'node', methods: ['GET', 'HEAD'], paths: ['/healthz'], access: 'public' },
  { name: 'ready', at: 'node', methods: ['GET', 'HEAD'], paths: ['/readyz'], access: 'public' },
  { name: 'metrics', at: 'node', methods: ['GET', 'HEAD'], paths: ['/metrics'], access: 'admin' },
];

/** First path segments that are never a tenant's name in HTTP+JSON. */
const OURS: ReadonlySet<string> = new Set([
  ...['.well-known', 'ag-ui', 'agents', 'ard', 'api', 'console', 'docs', 'mcp'],
  ...GRPC_SERVICES,
  ...GRPC_OPERATOR_SERVICES,
]);

/** A path, divided into the agent and the rest. */
export interface RequestPath {
  /** The agent's name. Undefined for the root agent. */
  readonly agent: string | undefined;
  /** The prefix `/agents/{name}`, which bindings do not see. Empty for the root agent. */
  readonly base: string;
  /** The path after the prefix, without a trailing slash. */
  readonly path: string;
}

const AGENTS = '/agents/';

/** Splits `/agents/{name}/…` into its parts. Every other path belongs to the root agent. */
export function parsePath(path: string): RequestPath {
  if (!path.startsWith(AGENTS)) return { agent: undefined, base: '', path: trimmed(path) };
  const end = path.indexOf('/', AGENTS.length);
  const name = path.slice(AGENTS.length, end === -1 ? undefined : end);
  return { agent: name, base: `${AGENTS}${name}`, path: end === -1 ? '/' : trimmed(path.slice(end)) };
}

function trimmed(path: string): string {
  if (path.length < 2 || !path.endsWith('/')) return path;
  let end = path.length;
  while (end > 0 && path.charCodeAt(end - 1) === 0x2f) end -= 1;
  return end === 0 ? '/' : path.slice(0, end);
}

const byPath = new Map<string, Route[]>();
for (const route of ROUTES) for (const path of route.paths ?? []) byPath.set(path, [...(byPath.get(path) ?? []), route]);
const prefixes = ROUTES.filter((route) => route.under !== undefined);
const NONE: readonly Route[] = [];

/** The routes of a path, for all methods. Empty if nothing is served there. */
export function routesAt({ agent, path }: RequestPath): readonly Route[] {
  const found = byPath.get(path);
  if (found !== undefined) return agent === undefined ? found : found.filter((route) => route.at === 'agent');
  for (const route of prefixes) {
    const isHere = agent === undefined || route.at === 'agent';
    if (isHere && (path === route.under || path.startsWith(`${route.under}/`))) return [route];
  }
  const first = path.slice(1, path.indexOf('/', 1) === -1 ? undefined : path.indexOf('/', 1));
  return OURS.has(first) ? NONE : BINDING_ROUTES.filter(({ binding }) => binding !== undefined && hasPath(binding, path));
}

/**
 * A binding responds to a malformed path with its own error format, so such a path counts as its own.
 */
function hasPath({ route }: Binding, path: string): boolean {
  try {
    return route.matches?.(path) ?? false;
  } catch {
    return true;
  }
}

/** The binding that serves a path of an agent, where the server has no route of its own. */
export function bindingAt(method: string, path: string): Binding | undefined {
  const exact = BINDINGS.find(({ route }) => route.methods.includes(method) && route.paths?.includes(path));
  return exact ?? BINDINGS.find(({ route }) => route.matches !== undefined);
}

export function methodsOf(routes: readonly Route[]): string {
  return [...new Set(routes.flatMap((route) => route.methods))].join(', ');
}
