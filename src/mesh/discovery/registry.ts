import type { AgentCard, Clock } from '#protocol';
import { systemClock } from '#protocol';
import type { DiscoveryEvent, Grammar, MeshContext, Stop } from '../grammars/grammar.ts';
import type { NameRules } from './names.ts';
import { isAllowed } from './names.ts';

/** Somebody on the mesh, as last heard of. */
export interface MeshPeer {
  readonly kind: 'agent' | 'gateway';
  readonly name: string;
  readonly card: AgentCard;
  readonly seenAt: Date;
  /** Processes that are this agent, as far as they say so. */
  readonly replicas: number;
  /** When each of them was heard last, in ticks of the clock; the id is empty for one that does not say which it is. */
  readonly instances: readonly { readonly id: string; readonly heardAt: number }[];
}

export type PeerChange = { readonly kind: 'joined' | 'changed' | 'left'; readonly peer: MeshPeer };

/** Who is there, live. */
export interface MeshRegistry {
  peers(): readonly MeshPeer[];
  agent(name: string): MeshPeer | undefined;
  /** Told of each change. Returns how to stop hearing. */
  onChange(listener: (change: PeerChange) => void): () => void;
  close: Stop;
}

export interface RegistryOptions extends NameRules {
  readonly clock?: Clock;
  /** Silence after which an agent counts as gone. */
  readonly agentMsMax?: number;
  readonly gatewayMsMax?: number;
  readonly sweepMs?: number;
  /** Agents that were there when somebody last listened: they are, until they have been silent for too long. */
  readonly known?: readonly { readonly name: string; readonly card: AgentCard }[];
  /** Told of each change from the very first: a broker that keeps cards hands them over before anybody could ask to be told. */
  onChange?(change: PeerChange): void;
}

/** SAM's own (reference/dialects §4f). */
export const DISCOVERY_DEFAULTS = {
  agentMsMax: 60_000,
  gatewayMsMax: 90_000,
  sweepMs: 10_000,
  announceMs: 10_000,
  firstAnnounceMs: 0,
} as const;
/** Whoever floods the topics of discovery fills no memory. */
const PEERS_MAX = 10_000;
const INSTANCES_MAX = 1000;
/** In place of a process, for agents that have not been heard yet. */
const REMEMBERED = ' remembered';

interface Known {
  peer: Omit<MeshPeer, 'replicas' | 'instances'>;
  text: string;
  /** By process; `` for those that do not say which they are. */
  readonly instances: Map<string, number>;
}

