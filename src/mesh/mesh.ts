import type { ReplyPublisher } from '#engine';
import type { Ids } from '#protocol';
import { randomIds } from '#protocol';
import { CALLER_SCOPES, pathName } from '#server';
import type { ArtifactService } from './artifacts/service.ts';
import type { Broker } from './broker.ts';
import { BrokerError } from './broker.ts';
import type { Announcing } from './discovery/announce.ts';
import { keepAnnouncing } from './discovery/announce.ts';
import type { RegistryOptions } from './discovery/registry.ts';
import { DISCOVERY_DEFAULTS, type MeshRegistry, openRegistry } from './discovery/registry.ts';
import type { Announcement, Grammar, MeshAgent, MeshCaller, MeshContext, MeshCounts, MeshParticipant, Stop } from './grammars/grammar.ts';
import { newCounts } from './grammars/grammar.ts';
import { samName } from './grammars/sam/cards.ts';
import { samGrammar } from './grammars/sam/grammar.ts';
import type { RequestTurns, Taken } from './take-turns.ts';
import { takeTurns } from './take-turns.ts';

/** Options of `joinMesh`. */
export interface MeshOptions {
  /** A connection from `connectMqtt`, `connectNats` or `memoryHub`. */
  readonly broker: Broker;
  /** The root of all topics: `production`, or `acme/agents`. */
  readonly namespace: string;
  /** Default: `samGrammar`. */
  readonly grammar?: Grammar;
  /** Names this process among the replicas of its agents. Default: random. */
  readonly instance?: string;
  /** Stores files that are too large for a message. */
  readonly artifacts?: ArtifactService;
  /** The scopes of callers over the broker. Default: everything except agents that run commands. */
  readonly scopes?: readonly string[];
  /** How often cards are published if the broker does not retain them, in milliseconds. */
  readonly announceMs?: number;
  /** Source of request ids. Default: random UUIDs. */
  readonly ids?: Ids;
  /** Logs an internal problem. */
  report?(what: string, cause?: unknown): void;
}

/** The mesh as one process uses it: serves agents, finds others and calls them. */
export interface Mesh {
  /** Messages that did not lead to a task, since the start. */
  readonly counts: Readonly<MeshCounts>;
  /**
   * Give it to the engine of the served agents. Without it their replies are lost when the process
   * dies.
   */
  readonly replyPublisher: ReplyPublisher;
  /** Serves the agent and announces it. Returns a function that stops both. */
  serve(agent: MeshAgent): Promise<Stop>;
  /**
   * Serves an agent beside other processes on the same store: one of them at a time receives its requests, and they pass on to one another
   * what belongs to tasks of another one. Replies go over the broker connection of this mesh.
   */
  serveBeside(agent: MeshAgent, turns: RequestTurns): Promise<Stop>;
  /** Announces a participant. Returns a function that says that it leaves. */
  announce(announcement: Announcement): Promise<Stop>;
  /** Opens a live list of the agents and gateways on the mesh. */
  discover(options?: RegistryOptions): Promise<MeshRegistry>;
  /** Opens an inbox for calls to other agents. */
  call(self: MeshParticipant): Promise<MeshCaller>;
  /**
   * Stops accepting requests. The broker stays connected for replies that are still to be published.
   */
  stopServing: Stop;
  /** Stops everything, says that the served agents leave, and closes the broker connection. */
  close: Stop;
}

/**
 * Joins a mesh of agents over a broker.
 *
 * ```ts
 * const mesh = joinMesh({ broker: await connectMqtt({ url: 'mqtt://127.0.0.1:1883' }), namespace: 'production' });
 * await mesh.serve({ name: 'echo', card: agent.card, service: engine.serviceOf('echo') });
 * ```
 */
