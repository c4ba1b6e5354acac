import type { Engine, EngineOptions, Store, TakenNames, Write } from '#engine';
import { CommitUnknownError, createEngine } from '#engine';
import { openStoreOn } from '../../src/engine/adapters/postgres.ts';
import { simulatedAgents } from './agents.ts';
import type { Line } from './database/connection.ts';
import { simulatedDatabase } from './database/connection.ts';
import type { Actor } from './scheduler.ts';
import { LEASE_MS } from './settings.ts';
import type { SimulatedWorld } from './world.ts';

/** Wall clocks of machines are wrong by up to this. */
const SKEW_MS = 30_000;
const EPOCH = Date.UTC(2026, 0, 1);

/** One process: a start of a node until its end. A restarted node is another process. */
export class SimulatedProcess implements Actor {
  readonly n: number;
  readonly slot: number;
  readonly name: string;
  isAlive = true;
  pausedUntil = 0;
  /** Since when it has not been paused. */
  awakeSince = 0;
  isServing = false;
  engine: Engine | undefined;
  readonly line: Line;
  lastCommit = 0;
  readonly #world: SimulatedWorld;
  readonly #skew: number;
  readonly #onEnd = new Set<() => void>();
  #ids = 0;
  #store: Store | undefined;

  constructor(world: SimulatedWorld, n: number, slot: number) {
    this.#world = world;
    this.n = n;
    this.slot = slot;
    this.name = `p${n}`;
    this.#skew = world.random.whole(-SKEW_MS, SKEW_MS);
    const onCommit = (statement: number): void => {
      this.lastCommit = statement;
    };
    this.line = { actor: this, process: n, cutUntil: 0, nextFault: undefined, onCommit };
  }

  /** Opens the store, and serves. */
  async start(): Promise<void> {
    const { scheduler } = this.#world;
    const store = await openStoreOn(simulatedDatabase(this.#world.wires, this.line), {
      leaseMs: LEASE_MS,
      cells: this.#world.server.tables.cells.length,
      share: 'fair',
      // Its timers are real ones, and would keep every world of a process in memory.
      search: false,
      ...(this.#world.defect.verdicts === undefined ? {} : { verdicts: this.#world.defect.verdicts }),
      clock: {
        now: () => ({ ticks: this.#ticks(), wall: this.#wall() }),
        later: (ms, work) => scheduler.later(this, ms, 'lease timer', work),
        every: (ms, work) => this.#every(ms, work),
      },
    });
    const given = this.#world.defect.store?.(store) ?? store;
    this.#store = given;
    this.engine = createEngine(this.#options(watchedStore(this.#world, this, given)));
    await this.engine.start();
    this.isServing = true;
    scheduler.note(`${this.name} serves`);
  }

  /** Ends as after SIGTERM: it finishes its work, and hands its cells over. */
  async leave(): Promise<void> {
    await this.engine?.stop({ ms: 500 });
    this.isServing = false;
    await this.#store?.close();
  }

  /** The process is gone: nothing of it happens any more. */
  end(): void {
    this.isAlive = false;
    this.isServing = false;
    for (const tell of this.#onEnd) tell();
    this.#onEnd.clear();
  }

  /** Calls `tell` when the process ends, as a connection to it would notice. Returns a function that cancels this. */
  onEnd(tell: () => void): () => void {
    this.#onEnd.add(tell);
    return () => this.#onEnd.delete(tell);
  }

  pause(until: number): void {
    this.pausedUntil = Math.max(until, this.pausedUntil);
    this.awakeSince = this.pausedUntil;
  }

  #ticks(): number {
    return this.#world.scheduler.now + 1000;
  }

  #wall(): number {
    return EPOCH + this.#world.scheduler.now + this.#skew;
  }

  #every(ms: number, work: () => void): () => void {
    let isOn = true;
    const again = (): void => {
      if (!isOn) return;
      work();
      this.#world.scheduler.later(this, ms, 'lease look', again);
    };
    this.#world.scheduler.later(this, ms, 'lease look', again);
    return () => {
      isOn = false;
    };
  }

  #options(store: Store): EngineOptions {
    const { scheduler } = this.#world;
    return {
      store,
      agents: simulatedAgents(this.#world, this),
      clock: { now: () => new Date(this.#wall()), ticks: () => this.#ticks() },
      timers: {
        soon: (work) => void scheduler.later(this, 0, 'soon', work),
        later: (ms, work) => scheduler.later(this, ms, 'timer', work),
      },
      ids: {
        next: () => {
          this.#ids += 1;
          return `${this.name}-${this.#ids}`;
        },
      },
      random: () => this.#world.random.next(),
      secret: new Uint8Array(32),
      idempotency: 'messageId',
      missingAgents: 'wait',
      limits: { tickMs: 5000, retryMs: 200 },
      webhookSender: this.#world.receiver.senderOf(this),
      onBroken: () => void scheduler.later(this, 0, 'exits', () => this.#world.end(this, 'exit')),
      report: (what) => scheduler.note(`${this.name} reports: ${what}`),
    };
  }
}

/** Tells the checker what becomes of commits of unknown outcome. */
function watchedStore({ checker }: SimulatedWorld, process: SimulatedProcess, store: Store): Store {
  const claim = async (batch: readonly Write[]): Promise<TakenNames> => {
    try {
      return await claimOf(store)(batch);
    } catch (thrown) {
      if (!(thrown instanceof CommitUnknownError)) throw thrown;
      const n = process.lastCommit;
      throw new CommitUnknownError(async () => {
        const verdict = await thrown.verdict();
        checker.verdict(n, verdict !== false, hasEntries(batch));
        return verdict;
      });
    }
  };
  return { ...store, claim };
}

/** A store beside others claims. */
export function claimOf({ claim }: Store): NonNullable<Store['claim']> {
  if (claim === undefined) throw new Error('the store has no claims');
  return claim;
}

/** Only then a batch that is written twice would change something. */
function hasEntries(batch: readonly Write[]): boolean {
  return batch.some((write) => write.kind === 'task' && (write.isNew || write.entries.length > 0));
}
