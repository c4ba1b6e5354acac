import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplicaAccess, ReplicaAddress, ReplicaOwner, ReplicaRow } from '../../../engine/adapters/postgres.ts';
import { DEFAULT_SERVER_LIMITS } from '../../limits.ts';
import type { Log } from '../../observability/log.ts';
import { METRICS } from '../../observability/metric-table.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Front, NodeServer, ServeOptions } from '../node.ts';
import { openFront } from '../node.ts';
import { createForwarder } from './forward.ts';
import type { Links } from './link-client.ts';
import { createLinks } from './link-client.ts';
import type { LinkHost } from './link-host.ts';
import { openLinkHost } from './link-host.ts';
import { makeLinkKeys } from './link-keys.ts';
import type { Members } from './members.ts';
import { watchMembers } from './members.ts';
import { createStandby } from './standby.ts';

/** What others do with a node that stands by. */
export interface StandbyHooks {
  /** Called when another node serves the tasks of the database, and this one forwards requests to it, at this address. */
  readonly onStandby?: (url: string) => void;
  /** Ends a node that stands by: starting it fails with the reason of the signal, which is the name of a signal of the operating system. */
  readonly signal?: AbortSignal;
  /** For tests only: whether a request that is sent to the next owner carries the same key. Default `keyed`. */
  readonly repeats?: 'keyed' | 'plain';
}

/** Options of `createReplica`. */
export interface NodeReplicaOptions extends StandbyHooks {
  /** What the public listener needs. */
  readonly serving: ServeOptions;
  /** Where other replicas reach this one, as `10.0.0.5` or `10.0.0.5:7000`. Default: a free port on loopback. */
  readonly advertise: string | undefined;
  readonly leaseMs: number;
  /** How long a node that stands by still forwards after SIGTERM. */
  readonly lameDuckMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** This node among the others on the same database. */
export interface NodeReplica {
  /** Opens the listener for the others. Called before this node joins them. */
  announce(shared: ReplicaAccess): Promise<ReplicaAddress>;
  /** Another node owns the tasks: opens the public listener, which forwards to it. */
  standBy(owner: ReplicaOwner): void;
  /** Ends the wait for the tasks if the node is stopped, or can't listen. */
  readonly signal: AbortSignal;
  /** This node owns the tasks. Returns the listener that it has already, if it stood by. */
  takeOver(): Promise<Pick<ServeOptions, 'front'>>;
  /** Requests of other replicas are answered from now on. */
  serve(served: NodeServer): void;
  /** The node is about to drain. */
  leave(): void;
  /** To be called when the node has drained, or has ended before it served. */
  close(): Promise<void>;
}

const STANDBY_READ_MS = 200;
const OWNER_READ_MS = 1000;
/** Beyond the lease: the time in which another replica notices that it has ended, and starts. */
const TAKEOVER_MS = 2000;

/** Creates the parts of a node that is one of several. */
export function createReplica(options: NodeReplicaOptions): NodeReplica {
  return new Replicated(options);
}

class Replicated implements NodeReplica {
  readonly #options: NodeReplicaOptions;
  readonly #keys = makeLinkKeys();
  readonly #stopping = new AbortController();
  readonly signal: AbortSignal;
  #members: Members | undefined;
  #links: Links | undefined;
  #host: LinkHost | undefined;
  #front: Promise<Front | undefined> | undefined;
  readonly #leaving = new AbortController();
  #role: 'owner' | 'standby' | undefined;
  #reachedAt = Number.NEGATIVE_INFINITY;

