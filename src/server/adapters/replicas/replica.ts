import { randomBytes } from 'node:crypto';
import type { StoreCells } from '#engine';
import type { A2AService, AdminReplica } from '#protocol';
import type { ReplicaAccess, ReplicaAddress, ReplicaRow } from '../../../engine/adapters/postgres.ts';
import { StoreError } from '../../../engine/adapters/postgres.ts';
import { DEFAULT_SERVER_LIMITS } from '../../limits.ts';
import type { Log } from '../../observability/log.ts';
import { METRICS } from '../../observability/metric-table.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { ReplicaState } from '../../options.ts';
import type { NodeServer, ServeOptions } from '../node.ts';
import { linkPlaceOf, whyNoListener } from './advertise.ts';
import { createDeliveryReports } from './delivery-reports.ts';
import { createElsewhere } from './elsewhere.ts';
import type { ReplicaErasePeers } from './erase-peers.ts';
import { createErasePeers } from './erase-peers.ts';
import type { ReplicaFigures } from './figures.ts';
import { figuresOf, replicaFigures } from './figures.ts';
import { createForwarder } from './forward.ts';
import type { Links } from './link-client.ts';
import { createLinks } from './link-client.ts';
import type { LinkHost } from './link-host.ts';
import { openLinkHost } from './link-host.ts';
import { makeLinkKeys } from './link-keys.ts';
import type { Members } from './members.ts';
import { watchMembers } from './members.ts';
import { watchReach } from './reach-watch.ts';
import { routeCalls } from './routed.ts';
import type { RoutingOptions } from './routed-items.ts';
import { createSendChannels } from './send-channel.ts';
import { wantCell } from './want-cell.ts';

/** Options of `createReplica`. */
export interface NodeReplicaOptions {
  /** What the public listener needs. */
  readonly serving: ServeOptions;
  /** Where other replicas reach this one, as `10.0.0.5` or `10.0.0.5:7000`. Default: a free port on loopback. */
  readonly advertise: string | undefined;
  readonly leaseMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** For tests only: whether a request that is sent to the next owner carries the same key. Default `keyed`. */
  readonly repeats?: 'keyed' | 'plain' | undefined;
}

/** This node among the others on the same database. */
export interface NodeReplica {
  /** Opens the listener for the others. Called before this node joins them. */
  announce(shared: ReplicaAccess): Promise<ReplicaAddress>;
  /** This node has taken cells of one that has ended. */
  tookOver(cells: number): void;
  /** What the public listener needs to forward requests, and what it shows of this node. Called after `announce`. */
  serving(): Pick<ServeOptions, 'elsewhere' | 'replicaState' | 'routed' | 'erasePeers'>;
  /** The nodes on the database, as they are now. */
  shown(): Promise<readonly AdminReplica[]>;
  /** Requests of other replicas are answered from now on, and they get cells that they ask for. */
  serve(served: NodeServer, cells: StoreCells | undefined): void;
  /** Undefined: it has not joined the others yet. */
  state(): ReplicaState | undefined;
  /** Asks the owner of a cell for it, if that one lacks this agent. Never rejects. */
  want(cell: number, agent: string): Promise<void>;
  /** The node is about to drain. */
  leave(): void;
  /** To be called when the node has drained, or could not start. */
  close(): Promise<void>;
}

/** A request that reaches a replica that does not own its cell any more makes this one read at once. */
const READ_MS = 1000;
/** Beyond the lease: the time in which another replica notices that it has ended, and starts. */
const TAKEOVER_MS = 2000;

/** Creates the parts of a node that is one of several. */
export function createReplica(options: NodeReplicaOptions): NodeReplica {
  return new Replicated(options);
}

class Replicated implements NodeReplica {
  readonly #options: NodeReplicaOptions;
  readonly #keys = makeLinkKeys();
  readonly #figures: ReplicaFigures;
  /** The services of this node's agents, for other replicas. */
  readonly #services = new Map<string, A2AService>();
  #shared: ReplicaAccess | undefined;
  #members: Members | undefined;
  #links: Links | undefined;
  #host: LinkHost | undefined;
  #cells: StoreCells | undefined;
  readonly #leaving = new AbortController();
  readonly #erasePeers: ReplicaErasePeers;

