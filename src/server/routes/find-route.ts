import type { HttpRequest } from '#bindings';
import type { ServedAgent } from '../agents/served-agent.ts';
import type { RequestPath, Route } from './routes.ts';
import { parsePath, routesAt } from './routes.ts';

/** What a node has at the path of a request. */
export interface FoundRoute {
  readonly path: RequestPath;
  readonly agent: ServedAgent | undefined;
  /** The routes of the path, for every method. */
  readonly routes: readonly Route[];
  readonly route: Route | undefined;
}

/** Finds the agent and the route of a request. The first agent is the root agent. */
export function findRoute(request: HttpRequest, agents: readonly ServedAgent[]): FoundRoute {
  const path = parsePath(request.path);
  const agent = path.agent === undefined ? agents[0] : agents.find(({ name }) => name === path.agent);
  const routes = agent === undefined ? [] : routesAt(path);
  return { path, agent, routes, route: routes.find(({ methods }) => methods.includes(request.method)) };
}
