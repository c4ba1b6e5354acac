import type { ReplyPublisher } from '#engine';
import type { Ids } from '#protocol';
import { randomIds } from '#protocol';
import { CALLER_SCOPES } from '#server';
import type { ArtifactService } from './artifacts/service.ts';
import type { Broker } from './broker.ts';
import { BrokerError } from './broker.ts';
import type { RegistryOptions } from './discovery/registry.ts';
import { DISCOVERY_DEFAULTS, type MeshRegistry, openRegistry } from './discovery/registry.ts';
import type { Announcement, Grammar, MeshAgent, MeshCaller, MeshContext, MeshCounts, MeshParticipant, Stop } from './grammars/grammar.ts';
import { newCounts } from './grammars/grammar.ts';
import { samName } from './grammars/sam/cards.ts';
import { samGrammar } from './grammars/sam/grammar.ts';
import { getA2ABaseTopic } from './grammars/sam/topics.ts';

export interface MeshOptions {
  readonly broker: Broker;
  /** The root of all topics: `production`, or `acme/agents`. */
  readonly namespace: string;
  /** Default: Solace Agent Mesh's. */
  readonly grammar?: Grammar;
  /** Default: random. */
  readonly instance?: string;
  readonly artifacts?: ArtifactService;
  /** What callers over the broker may do with the agents of a node. Default: everything but to have commands run. */
  readonly scopes?: readonly string[];
  readonly announceMs?: number;
  readonly ids?: Ids;
  report?(what: string, cause?: unknown): void;
}

/** One process on a mesh. */
export interface Mesh {
  readonly counts: Readonly<MeshCounts>;
  /** For the engine of the agents that are served: without it their answers are lost with the process. */
  readonly replyPublisher: ReplyPublisher;
  /** Answers for the agent and tells the others of it, from now on. */
  serve(agent: MeshAgent): Promise<Stop>;
  /** Tells the others of somebody from now on, and at the end that it has left. */
  announce(announcement: Announcement): Promise<Stop>;
  discover(options?: RegistryOptions): Promise<MeshRegistry>;
  call(self: MeshParticipant): Promise<MeshCaller>;
  /** Takes no more requests; the broker stays connected for answers that are on their way. */
  stopServing: Stop;
  close: Stop;
}

export function joinMesh(options: MeshOptions): Mesh {
  const { broker, namespace, grammar = samGrammar, announceMs = DISCOVERY_DEFAULTS.announceMs, ids = randomIds } = options;
  const { nameOf = samName, check = getA2ABaseTopic } = grammar;
  check(namespace);
  const place: MeshContext = {
    broker,
    namespace,
    instance: options.instance ?? samName(ids.next()),
    ids,
    scopes: options.scopes ?? CALLER_SCOPES,
    counts: newCounts(),
    ...(options.artifacts === undefined ? {} : { artifacts: options.artifacts }),
    report: (what, cause) => options.report?.(what, cause),
  };
  const serving = new Set<Stop>();
  const others = new Set<Stop>();
  const announce = async (announcement: Announcement): Promise<Stop> => {
    const stop = await keepAnnouncing({ grammar, place, announcement, announceMs });
    return remember(serving, stop);
  };
  const stopAll = async (stops: Set<Stop>): Promise<void> => {
    await Promise.all([...stops].map((stop) => stop()));
  };
  return {
    counts: place.counts,
    replyPublisher: {
      publish: async (reply, signal) => {
        if (!broker.isConnected) throw new BrokerError('the broker is away');
        // An engine knows its agents by the names that people gave them.
        await grammar.carry({ ...reply, agent: nameOf(reply.agent) }, place, signal);
      },
    },
    announce,
    serve: async (agent) => {
      const named = { ...agent, name: nameOf(agent.name) };
      const stop = remember(serving, await grammar.serve(named, place));
      const silence = await announce({ kind: 'agent', name: named.name, card: agent.card, instance: place.instance });
      return async () => {
        await silence();
        await stop();
      };
    },
    discover: async (rules = {}) => {
      const registry = await openRegistry(grammar, place, rules);
      return { ...registry, close: remember(others, registry.close) };
    },
    call: async (self) => {
      const caller = await grammar.call(self, place);
      return { ...caller, close: remember(others, caller.close) };
    },
    stopServing: () => stopAll(serving),
    close: async () => {
      await stopAll(serving);
      await stopAll(others);
      await broker.close();
    },
  };
}

function remember(stops: Set<Stop>, stop: Stop): Stop {
  const once: Stop = async () => {
    if (stops.delete(once)) await stop();
  };
  stops.add(once);
  return once;
}

interface Announcing {
  readonly grammar: Grammar;
  readonly place: MeshContext;
  readonly announcement: Announcement;
  readonly announceMs: number;
}

/** Now, from time to time, and whenever the broker is back: it may have forgotten everything. */
async function keepAnnouncing(announcing: Announcing): Promise<Stop> {
  const { grammar, place, announcement, announceMs } = announcing;
  const { broker } = place;
  const isAnothers = rivalry(announcing);
  const say = async (): Promise<void> => {
    if (broker.isConnected) await broker.publish(grammar.announcing(announcement, place));
  };
  const trySaying = (): void => {
    say().catch((thrown: unknown) => place.report(`${announcement.name} could not be announced`, thrown));
  };
  const back = async (): Promise<void> => {
    if (!(await isAnothers())) return trySaying();
    place.report(`another process is ${announcement.name} on this broker; this one has left it`);
    await broker.close();
  };
  await say();
  const timer = grammar.retainsCards === true ? undefined : setInterval(trySaying, announceMs);
  const stopHearing = broker.onConnectionChange((isConnected) => {
    if (isConnected) back().catch((thrown: unknown) => place.report(`${announcement.name} could not be announced`, thrown));
  });
  return async () => {
    clearInterval(timer);
    stopHearing();
    if (!broker.isConnected) return;
    await broker.publish(grammar.leaving(announcement, place)).catch(() => undefined);
  };
}

const KEPT_MS = 500;
/** Whoever is thrown out again so soon has another beside it, whatever the broker keeps just then. */
const RIVAL_MS = 10_000;

/** Says, whenever the broker is back, whether this name is another process's by now. */
function rivalry({ grammar, place, announcement }: Announcing): () => Promise<boolean> {
  const { takenBy } = grammar;
  if (takenBy === undefined || announcement.instance === undefined) return async () => false;
  const { topic } = grammar.announcing(announcement, place);
  let suspectedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const kept = Promise.withResolvers<ReturnType<typeof takenBy>>();
    const timer = setTimeout(() => kept.resolve(undefined), KEPT_MS);
    const stop = await place.broker.subscribe({ filter: topic, handle: (message) => kept.resolve(takenBy(message, announcement)) });
    const found = await kept.promise;
    clearTimeout(timer);
    await stop();
    if (found !== 'gone') return found === 'other';
    const isAgain = performance.now() - suspectedAt < RIVAL_MS;
    suspectedAt = performance.now();
    return isAgain;
  };
}
