import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { freePort } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { launchServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import type { Child } from '../support/processes.ts';

export const NODES = 3;
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

/** Several nodes on one database. One owns the tasks; the others forward to it. As a supervisor does, it starts a node again that has ended. */
export class Cluster {
  readonly #nodes: ClusterNode[] = [];
  readonly #start: (at: number) => ClusterNode;
  #isOver = false;

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

  /** The node that owns the tasks. */
  async serving(): Promise<ClusterNode> {
    let found: ClusterNode | undefined;
    await eventually(async () => {
      for (const node of this.#nodes) {
        const answer = await fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
        const text = await answer?.text().catch(() => undefined);
        if (answer?.ok === true && text?.includes('standby') === false) found = node;
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

  /** What a node says that serves from the beginning to the end of `ask`. */
  async asked<T>(ask: (url: string) => Promise<T>): Promise<T> {
    for (;;) {
      const node = await this.serving();
      const said = await ask(node.url).catch((thrown: unknown) => ({ thrown }));
      if ((await this.serving()) !== node) continue;
      if (typeof said === 'object' && said !== null && 'thrown' in said) throw said.thrown;
      return said;
    }
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
