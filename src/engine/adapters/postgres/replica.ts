import type { StoreLease } from '../../lease.ts';
import { StoreError } from '../shared/store-error.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { unavailable } from './errors.ts';
import { LeaseConnection } from './lease-connection.ts';
import type { LeaseClock, LeaseMoment, LeaseWatch } from './lease-watch.ts';
import { watchLease } from './lease-watch.ts';
import type { SchemaName } from './schema.ts';

/** This process as the only writer of its store: it owns all cells while its lease is valid by the database's clock. */
export interface Replica {
  /** Its current number. A replica whose lease lapsed gets a new one. */
  readonly id: number;
  readonly cells: readonly number[];
  readonly lease: StoreLease;
  /**
   * Takes a new number after the old one was buried, with the same cells. Throws UNAVAILABLE if that is
   * not possible now, and a StoreError if another replica has owned one of the cells meanwhile.
   */
  rejoin(): Promise<void>;
  /** Gives the cells back and ends the lease. */
  leave(): Promise<void>;
}

export interface ReplicaOptions {
  /** Holds while the tables are those of the store. */
  readonly still: string;
  readonly leaseMs: number;
  /** The address of this replica, for people. */
  readonly url: string;
  /** Called when another replica owns the cells: this one waits until it can take them over. Absent: it refuses to start. */
  readonly onStandby?: ((owner: ReplicaOwner) => void) | undefined;
  /** Where other replicas reach this one, and what they verify it by. */
  readonly address?: ReplicaAddress | undefined;
  /** Ends the wait of a replica that stands by. */
  readonly signal?: AbortSignal | undefined;
  readonly report: (what: string, cause: unknown) => void;
  readonly clock: LeaseClock;
}

/** The replica that owns the cells. */
export interface ReplicaOwner {
  readonly replica: number;
  /** Its address, for people. Empty if it has none. */
  readonly url: string;
}

/** How replicas reach and verify one another. Empty texts: a replica of an older version. */
export interface ReplicaAddress {
  /** Host and port of the listener for other replicas. */
  readonly link: string;
  /** Its Ed25519 key, as SPKI in base64url. Each process makes its own. */
  readonly publicKey: string;
}

interface ClaimedCell {
  readonly cell: number;
  readonly epoch: number;
}

interface Holder extends ReplicaOwner {
  readonly left: number;
}

/** A renewal every 3 s with the default lease of 10 s. */
const RENEWALS_A_LEASE = 3.3;
const LOOK_MS = 100;

/** Registers this process, and renews its lease until `leave`. */
export async function joinReplicas(database: PostgresDatabase, s: SchemaName, options: ReplicaOptions): Promise<Replica> {
  const replica = new PostgresReplica(database, s, options);
  await replica.join();
  return replica;
}

class PostgresReplica implements Replica {
  readonly #options: ReplicaOptions;
  readonly #sql: ReturnType<typeof statements>;
  readonly #connection: LeaseConnection;
  #id = 0;
  /** The number under which it owns cells. 0 while it takes a new one: then nothing may be written, because memory may be outdated. */
  #ownId = 0;
  #claimed: readonly ClaimedCell[] = [];
  readonly #watch: LeaseWatch;
  /** When the statement was sent that made the current lease. */
  #enteredAt: LeaseMoment;
  #cancelRenewal: () => void = () => {};
  #rejoining: Promise<void> | undefined;
  #lost: StoreError | undefined;
  #hasLeft = false;

  constructor(database: PostgresDatabase, s: SchemaName, options: ReplicaOptions) {
    this.#connection = new LeaseConnection(database);
    this.#options = options;
    this.#sql = statements(s, options.still);
    this.#watch = watchLease(options.leaseMs, options.clock);
    this.#enteredAt = options.clock.now();
  }

  get lease(): StoreLease {
    return this.#watch;
  }

  get id(): number {
    return this.#ownId;
  }

  get cells(): readonly number[] {
    return this.#claimed.map(({ cell }) => cell);
  }

  async join(): Promise<void> {
    try {
      await this.#claim(this.#options.onStandby);
    } catch (thrown) {
      this.#watch.stop();
      await this.#connection.end();
      throw thrown;
    }
    this.#ownId = this.#id;
    this.#watch.renewed(this.#enteredAt);
    this.#schedule();
  }