  constructor(options: NodeReplicaOptions) {
    this.#options = options;
    this.signal = options.signal === undefined ? this.#stopping.signal : AbortSignal.any([this.#stopping.signal, options.signal]);
    options.metrics.gauge(METRICS.replicaRole, () => [[[this.#role ?? 'standby'], 1]]);
    options.metrics.gauge(METRICS.replicaLease, () => (this.#members?.self?.leaseMs ?? 0) / 1000);
  }

  async announce(shared: ReplicaAccess): Promise<ReplicaAddress> {
    const { serving, advertise, leaseMs, log } = this.#options;
    const { publicKey } = this.#keys;
    const secret = Buffer.from(await shared.sharedSecret('replica-link', randomBytes(32).toString('base64url')), 'base64url');
    const place = new URL(`tcp://${advertise ?? '127.0.0.1'}`);
    const members = watchMembers(shared, publicKey, (owner) => this.#onOwner(owner));
    this.#members = members;
    this.#links = createLinks({ secret, keys: this.#keys, silentMsMax: leaseMs });
    const limits = { ...DEFAULT_SERVER_LIMITS, ...serving.limits };
    const [host, port] = [place.hostname.replace(/^\[|\]$/g, ''), Number(place.port)];
    this.#host = await openLinkHost({ host, port, secret, publicKey, members: () => members, limits, log });
    return { link: `${place.hostname}:${this.#host.port}`, publicKey };
  }

  standBy(owner: ReplicaOwner): void {
    this.#options.log.info('another node serves this store; this one stands by: it forwards requests, and takes over when that one ends', {
      ...owner,
    });
    if (this.#role !== undefined) return;
    this.#role = 'standby';
    this.#members?.every(STANDBY_READ_MS);
    this.#front = this.#openFront().catch((thrown: unknown) => {
      this.#stopping.abort(thrown);
      return undefined;
    });
  }

  async takeOver(): Promise<Pick<ServeOptions, 'front'>> {
    const { log, metrics } = this.#options;
    const takeovers = metrics.counter(METRICS.replicaTakeovers);
    this.#members?.every(OWNER_READ_MS);
    if (this.#role === 'standby') {
      log.info('this node takes the store over');
      takeovers.add([]);
    }
    this.#role = 'owner';
    const front = await this.#front;
    this.#stopping.signal.throwIfAborted();
    return front === undefined ? {} : { front };
  }

  serve(served: NodeServer): void {
    this.#host?.serve(served.handler);
  }

  leave(): void {
    this.#leaving.abort();
  }

  async close(): Promise<void> {
    const front = this.#role === 'standby' ? await this.#front : undefined;
    if (front !== undefined) await this.#drain(front);
    this.leave();
    this.#members?.stop();
    this.#links?.close();
    await this.#host?.close();
  }

  async #openFront(): Promise<Front> {
    const { serving, metrics, leaseMs, repeats } = this.#options;
    const [ownership, links] = [this.#members, this.#links];
    if (ownership === undefined || links === undefined) throw new Error('this node has not joined the others');
    const front = await openFront(serving, ({ limits, allowedHosts, trusted }) =>
      createStandby({
        forwarder: createForwarder({
          ownership,
          links,
          limits,
          metrics,
          leaving: this.#leaving.signal,
          repeats,
          holdMs: leaseMs + TAKEOVER_MS,
        }),
        serving: { ...serving, allowedHosts },
        ...{ limits, metrics, trusted },
        isLeaving: () => this.#options.signal?.aborted === true || this.#leaving.signal.aborted,
        reachableOwner: () => this.#reachableOwner(),
      }),
    );
    this.#options.onStandby?.(front.url);
    return front;
  }

  /** While the tasks change hands, requests are held; so the last owner counts as reachable for that long. */
  async #reachableOwner(): Promise<string | undefined> {
    const owner = this.#members?.owner();
    if (owner !== undefined && (await this.#links?.isReachable(owner)) === true) this.#reachedAt = performance.now();
    const isRecent = performance.now() - this.#reachedAt < this.#options.leaseMs + TAKEOVER_MS;
    return isRecent ? (owner?.url ?? '') : undefined;
  }

  #onOwner(owner: ReplicaRow | undefined): void {
    if (owner !== undefined) this.#links?.keepOnly(owner);
  }

  /** Answers what has arrived, and disconnects. */
  async #drain({ nodeHost: { server, busy, stopKeeping, closeIdle, closeAll } }: Front): Promise<void> {
    const { drainMsMax } = { ...DEFAULT_SERVER_LIMITS, ...this.#options.serving.limits };
    if (this.#options.signal?.reason === 'SIGTERM') await sleep(this.#options.lameDuckMs);
    this.leave();
    const deadline = performance.now() + drainMsMax;
    stopKeeping();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    closeIdle();
    while (busy() > 0 && performance.now() < deadline) await sleep(20);
    closeAll();
    await closed;
  }
}
