import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { launchServe } from '../../support/parley.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import type { Child, Surroundings } from '../../support/processes.ts';
import { childFile } from '../parley.ts';
import { isFull } from '../size.ts';
import { createAudited, operate } from './audit.ts';

export const SIZE = 3;
/** A busy machine may stop a process for a second. */
export const LEASE_MS = 3000;

/** A protection that a control switches off in a real `parley serve` (children/weakened.ts). */
export type Weakness = 'fence' | 'sync' | 'verdict' | 'clock';

/** Which Parley a node is. Default: that of this checkout. */
export interface Release {
  /** Its command line. */
  readonly cli?: string | undefined;
  /** Options of Node itself, such as `--import`. */
  readonly node?: readonly string[];
}

export interface FleetOptions {
  readonly database: string;
  /** A folder for the data of the nodes. */
  readonly data: string;
  readonly leaseMs?: number;
  /** How many nodes run at the start. Default 3. */
  readonly running?: number;
  readonly weakness?: Weakness;
  /** Starts this program instead of `parley serve`. */
  readonly entry?: string;
  /** Asked at each start of a node. */
  readonly release?: (at: number) => Release | undefined;
  /** Makes the tables. Default: this checkout does. */
  readonly makeTables?: (database: string) => Promise<void>;
  /** Agents and more arguments of a node. Default: `script`. */
  readonly args?: (at: number) => readonly string[];
  /** How a node is started. */
  readonly around?: (at: number) => Surroundings;
  /** The port of the database that a node sees. Default: that of the server. */
  readonly databasePort?: (at: number) => number;
  /** The port that a node listens on for other nodes, and the one that they see. */
  readonly link?: (at: number) => { readonly direct: number; readonly shown: number };
}

/** A node of the fleet. Its address stays the same when it starts again. */
export interface FleetNode {
  readonly at: number;
  readonly url: string;
  readonly child: Child;
}

/** Real nodes on one database. As a supervisor does, it starts a node again that has ended. */
export class Fleet {
  /** The database, as the operator reaches it. */
  readonly database: string;
  readonly #options: FleetOptions;
  readonly #server: PostgresServer;
  readonly #ports: readonly number[];
  readonly #nodes: (FleetNode | undefined)[] = [];
  readonly #wanted = new Set<number>();
  /** How often a node ended by itself, with the end of its log. */
  readonly ended: string[] = [];

  constructor(server: PostgresServer, options: FleetOptions, place: { readonly database: string; readonly ports: readonly number[] }) {
    this.#server = server;
    this.#options = options;
    this.database = place.database;
    this.#ports = place.ports;
    for (let at = 0; at < (options.running ?? SIZE); at += 1) this.start(at);
  }

