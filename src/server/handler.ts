import type { Answer, Asked, Caller } from '#bindings';
import { encodeRetry, respondTo } from '#bindings';
import { headOf, refusal } from './answers.ts';
import { hasScope, isRefusal, LOCAL, openGate } from './gate.ts';
import { createGuard } from './guard.ts';
import { createNode } from './node.ts';
import type { HandlerOptions } from './options.ts';
import type { Place, Route } from './routes.ts';
import { methodsOf, placeOf, routesAt } from './routes.ts';
import type { ServedAgent } from './served.ts';
import type { Visit } from './site.ts';
import { ANSWERS } from './site.ts';

/** Serves agents to anything that speaks in `Request` and `Response`. */
export interface Handler {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same for hosts that make no `Request` and `Response` (adapters/node.ts). Never throws. */
  readonly answer: (asked: Asked) => Promise<Answer>;
  /** Resolves when what the last process left has been taken up; requests wait for it. */
  readonly ready: Promise<void>;
  readonly agents: readonly ServedAgent[];
  /** Takes no more, ends the streams with a word on when to come back, lets what runs end, and keeps what it can't. */
  close(): Promise<void>;
}

export function createHandler(options: HandlerOptions): Handler {
  const node = createNode(options);
  const { site, log, flows, limits } = node;
  const guard = createGuard(options);
  const gate = options.gate ?? openGate;
  const byName = new Map(site.agents.map((agent) => [agent.name, agent]));
  const [root] = site.agents;
  const requests = site.metrics.counter({
    name: 'parley_http_requests_total',
    help: 'HTTP requests by what was asked for.',
    labels: ['route', 'status'],
  });

  const visit = async (asked: Asked): Promise<{ route: string; answer: Answer }> => {
    const refused = guard.refuses(asked) ?? guard.preflight(asked);
    if (refused !== undefined) return { route: 'none', answer: refused };
    const place = placeOf(asked.path);
    const agent = place.agent === undefined ? root : byName.get(place.agent);
    const routes = agent === undefined ? [] : routesAt(place);
    const route = routes.find(({ methods }) => methods.includes(asked.method));
    if (agent === undefined || route === undefined) return { route: 'none', answer: noRoute(place, routes) };
    const wrong = wrongBody(asked) ?? node.turnedAway(route);
    const caller = wrong ?? (await admitted(asked, route));
    if (isRefusal(caller)) return { route: route.name, answer: caller };
    if (node.starting !== undefined) await node.starting;
    const answer = await ANSWERS[route.name](site, { asked, place, route, agent, caller } satisfies Visit);
    return { route: route.name, answer: asked.method === 'HEAD' ? headOf(answer) : answer };
  };
  const admitted = (asked: Asked, route: Route): Caller | Answer | Promise<Caller | Answer> => {
    if (route.access === 'public') return LOCAL;
    const found = gate(asked, route);
    if (found instanceof Promise) return found.then((caller) => scoped(caller, route));
    return scoped(found, route);
  };
  const answer = async (asked: Asked): Promise<Answer> => {
    try {
      const { route, answer: made } = await visit(asked);
      requests.add([route, String(made.status)]);
      if (log.isOn('debug')) log.debug('request', { method: asked.method, path: asked.path, status: made.status });
      const tracked = flows.track(made);
      const extra = guard.headersFor(asked);
      return extra === undefined ? tracked : { ...tracked, headers: { ...tracked.headers, ...extra } };
    } catch (thrown) {
      log.error('a request failed', thrown, { method: asked.method, path: asked.path });
      return refusal(500, 'something went wrong here');
    }
  };
  return {
    answer,
    fetch: (request) => respondTo(request, answer),
    ready: node.ready,
    agents: site.agents,
    close: async () => {
      node.stopTaking();
      flows.finishAll(encodeRetry(limits.reconnectMs));
      await node.stop();
    },
  };
}

function noRoute({ path }: Place, routes: readonly Route[]): Answer {
  if (routes.length === 0) return refusal(404, `nothing is served at ${path.slice(0, 100)}`);
  const methods = methodsOf(routes);
  return refusal(405, `use ${methods} here`, { Allow: methods });
}

function scoped(found: Caller | Answer, route: Route): Caller | Answer {
  if (isRefusal(found) || route.access !== 'admin' || hasScope(found, 'admin')) return found;
  return refusal(403, 'this needs the scope admin');
}

/** A compressed body can be a thousand times what it looks like, so none is taken (reference/faults H10). */
function wrongBody(asked: Asked): Answer | undefined {
  const coding = asked.header('content-encoding');
  if (coding === undefined || coding.toLowerCase() === 'identity') return undefined;
  return refusal(415, 'send the body uncompressed', { 'Accept-Encoding': 'identity' });
}
