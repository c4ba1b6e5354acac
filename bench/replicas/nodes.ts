import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../children.ts';
import { newFolder, startParley } from '../children.ts';
import { cpuMicros } from '../measure.ts';

/** Replicas on one database. */
export interface Replicas {
  readonly nodes: readonly Server[];
  /** Requests that replicas have forwarded so far. */
  forwards(): Promise<number>;
  /** Processor time of all replicas so far. */
  cpuMicros(): number;
  stop(): Promise<void>;
}

const SHARES_MS_MAX = 30_000;

/** Starts replicas, and waits until each one owns its share of the cells. */
export async function startReplicas(agent: string, store: string, { count, leaseMs = 10_000 }: ReplicaOptions): Promise<Replicas> {
  const nodes: Server[] = [];
  const flags = ['--store', store, '--store-lease-ms', String(leaseMs)];
  // One after the other: the first one creates the tables.
  for (let at = 0; at < count; at += 1) nodes.push(await startParley(agent, ['--data', newFolder()], { serve: flags }));
  await untilShared(nodes);
  return {
    nodes,
    forwards: async () => {
      const counts = await Promise.all(nodes.map((node) => metricOf(node, 'parley_replica_forwards_total')));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    cpuMicros: () => nodes.reduce((sum, { pid }) => sum + cpuMicros(pid), 0),
    stop: async () => {
      for (const node of nodes) await node.stop();
    },
  };
}

interface ReplicaOptions {
  readonly count: number;
  readonly leaseMs?: number;
}

interface ShownReplica {
  readonly cells: number;
}

async function untilShared(nodes: readonly Server[]): Promise<void> {
  const deadline = performance.now() + SHARES_MS_MAX;
  for (;;) {
    const response = await fetch(`${nodes[0]?.url}/api/parley/v1/replicas`);
    const { replicas } = (await response.json()) as { readonly replicas: readonly ShownReplica[] };
    const cells = replicas.map((replica) => replica.cells);
    if (cells.length === nodes.length && Math.max(...cells) - Math.min(...cells) <= nodes.length) return;
    if (performance.now() > deadline) throw new Error(`the cells are not shared: ${cells.join(', ')}`);
    await sleep(200);
  }
}

/** The sum of a metric of a node over its labels. */
export async function metricOf({ url }: Pick<Server, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
