import { ANY_CELL } from '#bindings';
import type { ReplicaAccess, ReplicaRow } from '../../../engine/adapters/postgres.ts';

/** Who owns which cells. */
export interface Ownership {
  /** The replica that owns the cell, which may be this one. `ANY_CELL`: one that owns cells, another one if there is any. Undefined: nobody now, or nobody knows. */
  owner(cell: number): ReplicaRow | undefined;
  /** Reads again who owns what. Resolves when that is known, or can't be. */
  refresh(): Promise<void>;
}

/** The replicas of the database, as this one last read them. */
export interface Members extends Ownership {
  /** All that are alive. */
  readonly rows: readonly ReplicaRow[];
  /** This replica, or undefined before it has joined. Without an answer of the database its lease runs out, and with it its cells. */
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
export function watchMembers(
  shared: Pick<ReplicaAccess, 'replicas'>,
  publicKey: string,
  onRead: (rows: readonly ReplicaRow[]) => void,
): Members {
  return new PolledMembers(shared, publicKey, onRead);
}

class PolledMembers implements Members {
  readonly #shared: Pick<ReplicaAccess, 'replicas'>;
  readonly #publicKey: string;
  readonly #onRead: (rows: readonly ReplicaRow[]) => void;
  #rows: readonly ReplicaRow[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(shared: Pick<ReplicaAccess, 'replicas'>, publicKey: string, onRead: (rows: readonly ReplicaRow[]) => void) {
    this.#shared = shared;
    this.#publicKey = publicKey;
    this.#onRead = onRead;
  }

  get rows(): readonly ReplicaRow[] {
    return this.#rows;
  }

  get self(): ReplicaRow | undefined {
    const row = this.#rows.find(({ publicKey }) => publicKey === this.#publicKey);
    if (row === undefined) return undefined;
    const leaseMs = Math.max(0, Math.round(row.leaseMs - (performance.now() - this.#readAt)));
    return { ...row, leaseMs, cells: leaseMs === 0 ? 0 : row.cells };
  }

  owner(cell: number): ReplicaRow | undefined {
    if (cell === ANY_CELL) return this.#another();
    return this.#rows.find(({ owned }) => owned.includes(cell));
  }

  #another(): ReplicaRow | undefined {
    const staying = this.#rows.filter(({ cells, isLeaving }) => cells > 0 && isLeaving !== true);
    const others = staying.filter(({ publicKey }) => publicKey !== this.#publicKey);
    // It may have got cells of its own meanwhile.
    return others[Math.floor(Math.random() * others.length)] ?? staying[0];
  }

  refresh(): Promise<void> {
    return this.#read();
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
      });
    return this.#reading;
  }

  #take(rows: readonly ReplicaRow[]): void {
    this.#rows = rows.filter(({ leaseMs }) => leaseMs > 0);
    this.#readAt = performance.now();
    this.#onRead(this.#rows);
  }
}
