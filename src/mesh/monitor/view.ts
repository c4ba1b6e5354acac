import type { AdminMesh, AdminPeer, Agent, Clock } from '#protocol';
import { systemClock } from '#protocol';
import type { MeshPort } from '#server';
import type { Broker } from '../broker.ts';
import type { MeshPeer, MeshRegistry } from '../discovery/registry.ts';
import { DISCOVERY_DEFAULTS } from '../discovery/registry.ts';
import type { GatewayOptions } from '../gateway.ts';
import { meshAgent } from '../gateway.ts';
import type { Grammar, MeshCounts } from '../grammars/grammar.ts';
import { samGrammar } from '../grammars/sam/grammar.ts';
import type { MeshMonitor } from './monitor.ts';

/** Options of `meshView`. */
export interface MeshViewOptions extends Pick<GatewayOptions, 'caller' | 'artifacts' | 'userOf'> {
  /** The agents and gateways that are known. */
  readonly registry: MeshRegistry;
  /** The calls that were observed. */
  readonly monitor: MeshMonitor;
  /** The connection whose state is shown. */
  readonly broker: Broker;
  /** The broker's address to show. A user and a password in it are removed. */
  readonly address: string;
  /** The namespace of the mesh. */
  readonly namespace: string;
  /** How messages of the mesh are written. Default: that of Solace Agent Mesh. */
  readonly grammar?: Grammar;
  /** Counters of dropped and ignored messages. */
  readonly counts: Readonly<MeshCounts>;
  /** The `instance` that `joinMesh` got. */
  readonly instance: string;
  /** The name of this process's gateway, if it is one. */
  readonly gateway?: string;
  /** How often peers publish their cards. */
  readonly announceMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** A peer is stale after this many intervals without a card: one card may be late. */
const STALE_INTERVALS = 2.5;

/**
 * The mesh as a node's operators see it, in the admin API and the console. Give it to `createHandler`
 * or `serve` as `mesh`.
 */
export function meshView(options: MeshViewOptions): MeshPort {
  const { registry, monitor, namespace, grammar = samGrammar, counts } = options;
  const address = withoutCredentials(options.address);
  return {
    shown: (): AdminMesh => {
      monitor.listen();
      return {
        broker: address,
        isConnected: options.broker.isConnected,
        namespace,
        grammar: grammar.id,
        at: (options.clock ?? systemClock).now().toISOString(),
        peers: registry.peers().map((peer) => peerOf(peer, options)),
        calls: monitor.calls(),
        hears: monitor.hears,
        counts: { ...counts },
      };
    },
    agent: (name): Agent | undefined => {
      const peer = registry.agent(name);
      return peer === undefined ? undefined : meshAgent(name, peer.card, options);
    },
  };
}

/** A peer as operators see it. It counts as stale after several missed announcements. */
function peerOf({ kind, name, card, seenAt, instances }: MeshPeer, options: MeshViewOptions): AdminPeer {
  const { grammar = samGrammar, announceMs = DISCOVERY_DEFAULTS.announceMs, clock = systemClock, instance, gateway } = options;
  const now = clock.ticks?.() ?? clock.now().getTime();
  const replicas = instances.map(({ id, heardAt }) => ({ id, silentMs: Math.round(now - heardAt) }));
  const silentMs = Math.min(clock.now().getTime() - seenAt.getTime(), ...replicas.map((each) => each.silentMs));
  const isSilent = !grammar.retainsCards && silentMs > announceMs * STALE_INTERVALS;
  return {
    kind,
    name,
    description: card.description,
    version: card.version,
    state: isSilent ? 'stale' : 'live',
    seenAt: seenAt.toISOString(),
    silentMs,
    replicas,
    isOurs: kind === 'gateway' ? name === gateway : instances.some(({ id }) => id === instance),
  };
}

/** An address that may still contain a password is not shown at all. */
function withoutCredentials(address: string): string {
  const url = URL.parse(address);
  const bare = url === null || url.host === '' ? address : `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, '')}`;
  return bare.includes('@') ? 'a broker' : bare;
}
