import type { StoreLease } from '../../lease.ts';
import { StoreError } from '../shared/store-error.ts';
import type { PostgresConnection, PostgresDatabase, Sql } from './database.ts';
import { fateOf, unavailable } from './errors.ts';
import type { LeaseClock, LeaseMoment, LeaseWatch } from './lease-watch.ts';
import { watchLease } from './lease-watch.ts';
import type { SchemaName } from './schema.ts';

/** This process in the table `replicas`: it owns cells while its lease is valid by the database's clock. */
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
  readonly leaseMs: number;
  /** The address of this replica, for people. */
  readonly url: string;
  /** `all`: waits until no other replica owns a cell. A number: takes at most so many free ones. */
  readonly share: 'all' | number;
  /** Called when another replica owns the cells: this one waits until it can take them over. Absent: it refuses to start. */
  readonly onStandby?: ((owner: ReplicaOwner) => void) | undefined;
  readonly report: (what: string, cause: unknown) => void;
  readonly clock: LeaseClock;
}

/** The replica that owns the cells. */
export interface ReplicaOwner {
  readonly replica: number;
  /** Its address, for people. Empty if it has none. */
  readonly url: string;
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
  readonly #database: PostgresDatabase;
  readonly #options: ReplicaOptions;
  readonly #sql: ReturnType<typeof statements>;
  #connection: PostgresConnection | undefined;
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
    this.#database = database;
    this.#options = options;
    this.#sql = statements(s);
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
      await this.#connection?.end();
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
    await this.#connection?.end();
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
   * Takes a number and cells. With `all` it waits for a lease that ends. For one that is renewed it waits
   * only if it may stand by.
   */
  async #claim(onStandby?: ReplicaOptions['onStandby']): Promise<void> {
    const seen = new Map<number, number>();
    let owner: number | undefined;
    for (let waited = 0; ; waited += LOOK_MS) {
      await this.#run(this.#sql.bury);
      const holders = this.#options.share === 'all' ? await this.#run<Holder>(this.#sql.holders) : [];
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
      if (onStandby !== undefined) await this.#register();
      await new Promise<void>((resolve) => void this.#options.clock.later(LOOK_MS, resolve));
    }
  }

  /** Takes a number, or keeps the one that this process has while it waits. */
  async #register(): Promise<LeaseMoment> {
    const { leaseMs, url } = this.#options;
    const sentAt = this.#options.clock.now();
    if (this.#id !== 0 && (await this.#run(this.#sql.renew, [this.#id, leaseMs])).length > 0) return sentAt;
    const [made] = await this.#run<{ replica: number }>(this.#sql.enter, [url, leaseMs]);
    if (made === undefined) throw new StoreError('failed', 'the replica was not stored');
    this.#id = made.replica;
    return sentAt;
  }

  /** False if another replica was faster. */
  async #enter(): Promise<boolean> {
    const { share } = this.#options;
    const sentAt = await this.#register();
    const claimed = await this.#run<ClaimedCell>(this.#sql.claim, [this.#id, share === 'all' ? null : share, share === 'all']);
    if (share === 'all' && claimed.length === 0) return false;
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

  /** Runs a statement on the connection of the lease, with a new connection if the last one broke. */
  async #run<R extends object>(sql: Sql, values: readonly unknown[] = []): Promise<readonly R[]> {
    this.#connection ??= await this.#database.connect();
    const connection = this.#connection;
    try {
      return await connection.query<R>(sql, values);
    } catch (thrown) {
      if (fateOf(thrown) === 'lost' && this.#connection === connection) {
        connection.cut();
        this.#connection = undefined;
      }
      throw thrown;
    }
  }
}

function heldBy(replica: number, url: string): string {
  return `another node serves this store${url === '' ? '' : `, at ${url}`} (replica ${replica}): stop it first, or use another database`;
}

function statements(s: SchemaName): Readonly<Record<'bury' | 'holders' | 'enter' | 'claim' | 'renew' | 'leave', Sql>> {
  return {
    bury: { name: 'bury', text: `DELETE FROM ${s}.replicas WHERE until < clock_timestamp() RETURNING replica` },
    holders: {
      name: 'holders',
      text: `SELECT replica, url, (extract(epoch FROM until - clock_timestamp()) * 1000)::bigint AS left FROM ${s}.replicas
        WHERE replica IN (SELECT replica FROM ${s}.cells)`,
    },
    enter: {
      name: 'enter',
      text: `INSERT INTO ${s}.replicas (url, until) VALUES ($1, clock_timestamp() + $2::float8 * interval '1 ms') RETURNING replica`,
    },
    claim: {
      name: 'claim',
      text: `UPDATE ${s}.cells SET replica = $1, epoch = epoch + 1 WHERE replica IS NULL
        AND NOT ($3::boolean AND EXISTS (SELECT 1 FROM ${s}.cells WHERE replica IS NOT NULL))
        AND cell IN (SELECT cell FROM ${s}.cells WHERE replica IS NULL ORDER BY cell LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
        RETURNING cell, epoch`,
    },
    renew: {
      name: 'renew',
      text: `UPDATE ${s}.replicas SET until = clock_timestamp() + $2::float8 * interval '1 ms' WHERE replica = $1 AND until > clock_timestamp()
        RETURNING replica`,
    },
    leave: { name: 'leave', text: `DELETE FROM ${s}.replicas WHERE replica = $1` },
  };
}
