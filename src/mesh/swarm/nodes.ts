import type { Clock, Json, JsonObject } from '#protocol';
import { isObject, systemClock } from '#protocol';

/** The defaults of CortexPrism (docs/dialects/cortex.md). */
export const SWARM_DEFAULTS = { heartbeatMs: 30_000, staleMs: 120_000, snapshotsMax: 1440 } as const;
const NODES_MAX = 1000;

/** One node of a swarm. */
export interface SwarmNode {
  /** Name of the node. */
  readonly id: string;
  /** `offline`: there was no report for `staleMs`. */
  readonly status: 'online' | 'offline';
  /** Time of its last report, RFC 3339. */
  readonly seenAt: string;
  /** Its last report, for example its load and its agents. */
  readonly resources: JsonObject;
  /** The number of reports that are kept. */
  readonly snapshots: number;
  /** The node that reported it, if it did not report itself. */
  readonly via?: string;
}

/** The swarm as this node sees it. */
export interface Topology {
  /** This node. */
  readonly self: string;
  /** When the topology was computed, RFC 3339. */
  readonly at: string;
  /** All known nodes. */
  readonly nodes: readonly SwarmNode[];
  /** `from` has reported about `to`. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
  /** The number of nodes with a recent report. */
  readonly online: number;
  /** The number of nodes without one. */
  readonly stale: number;
}

/** The nodes of a swarm with their reports. */
export interface SwarmNodes {
  /**
   * Merges a node's report about itself and the nodes that it knows. Returns the number of new
   * snapshots.
   */
  merge(from: string, resources: Json | undefined): number;
  /** The latest snapshot of each node, this one first: the report to other nodes. */
  snapshots(own: JsonObject): readonly JsonObject[];
  /** All kept snapshots of a node, oldest first. */
  history(id: string): readonly JsonObject[];
  /** All nodes, and who has reported about whom. */
  topology(): Topology;
}

interface Known {
  seenAt: number;
  via: string | undefined;
  readonly history: { readonly at: number; readonly resources: JsonObject }[];
}

/** Options of `createSwarmNodes`. */
export interface SwarmNodesOptions {
  /** Name of this node. */
  readonly self: string;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** A node counts as offline after this time without a report. Default 120,000. */
  readonly staleMs?: number;
  /** Reports that are kept for each node. Default 1,440. */
  readonly snapshotsMax?: number;
}

/** Keeps the nodes of a swarm with their latest resources. See `swarmAgent`. */
export function createSwarmNodes({ self, clock = systemClock, ...given }: SwarmNodesOptions): SwarmNodes {
  const { staleMs, snapshotsMax } = { ...SWARM_DEFAULTS, ...given };
  const known = new Map<string, Known>();
  const now = (): number => clock.now().getTime();
  const note = (id: string, snapshot: { readonly at: number; readonly resources: JsonObject }, via: string | undefined): boolean => {
    const node = known.get(id) ?? { seenAt: 0, via, history: [] };
    const last = node.history.at(-1);
    if (id === self || (last !== undefined && snapshot.at <= last.at) || (last === undefined && known.size >= NODES_MAX)) return false;
    known.set(id, node);
    node.seenAt = Math.max(node.seenAt, snapshot.at);
    node.via = via;
    node.history.push(snapshot);
    if (node.history.length > snapshotsMax) node.history.shift();
    return true;
  };
  return {
    merge: (from, resources) => {
      const listed: readonly Json[] = Array.isArray(resources) ? resources : [];
      const others = listed.flatMap((each) => (isObject(each) ? snapshotIn(each, now()) : []));
      const own = others.find(({ id }) => id === from);
      // The sender itself is online, whatever it reports.
      const heard = note(from, { at: now(), resources: own?.resources ?? {} }, undefined) ? 1 : 0;
      return heard + others.filter(({ id, at, resources: said }) => id !== from && note(id, { at, resources: said }, from)).length;
    },
    snapshots: (own) => [
      { nodeId: self, at: now(), resources: own },
      ...[...known].map(([nodeId, { history }]) => ({ nodeId, at: history.at(-1)?.at ?? 0, resources: history.at(-1)?.resources ?? {} })),
    ],
    history: (id) => (known.get(id)?.history ?? []).map(({ at, resources }) => ({ at, resources })),
    topology: () => {
      const oldest = now() - staleMs;
      const nodes = [...known].map(([id, node]) => shown(id, node, oldest)).toSorted((left, right) => (left.id < right.id ? -1 : 1));
      const online = nodes.filter(({ status }) => status === 'online').length;
      return {
        self,
        at: clock.now().toISOString(),
        nodes,
        edges: nodes.map(({ id, via }) => ({ from: via ?? self, to: id })),
        online,
        stale: nodes.length - online,
      };
    },
  };
}

/** A node with its latest resources. */
function shown(id: string, { seenAt, via, history }: Known, oldest: number): SwarmNode {
  return {
    id,
    status: seenAt >= oldest ? 'online' : 'offline',
    seenAt: new Date(seenAt).toISOString(),
    resources: history.at(-1)?.resources ?? {},
    snapshots: history.length,
    ...(via === undefined ? {} : { via }),
  };
}

/** A report about another node is never newer than now. */
function snapshotIn(raw: JsonObject, now: number): readonly { id: string; at: number; resources: JsonObject }[] {
  const { nodeId, at, resources } = raw;
  if (typeof nodeId !== 'string' || nodeId === '' || nodeId.length > 256) return [];
  const said = typeof at === 'number' && Number.isFinite(at) ? Math.min(at, now) : now;
  return [{ id: nodeId, at: said, resources: isObject(resources) ? resources : raw }];
}