  rejoin(): Promise<void> {
    this.#rejoining ??= this.#rejoin().finally(() => {
      this.#rejoining = undefined;
    });
    return this.#rejoining;
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#cancelRenewal();
    this.#watch.stop();
    await this.#rejoining?.catch(() => {});
    // Without a database the lease ends by itself.
    await this.#run(this.#sql.leave, [this.#id]).catch(() => {});
    await this.#connection.end();
  }

  async #rejoin(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    const before = this.#claimed;
    this.#ownId = 0;
    try {
      await this.#run(this.#sql.leave, [this.#id]);
      this.#id = 0;
      await this.#claim();
    } catch (thrown) {
      throw thrown instanceof StoreError ? thrown : unavailable(thrown);
    }
    const now = new Map(this.#claimed.map(({ cell, epoch }) => [cell, epoch]));
    if (before.every(({ cell, epoch }) => now.get(cell) === epoch + 1)) {
      this.#ownId = this.#id;
      this.#watch.renewed(this.#enteredAt);
      return;
    }
    // Somebody else owned a cell in between, so what this process has in memory may be outdated.
    this.#lost = new StoreError(
      'locked',
      'another node has taken over this store: this one was cut off from the database for longer than its lease',
    );
    // The cells go to a process that reads them first. Without a database they become free with the lease.
    await this.#run(this.#sql.leave, [this.#id]).catch(() => {});
    throw this.#lost;
  }

  /**
   * Takes a number and all cells. It waits for a lease that ends. For one that is renewed it waits only if
   * it may stand by.
   */
  async #claim(onStandby?: ReplicaOptions['onStandby']): Promise<void> {
    const seen = new Map<number, number>();
    let owner: number | undefined;
    for (let waited = 0; ; waited += LOOK_MS) {
      await this.#run(this.#sql.bury);
      const holders = await this.#run<Holder>(this.#sql.holders);
      if (holders.length === 0 && (await this.#enter())) return;
      for (const { replica, url, left } of holders) {
        // Time passed, so less is left unless it was renewed.
        const isRenewed = left > (seen.get(replica) ?? Number.POSITIVE_INFINITY) || waited > this.#options.leaseMs * 2;
        if (isRenewed && onStandby === undefined) throw new StoreError('locked', heldBy(replica, url));
        if (isRenewed && owner !== replica) {
          owner = replica;
          onStandby?.({ replica, url });
        }
        seen.set(replica, left);
      }
      if (onStandby !== undefined) await this.#standBy();
      await new Promise<void>((resolve) => void this.#options.clock.later(LOOK_MS, resolve));
    }
  }

  async #standBy(): Promise<void> {
    const { signal } = this.#options;
    await this.#register();
    if (signal?.aborted !== true) return;
    await this.#run(this.#sql.leave, [this.#id]).catch(() => {});
    signal.throwIfAborted();
  }

  /** Takes a number, or keeps the one that this process has while it waits. */
  async #register(): Promise<LeaseMoment> {
    const { leaseMs, url, address } = this.#options;
    const sentAt = this.#options.clock.now();
    if (this.#id !== 0 && (await this.#run(this.#sql.renew, [this.#id, leaseMs])).length > 0) return sentAt;
    const [made] = await this.#run<{ replica: number }>(this.#sql.enter, [url, leaseMs, address?.link ?? '', address?.publicKey ?? '']);
    if (made === undefined) throw unavailable(new Error('the tables of this node were replaced'));
    this.#id = made.replica;
    return sentAt;
  }

  /** False if another replica was faster. */
  async #enter(): Promise<boolean> {
    const sentAt = await this.#register();
    const claimed = await this.#run<ClaimedCell>(this.#sql.claim, [this.#id, null, true]);
    if (claimed.length === 0) return false;
    this.#claimed = claimed;
    this.#enteredAt = sentAt;
    return true;
  }

  #schedule(): void {
    if (this.#hasLeft) return;
    const { clock, leaseMs } = this.#options;
    this.#cancelRenewal = clock.later(leaseMs / RENEWALS_A_LEASE, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    try {
      const sentAt = this.#options.clock.now();
      const renewed = await this.#run(this.#sql.renew, [this.#id, this.#options.leaseMs]);
      if (renewed.length > 0) this.#watch.renewed(sentAt);
      else if (!this.#hasLeft) await this.rejoin();
    } catch (thrown) {
      if (!this.#hasLeft) this.#options.report('the lease of the store was not renewed', thrown);
    }
    this.#schedule();
  }

  #run<R extends object>(sql: Sql, values: readonly unknown[] = []): Promise<readonly R[]> {
    return this.#connection.run<R>(sql, values);
  }
}

function heldBy(replica: number, url: string): string {
  return `another node serves this store${url === '' ? '' : `, at ${url}`} (replica ${replica}): stop it first, or use another database`;
}

function statements(s: SchemaName, still: string): Readonly<Record<'bury' | 'holders' | 'enter' | 'claim' | 'renew' | 'leave', Sql>> {
  return {
    bury: { name: 'bury', text: `DELETE FROM ${s}.replicas WHERE until < clock_timestamp() RETURNING replica` },
    holders: {
      name: 'holders',
      text: `SELECT replica, url, (extract(epoch FROM until - clock_timestamp()) * 1000)::bigint AS left FROM ${s}.replicas
        WHERE replica IN (SELECT replica FROM ${s}.cells)`,
    },
    enter: {
      name: 'enter',
      text: `INSERT INTO ${s}.replicas (url, until, link, public_key) SELECT $1, clock_timestamp() + $2::float8 * interval '1 ms', $3, $4
        WHERE ${still} RETURNING replica`,
    },
    claim: {
      name: 'claim',
      text: `UPDATE ${s}.cells SET replica = $1, epoch = epoch + 1 WHERE replica IS NULL AND ${still}
        AND NOT ($3::boolean AND EXISTS (SELECT 1 FROM ${s}.cells WHERE replica IS NOT NULL))
        AND cell IN (SELECT cell FROM ${s}.cells WHERE replica IS NULL ORDER BY cell LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
        RETURNING cell, epoch`,
    },
    renew: {
      name: 'renew',
      text: `UPDATE ${s}.replicas SET until = clock_timestamp() + $2::float8 * interval '1 ms' WHERE replica = $1 AND until > clock_timestamp()
        AND ${still} RETURNING replica`,
    },
    leave: { name: 'leave', text: `DELETE FROM ${s}.replicas WHERE replica = $1 AND ${still}` },
  };
}