export async function openRegistry(grammar: Grammar, place: MeshContext, options: RegistryOptions = {}): Promise<MeshRegistry> {
  const { clock = systemClock, agentMsMax, gatewayMsMax, sweepMs } = { ...DISCOVERY_DEFAULTS, ...options };
  const known = new Map<string, Known>();
  const listeners = new Set<(change: PeerChange) => void>(options.onChange === undefined ? [] : [options.onChange]);
  const ticks = (): number => clock.ticks?.() ?? clock.now().getTime();
  const tell = (kind: PeerChange['kind'], one: Known): void => {
    for (const listener of [...listeners]) listener({ kind, peer: shown(one) });
  };
  const drop = (key: string, one: Known): void => {
    known.delete(key);
    tell('left', one);
  };
  const here = ({ announcement }: Extract<DiscoveryEvent, { kind: 'here' }>): void => {
    const { kind, name, card, instance = '' } = announcement;
    if (kind === 'agent' && !isAllowed(name, options)) return;
    const key = `${kind} ${name}`;
    const text = JSON.stringify(cardWithoutInstance(card));
    const before = known.get(key);
    if (before === undefined && known.size >= PEERS_MAX) return;
    const now: Known = before ?? { peer: { kind, name, card, seenAt: clock.now() }, text, instances: new Map() };
    known.set(key, now);
    if (before !== undefined && instance !== REMEMBERED) now.instances.delete(REMEMBERED);
    if (now.instances.size < INSTANCES_MAX || now.instances.has(instance)) now.instances.set(instance, ticks());
    now.peer = { kind, name, card, seenAt: clock.now() };
    const isChanged = before !== undefined && before.text !== text;
    now.text = text;
    if (before === undefined) tell('joined', now);
    else if (isChanged) tell('changed', now);
  };
  const gone = ({ name, instance }: Extract<DiscoveryEvent, { kind: 'gone' }>): void => {
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
  const dropUnheard = (since: (kind: MeshPeer['kind']) => number): void => {
    for (const [key, one] of known) if (isUnheard(one, since(one.peer.kind))) drop(key, one);
  };
  const sweep = (): void => dropUnheard((kind) => ticks() - (kind === 'agent' ? agentMsMax : gatewayMsMax));
  for (const { name, card } of options.known ?? [])
    here({ kind: 'here', announcement: { kind: 'agent', name, card, instance: REMEMBERED } });
  const listen = (): Promise<Stop> => listenTo(grammar, place, (heard) => (heard.kind === 'here' ? here(heard) : gone(heard)));
  const hearing =
    grammar.retainsCards === true
      ? await hearKept(place, { listen, ticks, graceMs: agentMsMax, dropUnheard: (since) => dropUnheard(() => since) })
      : await hearRepeated({ listen, sweep, sweepMs });
  return {
    peers: () => [...known.values()].map(shown).toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    agent: (name) => {
      const found = known.get(`agent ${name}`);
      return found === undefined ? undefined : shown(found);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: hearing,
  };
}

/** Takes those away of whom nothing was heard since then, and says whether none is left. */
function isUnheard({ instances }: Known, since: number): boolean {
  for (const [instance, at] of instances) if (at < since || (at === since && instance === REMEMBERED)) instances.delete(instance);
  return instances.size === 0;
}

function shown({ peer, instances }: Known): MeshPeer {
  const heard = [...instances].filter(([id]) => id !== REMEMBERED).map(([id, heardAt]) => ({ id, heardAt }));
  return { ...peer, replicas: instances.size, instances: heard };
}

/** Replicas say the same but for which they are. */
function cardWithoutInstance(card: AgentCard): AgentCard {
  const extensions = (card.capabilities.extensions ?? []).filter(({ uri }) => !uri.endsWith('/sam/deployment'));
  return { ...card, capabilities: { ...card.capabilities, extensions } };
}

interface Hearing {
  readonly listen: () => Promise<Stop>;
}

/** Who is there says so again and again. */
async function hearRepeated({ listen, sweep, sweepMs }: Hearing & { readonly sweep: () => void; readonly sweepMs: number }): Promise<Stop> {
  const stop = await listen();
  const timer = setInterval(sweep, sweepMs);
  timer.unref?.();
  return async () => {
    clearInterval(timer);
    await stop();
  };
}

interface HearingKept extends Hearing {
  readonly ticks: () => number;
  readonly graceMs: number;
  readonly dropUnheard: (since: number) => void;
}

/**
 * The broker has the cards, and hands them over with each subscription. So they are asked for anew when it was away: it may have forgotten
 * them, and who is not among them, nor has put itself there again in due time, is gone.
 */
async function hearKept({ broker, report }: MeshContext, { listen, ticks, graceMs, dropUnheard }: HearingKept): Promise<Stop> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const begin = (): Promise<Stop> => {
    const since = ticks();
    clearTimeout(timer);
    timer = setTimeout(() => dropUnheard(since), graceMs);
    timer.unref?.();
    return listen();
  };
  let stop = begin();
  await stop;
  const stopWatching = broker.onConnectionChange((isConnected) => {
    if (!isConnected) return;
    stop = stop.then((end) => end()).then(begin);
    stop.catch((thrown: unknown) => report('cards could not be asked for again', thrown));
  });
  return async () => {
    clearTimeout(timer);
    stopWatching();
    await (await stop)();
  };
}

async function listenTo(grammar: Grammar, place: MeshContext, onHeard: (heard: DiscoveryEvent) => void): Promise<Stop> {
  const stops: Stop[] = [];
  for (const filter of grammar.discovery(place)) {
    const stop = await place.broker.subscribe({
      filter,
      handle: (message) => {
        const heard = grammar.hear(message, place);
        if (heard === undefined) place.counts.ignored += 1;
        else onHeard(heard);
      },
    });
    stops.push(stop);
  }
  return async () => void (await Promise.all(stops.map((stop) => stop())));
}
