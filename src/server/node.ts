import type { Answer, Asked, ServeOptions } from '#bindings';
import type { Engine } from '#engine';
import { createEngine, timeOrderedIds } from '#engine';
import type { Agent, AgentCard, Mutable } from '#protocol';
import { A2AError, countedIds, withoutEndSlashes } from '#protocol';
import { memoryStore } from '../engine/adapters/memory.ts';
import { refusal, retryAfter } from './answers.ts';
import { createCards } from './cards.ts';
import type { Flows } from './flows.ts';
import { createFlows } from './flows.ts';
import type { ServerLimits } from './limits.ts';
import { DEFAULT_SERVER_LIMITS } from './limits.ts';
import type { Log } from './log.ts';
import { SILENT } from './log.ts';
import { meter, meteredStore } from './metered.ts';
import type { Metrics } from './metrics.ts';
import { createMetrics } from './metrics.ts';
import type { HandlerOptions } from './options.ts';
import { createRoom } from './room.ts';
import type { Place, Route } from './routes.ts';
import type { AgentLike, ServedAgent } from './served.ts';
import { isServed, named } from './served.ts';
import type { Site } from './site.ts';
import { loadOtel, traced } from './tracing.ts';

/** A node: agents, the engine under those that need one, and everything that is counted and said about them. */
export interface Node {
  readonly site: Site;
  readonly flows: Flows;
  readonly log: Log;
  readonly limits: ServerLimits;
  readonly ready: Promise<void>;
  /** Set until it is ready. */
  readonly starting: Promise<void> | undefined;
  /** A refusal while the node stops. */
  turnedAway(route: Route): Answer | undefined;
  stopTaking(): void;
  stop(): Promise<void>;
}

/** Without a store that outlives the process, finished tasks are kept for an hour. */
const MEMORY_FINISHED_MS = 3_600_000;
const DEFAULT_PUBLISHER = 'agent.localhost';

export function createNode(options: HandlerOptions): Node {
  const limits: ServerLimits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  const log = options.log ?? SILENT;
  const metrics = options.metrics ?? createMetrics();
  const flows = createFlows();
  const given = named(listOf(options.agents));
  const cards = createCards({ form: options.card ?? 'superset', ageMsMax: limits.cardAgeMsMax, changed: new Date() });
  const where = placeKeeper(options.url);
  const engine = engineFor(given, {
    options,
    metrics,
    log,
    extended: (card, name) => cards.cardAt(card, `${where.base()}${baseOf(name, given)}`),
  });
  const room = createRoom({ streamsMax: limits.streamsMax, isPressed: options.isPressed, metrics });
  const count = meter(metrics, room);
  const agents: Mutable<ServedAgent>[] = [...given].map(([name, agent]) => {
    const service = isServed(agent) ? agent.service : engineOf(engine).serviceOf(name);
    return { name, card: agent.card, service: count(service, name) };
  });
  const phases = { now: 'starting' as ReturnType<Site['phase']> };
  const site: Site = {
    agents,
    cards,
    admin: engine?.admin,
    metrics,
    baseOf: where.of,
    noteBase: where.note,
    serving: servingFor({ options, limits, log, cardAt: (card, place) => cards.cardAt(card, `${where.base()}${place.base}`) }),
    publisher: options.publisher ?? DEFAULT_PUBLISHER,
    changed: new Date(),
    cardAgeMsMax: limits.cardAgeMsMax,
    console: options.console,
    phase: () => phases.now,
    isBroken: () => engine?.stats().isBroken ?? false,
  };
  observe(metrics, flows, engine);

  const ready = startNode(agents, { engine, options, log }).then(() => {
    if (phases.now === 'starting') phases.now = 'open';
  });
  let starting: Promise<void> | undefined = ready;
  const onReady = (): void => {
    starting = undefined;
  };
  ready.then(onReady, (thrown: unknown) => log.error('the node could not start', thrown));
  return {
    site,
    flows,
    log,
    limits,
    ready,
    get starting() {
      return starting;
    },
    turnedAway: (route) =>
      phases.now === 'draining' && route.access !== 'public'
        ? refusal(503, 'this node is stopping; try again', retryAfter(limits.reconnectMs))
        : undefined,
    stopTaking: () => {
      phases.now = 'draining';
    },
    stop: async () => {
      await ready.catch(() => undefined); // a node that did not start has nothing to stop
      // What is left of the time is for answers to go out and for the store to close.
      await engine?.stop({ ms: Math.max(0, limits.drainMsMax - 2000) });
      await options.store?.close();
    },
  };
}

interface Starting {
  readonly engine: Engine | undefined;
  readonly options: HandlerOptions;
  readonly log: Log;
}

async function startNode(agents: readonly Mutable<ServedAgent>[], { engine, options, log }: Starting): Promise<void> {
  const otel = options.otel === false ? undefined : (options.otel ?? (await loadOtel()));
  if (otel !== undefined) for (const agent of agents) agent.service = traced(agent.service, agent.name, otel);
  const recovered = await engine?.start();
  if (recovered !== undefined) log.debug('started', { ...recovered });
}