  start(at: number): void {
    this.#wanted.add(at);
    const child = this.#launch(at);
    const node = { at, url: this.urlOf(at), child };
    this.#nodes[at] = node;
    void child.ended.then(({ code, signal }) => {
      if (signal === null && code !== 0) this.ended.push(`node ${at} ended with ${code}: ${child.errors().slice(-8000)}`);
      if (this.#nodes[at] === node) this.#nodes[at] = undefined;
      if (this.#wanted.has(at)) this.start(at);
    });
  }

  #launch(at: number): Child {
    const { leaseMs = LEASE_MS, weakness, entry, data, args, around, databasePort, link } = this.#options;
    const store = this.database.replace(`:${this.#server.port}/`, `:${databasePort?.(at) ?? this.#server.port}/`);
    const place = ['--data', join(data, `${this.#options.database}-${at}`), '--store', store, '--store-lease-ms', String(leaseMs)];
    const linked = link === undefined ? [] : ['--advertise', `127.0.0.1:${link(at).direct}`];
    const served = entry === undefined ? (args?.(at) ?? ['script']) : [];
    const { env, ...rest } = around?.(at) ?? {};
    const release = this.#options.release?.(at);
    return launchServe({
      ...rest,
      isBuilt: isFull && entry === undefined && release === undefined,
      cli: release?.cli,
      env: { ...env, ...(weakness === undefined ? {} : { PARLEY_WEAKNESS: weakness }) },
      node: [...(release?.node ?? []), ...(weakness === undefined ? [] : ['--import', childFile('weakened.ts')])],
      args: [...served, ...place, ...linked, '--limit', 'retryMs=20', '--port', String(this.#ports[at]), '--allow-loopback-targets'],
      ...(entry === undefined ? {} : { entry }),
    });
  }

  urlOf(at: number): string {
    return `http://127.0.0.1:${this.#ports[at]}`;
  }

  get ports(): readonly number[] {
    return this.#ports;
  }

  /** The nodes that run now. */
  get nodes(): readonly FleetNode[] {
    return this.#nodes.filter((node) => node !== undefined);
  }

  /** Sends a signal, and resolves when the node has ended. `isAgain`: the supervisor starts it again. */
  async end(node: FleetNode, signal: NodeJS.Signals, isAgain = true): Promise<number | null> {
    if (!isAgain) this.#wanted.delete(node.at);
    node.child.process.kill(signal);
    return (await node.child.ended).code;
  }

  /** Ends the node at this place, in the same way. */
  async endAt(at: number, signal: NodeJS.Signals, isAgain = true): Promise<number | null> {
    const node = this.#nodes[at];
    if (node === undefined) throw new Error(`node ${at} does not run`);
    return this.end(node, signal, isAgain);
  }

  /** Whether the node is ready, as a load balancer asks. */
  async isReady(at: number): Promise<boolean> {
    const answer = await fetch(`${this.urlOf(at)}/readyz`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.ok === true;
  }

  /** Resolves when all nodes that should run are ready. */
  async allReady(): Promise<void> {
    await eventually(async () => {
      for (const at of this.#wanted) {
        if (!(await this.isReady(at)))
          throw new Error(`node ${at} is not ready: ${this.#nodes[at]?.child.errors().slice(-1500)} ${this.ended.slice(-2).join()}`);
      }
    });
  }

  /** The address of a node that is ready. */
  async readyUrl(): Promise<string> {
    let found: string | undefined;
    await eventually(async () => {
      for (const { at, url } of this.nodes) if (await this.isReady(at)) found = url;
      if (found === undefined) throw new Error(`no node is ready: ${this.nodes.map(({ child }) => child.errors().slice(-500)).join('\n')}`);
    });
    return found ?? '';
  }

  /** A running node that owns cells, by the database. */
  async owner(): Promise<FleetNode> {
    let found: FleetNode | undefined;
    await eventually(async () => {
      const rows = await operate<{ url: string }>(this.database, OWNERS);
      const owners = this.nodes.filter(({ url }) => rows.some((row) => row.url === url));
      found = owners[Math.floor(Math.random() * owners.length)];
      return found !== undefined;
    });
    if (found === undefined) throw new Error('no running node owns a cell');
    return found;
  }

  /** A running node, by chance. */
  any(): FleetNode {
    const node = this.nodes[Math.floor(Math.random() * this.nodes.length)];
    if (node === undefined) throw new Error('no node runs');
    return node;
  }

  /** A running node that is not this one. */
  other(than: FleetNode): FleetNode {
    const node = this.nodes.find(({ at }) => at !== than.at);
    if (node === undefined) throw new Error('no other node runs');
    return node;
  }

  async stop(): Promise<void> {
    this.#wanted.clear();
    for (const { child } of this.nodes) child.process.kill('SIGKILL');
    await Promise.all(this.nodes.map(({ child }) => child.ended));
  }
}

const OWNERS = `SELECT DISTINCT r.url FROM parley.cells c JOIN parley.replicas r USING (replica) WHERE r.until > clock_timestamp()`;

/** Creates a database with the audit, and starts nodes on it. */
export async function startFleet(server: PostgresServer, options: FleetOptions): Promise<Fleet> {
  const ports = await Promise.all(Array.from({ length: SIZE }, () => freePort()));
  const links = new Map<string, string>();
  for (let at = 0; at < SIZE; at += 1) {
    const link = options.link?.(at);
    if (link !== undefined) links.set(`127.0.0.1:${link.direct}`, `127.0.0.1:${link.shown}`);
  }
  const database = await createAudited(server.url, { ...options, links });
  return new Fleet(server, options, { database, ports });
}