export function joinMesh(options: MeshOptions): Mesh {
  const { broker, namespace, grammar = samGrammar, announceMs = DISCOVERY_DEFAULTS.announceMs, ids = randomIds } = options;
  grammar.checkNamespace(namespace);
  const mesh: MeshContext = {
    broker,
    namespace,
    instance: options.instance ?? samName(ids.next()),
    ids,
    scopes: options.scopes ?? CALLER_SCOPES,
    counts: newCounts(),
    ...(options.artifacts === undefined ? {} : { artifacts: options.artifacts }),
    report: (what, cause) => options.report?.(what, cause),
  };
  const names = new Map<string, string>();
  const serving = new Set<Stop>();
  const others = new Set<Stop>();
  const named = (agent: MeshAgent): string => {
    const name = grammar.topicName(grammar.usesCardNames ? meshName(agent) : agent.name);
    names.set(agent.name, name);
    return name;
  };
  const announce = async (announcement: Announcement): Promise<Stop> =>
    track(serving, await keepAnnouncing({ grammar, mesh, announcement, announceMs }));
  const stopAll = async (stops: Set<Stop>): Promise<void> => {
    await Promise.all([...stops].map((stop) => stop()));
  };
  return {
    counts: mesh.counts,
    replyPublisher: {
      publish: async (reply, signal) => {
        if (!broker.isConnected) throw new BrokerError('the broker is not connected');
        // The engine knows its agents by their names in URLs.
        await grammar.publishReply({ ...reply, agent: names.get(reply.agent) ?? grammar.topicName(reply.agent) }, mesh, signal);
      },
    },
    announce,
    serveBeside: async (agent, turns) => {
      const name = named(agent);
      const announcement = { kind: 'agent', name, card: agent.card, instance: mesh.instance } as const;
      track(serving, await grammar.serve({ ...agent, name }, mesh, 'relayed'));
      // A retained card is that of the process that receives requests, and so is the last will of its connection.
      if (!grammar.retainsCards) await announce(announcement);
      const take = takeRequests({ ...agent, name }, { grammar, mesh, announcement, announceMs });
      return track(serving, await takeTurns({ turns, take, report: mesh.report }));
    },
    serve: async (agent) => {
      const name = named(agent);
      const stop = track(serving, await grammar.serve({ ...agent, name }, mesh));
      const leave = await announce({ kind: 'agent', name, card: agent.card, instance: mesh.instance });
      return async () => {
        await leave();
        await stop();
      };
    },
    discover: async (rules = {}) => {
      const registry = await openRegistry(grammar, mesh, rules);
      return { ...registry, close: track(others, registry.close) };
    },
    call: async (self) => {
      const caller = await grammar.call(self, mesh);
      return { ...caller, close: track(others, caller.close) };
    },
    stopServing: () => stopAll(serving),
    close: async () => {
      await stopAll(serving);
      await stopAll(others);
      await broker.close();
    },
  };
}

/** Receives the requests to an agent on a connection of their own, which the card is published on if the broker retains it. */
function takeRequests(agent: MeshAgent, announcing: Announcing): (broker: Broker) => Promise<Taken> {
  const { grammar, mesh } = announcing;
  return async (broker) => {
    const stop = await grammar.serve(agent, mesh, { requestsFrom: broker });
    const leave: Stop = grammar.retainsCards ? await keepAnnouncing({ ...announcing, mesh: { ...mesh, broker } }) : async () => {};
    return { sayOffline: leave, stop: async () => void (await Promise.all([leave(), stop()])) };
  };
}

/**
 * Names keep their case in topics: `OrderValidator` is not `ordervalidator`. The name of a node's agent is
 * made for URLs, so the card's name is used if the two are the same but for that.
 */
function meshName({ name, card }: MeshAgent): string {
  return pathName(card.name) === name ? card.name : name;
}

/** Runs `stop` once, at the latest when the mesh is closed. */
function track(stops: Set<Stop>, stop: Stop): Stop {
  const once: Stop = async () => {
    if (stops.delete(once)) await stop();
  };
  stops.add(once);
  return once;
}
