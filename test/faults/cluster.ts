import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { launchServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import type { Child } from '../support/processes.ts';

export const NODES = 3;
const CELLS = 128;
/** A busy machine may stop a process for a second. */
const LEASE_MS = 3000;

/** A node of the cluster, on a port that stays the same. */
export interface ClusterNode {
  readonly url: string;
  readonly child: Child;
}

export interface ClusterOptions {
  /** Starts this program instead of `parley serve`. */
  readonly entry?: string;
  readonly leaseMs?: number;
  /** More arguments. */
  readonly args?: readonly string[];
}

/** Several nodes on one database, each of which owns some of the cells. As a supervisor does, it starts a node again that has ended. */
export class Cluster {
  readonly #nodes: ClusterNode[] = [];
  readonly #start: (at: number) => ClusterNode;
  #isOver = false;
  #turn = 0;

  constructor(start: (at: number) => ClusterNode) {
    this.#start = start;
    for (let at = 0; at < NODES; at += 1) this.#launch(at);
  }

  #launch(at: number): void {
    const node = this.#start(at);
    this.#nodes[at] = node;
    void node.child.ended.then(() => {
      if (!this.#isOver) this.#launch(at);
    });
  }

  /** A node that is ready, another one each time. */
  async serving(): Promise<ClusterNode> {
    let found: ClusterNode | undefined;
    this.#turn += 1;
    const inTurn = this.#nodes.map((_, at) => (at + this.#turn) % this.#nodes.length);
    await eventually(async () => {
      for (const at of inTurn) {
        const node = this.#nodes[at];
        const answer = await fetch(`${node?.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
        await answer?.arrayBuffer().catch(() => undefined);
        if (answer?.ok === true) found ??= node;
      }
      if (found === undefined)
        throw new Error(`no node is ready: ${this.#nodes.map((node) => node?.child.errors().slice(-1500)).join('\n\n')}`);
    });
    if (found === undefined) throw new Error('no node is ready');
    return found;
  }

  /** Resolves when every node is ready, as a load balancer finds it. */
  async allReady(): Promise<void> {
    await eventually(async () => {
      for (const { url } of this.#nodes) expect((await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) })).status).toBe(200);
    });
  }

  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  random(): ClusterNode {
    const node = this.#nodes[Math.floor(Math.random() * NODES)];
    if (node === undefined) throw new Error('the cluster has no such node');
    return node;
  }

  /** What a node says that lives from the beginning to the end of `ask`. */
  async asked<T>(ask: (url: string) => Promise<T>): Promise<T> {
    for (;;) {
      const node = await this.serving();
      try {
        return await ask(node.url);
      } catch (thrown) {
        if (this.#nodes.includes(node)) throw thrown;
      }
    }
  }

  /** Resolves when each node owns cells, and all cells have an owner. */
  async divided(): Promise<void> {
    await this.allReady();
    await eventually(async () => {
      const counts: number[] = [];
      for (const { url } of this.#nodes)
        counts.push(Number(/^parley_replica_cells (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]));
      expect(counts.reduce((sum, each) => sum + each, 0)).toBe(CELLS);
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(Math.floor(CELLS / NODES) - 1);
    });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    for (const { child } of this.#nodes) child.process.kill('SIGKILL');
    for (const { child } of this.#nodes) await child.ended;
  }
}

/** Creates a database, and starts nodes on it. */
export async function startCluster(
  postgres: PostgresServer,
  { database, data }: { readonly database: string; readonly data: string },
  { entry, leaseMs = LEASE_MS, args: more = [] }: ClusterOptions = {},
): Promise<Cluster> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`).finally(() => client.end());
  const ports = await Promise.all(Array.from({ length: NODES }, () => freePort()));
  const store = postgres.url.replace(/postgres$/, database);
  return new Cluster((at) => {
    const place = ['--data', join(data, `${database}-${at}`), '--store', store, '--store-lease-ms', String(leaseMs)];
    const kept = [...place, '--limit', 'retryMs=20', '--port', String(ports[at]), ...more];
    const args = [...(entry === undefined ? ['script'] : []), ...kept];
    return { url: `http://127.0.0.1:${ports[at]}`, child: launchServe({ args, ...(entry === undefined ? {} : { entry }) }) };
  });
}