  constructor(options: NodeReplicaOptions) {
    this.#options = options;
    this.#figures = replicaFigures(options.metrics);
    this.#erasePeers = createErasePeers({
      ...{ shared: () => this.#shared, links: () => this.#links, publicKey: this.#keys.publicKey },
      cells: () => this.#cells?.count,
      holdMs: options.leaseMs + TAKEOVER_MS,
    });
    options.metrics.gauge(METRICS.replicaCells, () => this.#members?.self?.cells ?? 0);
    options.metrics.gauge(METRICS.replicaLease, () => (this.#members?.self?.leaseMs ?? 0) / 1000);
  }

  async announce(shared: ReplicaAccess): Promise<ReplicaAddress> {
    const { serving, advertise, leaseMs, log } = this.#options;
    const { publicKey } = this.#keys;
    const secret = Buffer.from(await shared.sharedSecret('replica-link', randomBytes(32).toString('base64url')), 'base64url');
    const { host, port, shown } = linkPlaceOf(advertise);
    const links = createLinks({ secret, keys: this.#keys, silentMsMax: leaseMs });
    const look = watchReach({ links, log, listedMsMax: leaseMs + TAKEOVER_MS });
    const members = watchMembers(shared, publicKey, (rows) => {
      links.keepOnly(rows);
      if (!this.#leaving.signal.aborted) look(rows.filter((row) => row.publicKey !== publicKey));
    });
    [this.#members, this.#shared, this.#links] = [members, shared, links];
    const limits = { ...DEFAULT_SERVER_LIMITS, ...serving.limits };
    const serviceOf = (agent: string): A2AService | undefined => this.#services.get(agent);
    const figures = (): string => JSON.stringify(this.#figures.shown());
    const give = async (cell: number, to: string): Promise<boolean> => {
      const asking = members.rows.find((row) => row.publicKey === to);
      return asking !== undefined && (await this.#cells?.give(cell, asking.replica)) === true;
    };
    this.#host = await openLinkHost({
      ...{ host, port, secret, publicKey, members: () => members, limits, log, figures, serviceOf, give },
      erase: this.#erasePeers.here,
    }).catch((thrown: unknown) => {
      throw new StoreError('failed', `the node can't listen for other nodes: ${whyNoListener(thrown)}`, thrown);
    });
    return { link: `${shown}:${this.#host.port}`, publicKey };
  }

  tookOver(cells: number): void {
    this.#options.log.info('this node takes over cells of a node that stops or has ended', { cells });
    this.#figures.takenOver();
  }

  serving(): Pick<ServeOptions, 'elsewhere' | 'replicaState' | 'routed' | 'erasePeers'> {
    this.#members?.every(READ_MS);
    const limits = { ...DEFAULT_SERVER_LIMITS, ...this.#options.serving.limits };
    const routing = this.#routing();
    const { signal: leaving } = this.#leaving;
    const forwarder = createForwarder({ ...routing, limits, leaving });
    const routed = (service: A2AService, agent: string): A2AService => {
      this.#services.set(agent, service);
      return routeCalls(service, agent, routing);
    };
    const elsewhere = createElsewhere(forwarder, limits);
    return { elsewhere, replicaState: () => this.state(), routed, erasePeers: this.#erasePeers };
  }

  state(): ReplicaState | undefined {
    const { self, rows } = this.#members ?? {};
    return self === undefined || rows === undefined ? undefined : { replicas: rows.length, cells: self.cells, leaseMs: self.leaseMs };
  }

  async shown(): Promise<readonly AdminReplica[]> {
    const rows = (await this.#shared?.replicas()) ?? [];
    return await Promise.all(
      rows.map(async (row) => {
        const { replica: id, url, started: startedAt, leaseMs, cells, owned, publicKey } = row;
        const isThis = publicKey === this.#keys.publicKey;
        const asked = isThis || this.#links === undefined || leaseMs <= 0 ? undefined : await figuresOf(this.#links, row);
        return { id, url, startedAt, leaseMs, cells, owned, isThis, ...(isThis ? this.#figures.shown() : asked) };
      }),
    );
  }

  serve(served: NodeServer, cells: StoreCells | undefined): void {
    this.#cells = cells;
    this.#host?.serve(served.handler);
  }

  async want(cell: number, agent: string): Promise<void> {
    const owner = this.#members?.owner(cell);
    if (owner !== undefined && owner.publicKey !== this.#keys.publicKey) await this.#want(owner, cell, agent);
  }

  async #want(owner: ReplicaRow, cell: number, agent: string | undefined): Promise<void> {
    if (this.#links !== undefined && agent !== undefined && !this.#leaving.signal.aborted)
      await wantCell(this.#links, owner, { cell, agent });
  }

  leave(): void {
    this.#leaving.abort();
  }

  async close(): Promise<void> {
    this.leave();
    this.#members?.stop();
    this.#links?.close();
    await this.#host?.close();
  }

  #routing(): RoutingOptions {
    const [ownership, links] = [this.#members, this.#links];
    if (ownership === undefined || links === undefined) throw new Error('this node has not joined the others');
    const reports = createDeliveryReports(links);
    return {
      ...{ ownership, links, reports, sends: createSendChannels(links, reports) },
      onForwarded: this.#figures.forwarded,
      want: (owner, cell, agent) => this.#want(owner, cell, agent),
      holdMs: this.#options.leaseMs + TAKEOVER_MS,
      repeats: this.#options.repeats,
    };
  }
}
