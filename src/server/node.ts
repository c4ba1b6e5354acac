import { createChatMemory } from '#bindings';
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
import type { HandlerOptions, McpMount } from './options.ts';
import { createRoom } from './room.ts';
import type { AgentLike, ServedAgent } from './served.ts';
import { isServed, named } from './served.ts';
import { servingFor, whereabouts } from './serving.ts';
import type { Site } from './site.ts';

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
  const flows = createFlows();
  const changed = new Date();
  const given = named(listOf(options.agents));
  const [root] = given.keys();
  const cards = createCards({ form: options.card ?? 'superset', ageMsMax: limits.cardAgeMsMax, changed, signer: options.signer });
  const where = whereabouts(options.url);
  // The first agent is at the root too, and that is its better address.
  const baseOf = (name: string): string => `${where.base()}${name === root ? '' : `/agents/${name}`}`;
  const engine = engineFor(given, { options, metrics, log, completed: (card, name) => cards.cardAt(card, baseOf(name)) });
  const room = createRoom({ streamsMax: limits.streamsMax, isPressed: options.isPressed, metrics });
  const agents = servedAgents(given, engine, meter(metrics, room));
  metrics.gauge({ name: 'parley_streams_open', help: 'Streams that are being read.' }, () => flows.open);
  const life = startLife({ options, engine, agents, log, limits });
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
    chats: createChatMemory(),
    bodyBytesMax: limits.bodyBytesMax,
    mcp: options.mcp === undefined ? undefined : mountedOnce(options.mcp),
    phase: life.phase,
    isBroken: () => engine?.stats().isBroken ?? false,
  };
  return Object.assign(life, { site, flows, log, limits });
}

/** One handler for the whole node and one for each agent, made when they are first asked. */
function mountedOnce(mount: McpMount): McpMount {
  const made = new Map<string, ReturnType<McpMount>>();
  return (agents) => {
    const name = agents.map((agent) => agent.name).join('/');
    const known = made.get(name) ?? mount(agents);
    made.set(name, known);
    return known;
  };
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