function listOf(agents: AgentLike | readonly AgentLike[]): readonly AgentLike[] {
  return Array.isArray(agents) ? (agents as readonly AgentLike[]) : [agents as AgentLike];
}

interface EngineParts {
  readonly options: HandlerOptions;
  readonly metrics: Metrics;
  readonly log: Log;
  /** The card with the addresses of the agent of that name. */
  readonly extended: (card: AgentCard, name: string) => AgentCard;
}

/** One engine for all agents that need one; undefined where each brings a service of its own. */
function engineFor(given: ReadonlyMap<string, AgentLike>, { options, metrics, log, extended }: EngineParts): Engine | undefined {
  const own = [...given].filter((entry): entry is [string, Agent] => !isServed(entry[1]));
  if (own.length === 0) return undefined;
  const agents = Object.fromEntries(own);
  const inMemory = options.store === undefined;
  return createEngine({
    store: meteredStore(options.store ?? memoryStore(), metrics),
    agents,
    ids: timeOrderedIds(), // the store's index of ids then grows at its end
    limits: { ...(inMemory ? { finishedMsMax: MEMORY_FINISHED_MS } : {}), ...options.limits },
    ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
    ...(options.idempotency === undefined ? {} : { idempotency: options.idempotency }),
    ...(options.secret === undefined ? {} : { secret: options.secret }),
    ...(options.onBroken === undefined ? {} : { onBroken: options.onBroken }),
    extendedCard: async (name, { principal }) => {
      const card = await agents[name]?.extendedCard?.(principal);
      if (card === undefined) throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
      return extended(card, name);
    },
    report: (what, cause) => log.error(what, cause),
  });
}

/** The first is at the root too, and that is its better address. */
function baseOf(name: string, given: ReadonlyMap<string, AgentLike>): string {
  const [root] = given.keys();
  return name === root ? '' : `/agents/${name}`;
}

function engineOf(engine: Engine | undefined): Engine {
  if (engine === undefined) throw new Error('an agent needs an engine');
  return engine;
}

/** Where the node is reached: as configured; otherwise as each caller reached it. What is asked for by RPC goes by the first of them. */
function placeKeeper(url: string | undefined): { of(asked: Asked): string; note(asked: Asked): void; base(): string } {
  const configured = url === undefined ? undefined : withoutEndSlashes(url);
  let first = configured;
  return {
    of: (asked) => configured ?? asked.origin,
    note: (asked) => {
      first ??= asked.origin;
    },
    base: () => first ?? 'http://localhost',
  };
}

interface ServingParts {
  readonly options: HandlerOptions;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly cardAt: (card: AgentCard, place: Place) => AgentCard;
}

/** What the bindings are told, made once for each agent and place. */
function servingFor({ options, limits, log, cardAt }: ServingParts): Site['serving'] {
  const made = new Map<string, ServeOptions>();
  const env = { ids: countedIds(), limits };
  return (agent, place) => {
    const known = made.get(place.base);
    if (known !== undefined) return known;
    const serving: ServeOptions = {
      basePath: place.base,
      env,
      card: () => cardAt(agent.card, place),
      extensions: (agent.card.capabilities.extensions ?? []).map(({ uri }) => uri),
      versionRequired: options.versionRequired ?? false,
      bodyBytesMax: limits.bodyBytesMax,
      jsonMembersMax: limits.jsonMembersMax,
      keepAliveMs: limits.keepAliveMs,
      retryMs: limits.reconnectMs,
      onError: (cause) => log.error('a call failed inside', cause, { agent: agent.name }),
    };
    made.set(place.base, serving);
    return serving;
  };
}

function observe(metrics: Metrics, flows: Flows, engine: Engine | undefined): void {
  metrics.gauge({ name: 'parley_streams_open', help: 'Streams that are being read.' }, () => flows.open);
  if (engine === undefined) return;
  const stat = (name: string, help: string, read: (stats: ReturnType<Engine['stats']>) => number): void =>
    metrics.gauge({ name, help, ...(name.endsWith('_total') ? { type: 'counter' } : {}) }, () => read(engine.stats()));
  stat('parley_tasks_running', 'Turns at work.', ({ running }) => running);
  stat('parley_tasks_queued', 'Turns that wait for their place.', ({ queued }) => queued);
  stat('parley_tasks_asking', 'Runs that wait for their caller.', ({ asking }) => asking);
  stat('parley_tasks_live', 'Tasks held in memory.', ({ liveTasks }) => liveTasks);
  stat('parley_contexts_open', 'Conversations kept open for agents.', ({ openContexts }) => openContexts);
  stat('parley_commits_total', 'Commits to the store.', ({ commits }) => commits);
  stat('parley_events_total', 'Events appended to the logs of tasks.', ({ events }) => events);
  stat('parley_tasks_forgotten_total', 'Finished tasks whose time was over.', ({ forgottenTasks }) => forgottenTasks);
}
