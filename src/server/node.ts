import type { Engine } from '#engine';
import type { Mutable } from '#protocol';
import { createCards } from './cards.ts';
import { engineFor } from './engine-for.ts';
import type { Flows } from './flows.ts';
import { createFlows } from './flows.ts';
import type { Life } from './life.ts';
import { startLife } from './life.ts';
import type { ServerLimits } from './limits.ts';
import { DEFAULT_SERVER_LIMITS } from './limits.ts';
import type { Log } from './log.ts';
import { SILENT } from './log.ts';
import { meter } from './metered.ts';
import { createMetrics } from './metrics.ts';
import type { HandlerOptions } from './options.ts';
import { createRoom } from './room.ts';
import type { AgentLike, ServedAgent } from './served.ts';
import { isServed, named } from './served.ts';
import { servingFor, whereabouts } from './serving.ts';
import type { Site } from './site.ts';
import type { Tracing } from './tracing.ts';

/** A node: agents, the engine under those that need one, and everything that is counted and said about them. */
export interface Node extends Life {
  readonly site: Site;
  readonly flows: Flows;
  readonly log: Log;
  readonly limits: ServerLimits;
}

const DEFAULT_PUBLISHER = 'agent.localhost';

export function createNode(options: HandlerOptions): Node {
  const limits: ServerLimits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  const { log = SILENT, metrics = createMetrics() } = options;
  const tracing: Tracing = { recorder: undefined };
  const flows = createFlows();
  const changed = new Date();
  const given = named(listOf(options.agents));
  const [root] = given.keys();
  const cards = createCards({ form: options.card ?? 'superset', ageMsMax: limits.cardAgeMsMax, changed });
  const where = whereabouts(options.url);
  // The first agent is at the root too, and that is its better address.
  const baseOf = (name: string): string => `${where.base()}${name === root ? '' : `/agents/${name}`}`;
  const engine = engineFor(given, { options, metrics, log, tracing, completed: (card, name) => cards.cardAt(card, baseOf(name)) });
  const room = createRoom({ streamsMax: limits.streamsMax, isPressed: options.isPressed, quotaOf: options.quotaOf, metrics });
  const agents = servedAgents(given, engine, meter(metrics, room));
  metrics.gauge({ name: 'parley_streams_open', help: 'Streams that are being read.' }, () => flows.open);
  const life = startLife({ options, engine, agents, log, limits, tracing });
  const site: Site = {
    agents,
    cards,
    admin: engine?.admin,
    metrics,
    baseOf: where.of,
    noteBase: where.note,
    serving: servingFor({ options, limits, log, cardAt: (card, place) => cards.cardAt(card, `${where.base()}${place.base}`) }),
    publisher: options.publisher ?? DEFAULT_PUBLISHER,
    changed,
    cardAgeMsMax: limits.cardAgeMsMax,
    console: options.console,
    phase: life.phase,
    isBroken: () => engine?.stats().isBroken ?? false,
  };
  return Object.assign(life, { site, flows, log, limits });
}

function listOf(agents: AgentLike | readonly AgentLike[]): readonly AgentLike[] {
  return Array.isArray(agents) ? (agents as readonly AgentLike[]) : [agents as AgentLike];
}

function servedAgents(
  given: ReadonlyMap<string, AgentLike>,
  engine: Engine | undefined,
  count: ReturnType<typeof meter>,
): Mutable<ServedAgent>[] {
  return [...given].map(([name, agent]) => {
    const service = isServed(agent) ? agent.service : engine?.serviceOf(name);
    if (service === undefined) throw new Error('an agent needs an engine');
    return { name, card: agent.card, service: count(service, name) };
  });
}
