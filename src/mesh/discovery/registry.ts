import type { AgentCard, Clock } from '#protocol';
import { systemClock } from '#protocol';
import type { DiscoveryEvent, Grammar, MeshContext, Stop } from '../grammars/grammar.ts';
import { listenRepeatedly, listenToRetained, subscribeToDiscovery } from './listen.ts';
import type { NameRules } from './names.ts';
import { isAllowed } from './names.ts';

/** An agent or a gateway on the mesh, as its last card describes it. */
export interface MeshPeer {
  /** A gateway serves the agents of the mesh over HTTP. */
  readonly kind: 'agent' | 'gateway';
  /** Name in topics. */
  readonly name: string;
  /** Its last card. */
  readonly card: AgentCard;
  /** Time of its last card. */
  readonly seenAt: Date;
  /** The number of processes that are this agent, as far as they name themselves. */
  readonly replicas: number;
  /**
   * When each process was last seen, in ticks of the clock. The id is empty for a process that does not
   * name itself.
   */
  readonly instances: readonly { readonly id: string; readonly heardAt: number }[];
}

/** A peer joined, sent another card, or left. */
export type PeerChange = { readonly kind: 'joined' | 'changed' | 'left'; readonly peer: MeshPeer };

/** A live list of the agents and gateways on the mesh. */
export interface MeshRegistry {
  /** All peers, agents and gateways. */
  peers(): readonly MeshPeer[];
  /** An agent by its name in topics. Undefined if it is not on the mesh now. */
  agent(name: string): MeshPeer | undefined;
  /** Calls the listener with each change. Returns a function that stops this. */
  onChange(listener: (change: PeerChange) => void): () => void;
  /** Stops listening. */
  close: Stop;
}

/** Options of `mesh.discover`. */
export interface RegistryOptions extends NameRules {
  readonly clock?: Clock;
  /** An agent without a card for this time is dropped. */
  readonly agentMsMax?: number;
  readonly gatewayMsMax?: number;
  readonly sweepMs?: number;
  /**
   * Agents that were there in an earlier run. They are listed until they have been silent for too long.
   */
  readonly known?: readonly { readonly name: string; readonly card: AgentCard }[];
  /**
   * Called with each change from the first one. A broker delivers retained cards before `onChange` of
   * the registry could be used.
   */
  onChange?(change: PeerChange): void;
}

/** The defaults of Solace Agent Mesh (docs/dialects/sam.md). */
export const DISCOVERY_DEFAULTS = {
  agentMsMax: 60_000,
  gatewayMsMax: 90_000,
  sweepMs: 10_000,
  announceMs: 10_000,
  firstAnnounceMs: 0,
} as const;
/** Limits for memory: anyone who may publish can send any number of cards. */
const PEERS_MAX = 10_000;
const INSTANCES_MAX = 1000;
/** Stands for the process of an agent from an earlier run, until one of its processes is seen. */
const REMEMBERED = ' remembered';

interface KnownPeer {
  peer: Omit<MeshPeer, 'replicas' | 'instances'>;
  text: string;
  /**
   * By process, with the time of its last card. The empty id is for processes that do not name
   * themselves.
   */
  readonly instances: Map<string, number>;
}

/**
 * Opens a live list of the participants. Resolves when the subscription is granted, so the list may
 * still be empty.
 */
export async function openRegistry(grammar: Grammar, mesh: MeshContext, options: RegistryOptions = {}): Promise<MeshRegistry> {
  const { clock = systemClock, agentMsMax, gatewayMsMax, sweepMs } = { ...DISCOVERY_DEFAULTS, ...options };
  const known = new Map<string, KnownPeer>();
  const listeners = new Set<(change: PeerChange) => void>(options.onChange === undefined ? [] : [options.onChange]);
  const ticks = (): number => clock.ticks?.() ?? clock.now().getTime();
  const notify = (kind: PeerChange['kind'], one: KnownPeer): void => {
    for (const listener of [...listeners]) listener({ kind, peer: peerOf(one) });
  };
  const drop = (key: string, one: KnownPeer): void => {
    known.delete(key);
    notify('left', one);
  };
  const onOnline = ({ announcement }: Extract<DiscoveryEvent, { kind: 'online' }>): void => {
    const { kind, name, card, instance = '' } = announcement;
    if (kind === 'agent' && !isAllowed(name, options)) return;
    const key = `${kind} ${name}`;
    const text = JSON.stringify(card);
    const before = known.get(key);
    if (before === undefined && known.size >= PEERS_MAX) return;
    const now: KnownPeer = before ?? { peer: { kind, name, card, seenAt: clock.now() }, text, instances: new Map() };
    known.set(key, now);
    if (before !== undefined && instance !== REMEMBERED) now.instances.delete(REMEMBERED);
    if (now.instances.size < INSTANCES_MAX || now.instances.has(instance)) now.instances.set(instance, ticks());
    now.peer = { kind, name, card, seenAt: clock.now() };
    const isChanged = before !== undefined && before.text !== text;
    now.text = text;
    if (before === undefined) notify('joined', now);
    else if (isChanged) notify('changed', now);
  };
  const onOffline = ({ name, instance }: Extract<DiscoveryEvent, { kind: 'offline' }>): void => {
    for (const key of [`agent ${name}`, `gateway ${name}`]) {
      const one = known.get(key);
      if (one === undefined) continue;
      if (instance === undefined) one.instances.clear();
      else {
        one.instances.delete(instance);
        one.instances.delete(REMEMBERED);
      }
      if (one.instances.size === 0) drop(key, one);
    }
  };
  const dropSilent = (since: (kind: MeshPeer['kind']) => number): void => {
    for (const [key, one] of known) if (dropSilentInstances(one, since(one.peer.kind))) drop(key, one);
  };
  const sweep = (): void => dropSilent((kind) => ticks() - (kind === 'agent' ? agentMsMax : gatewayMsMax));
  for (const { name, card } of options.known ?? [])
    onOnline({ kind: 'online', announcement: { kind: 'agent', name, card, instance: REMEMBERED } });
  const subscribe = (): Promise<Stop> =>
    subscribeToDiscovery(grammar, mesh, (event) => (event.kind === 'online' ? onOnline(event) : onOffline(event)));
  const close = grammar.retainsCards
    ? await listenToRetained(mesh, { subscribe, ticks, graceMs: agentMsMax, dropSilent: (since) => dropSilent(() => since) })
    : await listenRepeatedly({ subscribe, sweep, sweepMs });
  return {
    peers: () => [...known.values()].map(peerOf).toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    agent: (name) => {
      const found = known.get(`agent ${name}`);
      return found === undefined ? undefined : peerOf(found);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close,
  };
}

/** Drops the processes without a card since the given tick. Returns whether none is left. */
function dropSilentInstances({ instances }: KnownPeer, since: number): boolean {
  for (const [instance, at] of instances) if (at < since || (at === since && instance === REMEMBERED)) instances.delete(instance);
  return instances.size === 0;
}

function peerOf({ peer, instances }: KnownPeer): MeshPeer {
  const seen = [...instances].filter(([id]) => id !== REMEMBERED).map(([id, heardAt]) => ({ id, heardAt }));
  return { ...peer, replicas: instances.size, instances: seen };
}
