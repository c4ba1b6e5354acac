import type { ReplicaAccess, ReplicaRow } from '../../../engine/adapters/postgres.ts';

/**
 * Who owns what. Today one replica owns all cells; the question names a cell, because later each has an owner of its own.
 */
export interface Ownership {
  /** The replica that owns the cell. Undefined: nobody now, or nobody knows. Default: any cell. */
  owner(cell?: number): ReplicaRow | undefined;
  /** Resolves when an owner may have changed, and after a moment in any case. */
  changed(): Promise<void>;
}

/** The replicas of the database, as this one last read them. */
export interface Members extends Ownership {
  /** This replica, or undefined before it has joined. */
  readonly self: ReplicaRow | undefined;
  /** Whether a replica with this key is alive. Reads again if it is not known. */
  isAlive(publicKey: string): Promise<boolean>;
  /** How often to read. */
  every(ms: number): void;
  stop(): void;
}

/** What was read longer ago is read again before a replica is believed to be alive. */
const FRESH_MS = 2000;

/** Reads the table of replicas again and again. While the database does not answer, what was read last counts. */
export function watchMembers(shared: ReplicaAccess, publicKey: string, onOwner: (owner: ReplicaRow | undefined) => void): Members {
  return new PolledMembers(shared, publicKey, onOwner);
}

class PolledMembers implements Members {
  readonly #shared: ReplicaAccess;
  readonly #publicKey: string;
  readonly #onOwner: (owner: ReplicaRow | undefined) => void;
  #rows: readonly ReplicaRow[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #next = Promise.withResolvers<void>();

  constructor(shared: ReplicaAccess, publicKey: string, onOwner: (owner: ReplicaRow | undefined) => void) {
    this.#shared = shared;
    this.#publicKey = publicKey;
    this.#onOwner = onOwner;
  }

  get self(): ReplicaRow | undefined {
    return this.#rows.find((row) => row.publicKey === this.#publicKey);
  }

  owner(_cell?: number): ReplicaRow | undefined {
    return this.#rows.find(({ cells }) => cells > 0);
  }

  changed(): Promise<void> {
    return this.#next.promise;
  }

  async isAlive(publicKey: string): Promise<boolean> {
    const isListed = (): boolean => this.#rows.some((row) => row.publicKey === publicKey);
    if (isListed() && performance.now() - this.#readAt < FRESH_MS) return true;
    await this.#read();
    return isListed();
  }

  every(ms: number): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#read(), ms);
    this.#timer.unref();
    void this.#read();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #read(): Promise<void> {
    this.#reading ??= this.#shared
      .replicas()
      .then(
        (rows) => this.#take(rows),
        () => {}, // the store reports a database that does not answer
      )
      .finally(() => {
        this.#reading = undefined;
        this.#next.resolve();
        this.#next = Promise.withResolvers();
      });
    return this.#reading;
  }

  #take(rows: readonly ReplicaRow[]): void {
    const before = this.owner()?.publicKey;
    this.#rows = rows.filter(({ leaseMs }) => leaseMs > 0);
    this.#readAt = performance.now();
    const owner = this.owner();
    if (owner?.publicKey !== before) this.#onOwner(owner);
  }
}
