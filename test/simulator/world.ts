import type { Store } from '#engine';
import { FIRST_FINISHED, WAITING_CODES } from '../../src/engine/adapters/shared/state-codes.ts';
import { Checker } from './checker/checker.ts';
import { SimulatedClient } from './client.ts';
import type { SimulatedConnection } from './database/connection.ts';
import type { ServerDefects } from './database/server.ts';
import { SimulatedServer } from './database/server.ts';
import type { FaultKind } from './faults.ts';
import { Faults } from './faults.ts';
import type { ForwardDefects } from './forward.ts';
import type { Findings, InvariantName, Violation } from './invariants.ts';
import { SimulatedNetwork } from './network.ts';
import { SimulatedProcess } from './process.ts';
import { SimulatedReceiver } from './receiver.ts';
import type { Random } from './scheduler.ts';
import { Scheduler, WORLD } from './scheduler.ts';
import { CELLS, CLIENTS, DELIVERY_MS, REPLICAS, SETTLE_MS, STEPS_MAX } from './settings.ts';

/** What happens to single messages. */
export type MessageFault = 'message lost' | 'message delayed' | 'message repeated' | 'answer lost' | 'stream cut';

/** A defect that is planted around the engine, never in it. */
export interface Defect {
  readonly server?: ServerDefects;
  readonly verdicts?: 'plain';
  readonly store?: (store: Store) => Store;
  readonly forward?: ForwardDefects;
}

/** What one seed gave. */
export interface SeedResult {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly steps: number;
  readonly requests: number;
  readonly faults: number;
  readonly hash: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly checks: ReadonlyMap<InvariantName, number>;
}

/** Everything of one seed. */
export class SimulatedWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly checker: Checker = new Checker();
  readonly server: SimulatedServer;
  readonly wires: {
    readonly scheduler: Scheduler;
    readonly server: SimulatedServer;
    readonly open: Set<SimulatedConnection>;
    readonly count: { statements: number };
  };
  readonly network: SimulatedNetwork;
  readonly receiver: SimulatedReceiver;
  readonly defect: Defect;
  readonly counts: Map<string, number> = new Map();
  requests = 0;
  readonly #faults: Faults;
  readonly #slots: (SimulatedProcess | undefined)[] = [];
  readonly #clients: readonly SimulatedClient[];
  readonly #acknowledged = new Map<string, string>();
  #processes = 0;

  constructor(seed: number, defect: Defect = {}) {
    this.scheduler = new Scheduler(seed);
    this.random = this.scheduler.random;
    this.defect = defect;
    this.server = new SimulatedServer(this.scheduler, CELLS, this.checker, defect.server ?? {});
    this.checker.tables = this.server.tables;
    this.checker.now = () => this.scheduler.now;
    this.wires = { scheduler: this.scheduler, server: this.server, open: new Set(), count: { statements: 0 } };
    this.network = new SimulatedNetwork(this);
    this.receiver = new SimulatedReceiver(this);
    this.#faults = new Faults(this);
    this.#clients = Array.from({ length: CLIENTS }, (_, n) => new SimulatedClient(this, n));
  }

  async run(seed: number): Promise<SeedResult> {
    for (let slot = 0; slot < REPLICAS; slot += 1) this.#start(slot);
    for (const client of this.#clients) void client.start();
    this.#faults.schedule();
    const hasFailed = (): boolean => this.findings.violation !== undefined || this.#isEndless();
    await this.scheduler.run(() => hasFailed() || (this.#faults.areOver && this.#clients.every(({ isDone }) => isDone)));
    const end = this.scheduler.now + SETTLE_MS;
    await this.scheduler.run(() => hasFailed() || this.scheduler.now > end || this.#isSettled());
    const delivered = this.scheduler.now + DELIVERY_MS;
    await this.scheduler.run(() => hasFailed() || this.scheduler.now > delivered);
    if (!hasFailed()) this.#finish();
    return {
      ...{ seed, violation: this.findings.violation, steps: this.scheduler.steps, requests: this.requests },
      ...{ faults: this.#faults.injected, hash: this.scheduler.digest(), counts: this.counts, checks: this.findings.checks },
    };
  }

  get findings(): Findings {
    return this.checker.findings;
  }

  processes(): readonly SimulatedProcess[] {
    return this.#slots.filter((process) => process?.isAlive === true).flatMap((process) => process ?? []);
  }

  processAt(slot: number): SimulatedProcess | undefined {
    const process = this.#slots[slot];
    return process?.isAlive === true ? process : undefined;
  }

  /** The process dies, or ends by itself. The node starts again after a while. */
  end(process: SimulatedProcess, why: 'crash' | 'exit'): void {
    process.end();
    this.count(why === 'exit' ? 'process ended because another has its store' : 'restart');
    this.scheduler.note(`${process.name} ${why}`);
    this.scheduler.later(WORLD, this.random.whole(50, 2000), `restart of node ${process.slot}`, () => this.#start(process.slot));
  }

  count(what: FaultKind | string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Whether a fault of a single message happens now. There are none after the last fault. */
  occurs(what: MessageFault, part: number): boolean {
    if (this.#faults.areOver || !this.random.chance(part)) return false;
    this.count(what);
    return true;
  }

  /**
   * Every cell has an owner that is alive. A node without cells is right only if no other could give it one: cells with work stay, and so do those
   * with questions of an agent that can't be started again.
   */
  #checkCells(): void {
    const { cells, replicas, tasks, realms } = this.server.tables;
    const owned = Map.groupBy(cells.keys(), (cell) => cells[cell]?.replica);
    const agents = new Map([...realms.values()].map(({ realm, agent }) => [realm, agent]));
    const isAtRest = (state: number, realm: number): boolean => WAITING_CODES.includes(state) && agents.get(realm) !== 'fail';
    const working = [...tasks.values()].filter(({ state, realm }) => state < FIRST_FINISHED && !isAtRest(state, realm));
    const inUse = new Set(working.map(({ cell }) => cell));
    const live = [...replicas].filter(([, until]) => until > this.scheduler.now).map(([replica]) => replica);
    const share = Math.ceil(cells.length / live.length);
    const couldGive = [...owned.values()].some((own) => own.length > share && own.some((cell) => !inUse.has(cell)));
    for (const [cell, { replica }] of cells.entries()) {
      const isOwned = replica !== undefined && replicas.has(replica);
      this.findings.check('cells-shared', isOwned, () => `cell ${cell} has no owner at the end`);
    }
    for (const replica of live)
      this.findings.check('cells-shared', owned.has(replica) || !couldGive, () => `replica ${replica} owns no cell`);
  }

  /** A client got this task for the name of its send. */
  acknowledged(principal: string, message: string, task: string): void {
    const name = `${principal} ${message}`;
    const { ids, tasks, realms } = this.server.tables;
    const realm = tasks.get(ids.get(task) ?? 0)?.realm;
    const owner = [...realms.values()].find((row) => row.realm === realm);
    this.findings.check('one-hop', owner?.principal === principal, () => `task ${task} of ${principal} belongs to ${owner?.principal}`);
    const first = this.#acknowledged.get(name) ?? task;
    this.#acknowledged.set(name, first);
    this.findings.check('one-name-one-task', first === task, () => `${name} was acknowledged as ${first} and as ${task}`);
  }

  #start(slot: number): void {
    this.#processes += 1;
    const process = new SimulatedProcess(this, this.#processes, slot);
    this.#slots[slot] = process;
    process.start().catch((thrown: unknown) => {
      this.scheduler.note(`${process.name} can't start: ${String(thrown)}`);
      if (process.isAlive) this.scheduler.later(process, 0, 'exits', () => this.end(process, 'exit'));
    });
  }

  /** Nodes and clients that only repeat themselves never come to an end. */
  #isEndless(): boolean {
    const isEndless = this.scheduler.steps >= STEPS_MAX;
    if (isEndless) this.findings.check('nobody-forgotten', false, () => this.#unfinished());
    return isEndless;
  }

  #unfinished(): string {
    const waiting = this.#clients.flatMap((client, n) => (client.isDone ? [] : [`client ${n}`]));
    return `after ${STEPS_MAX} steps, ${this.scheduler.now.toFixed(0)} ms, these are not done: ${waiting.join(', ') || 'tasks'}`;
  }

  /** Every task has ended or asks. */
  #isSettled(): boolean {
    if (this.scheduler.steps % 64 > 0) return false;
    for (const { state } of this.server.tables.tasks.values()) if (state < 3) return false;
    return true;
  }

  #finish(): void {
    this.checker.finish();
    this.#checkCells();
    const { pushes, tasks, outbox } = this.server.tables;
    const queued = [...outbox.values()];
    for (const { task, after } of pushes.values()) {
      const row = tasks.get(task);
      if (row === undefined) continue;
      const got = this.receiver.received.get(row.id);
      for (let seq = after + 1; seq <= row.last; seq += 1) {
        const isKept = got?.has(seq) === true || queued.some((queue) => queue.task === task && queue.done < seq);
        this.findings.check('webhook-place', isKept, () => `event ${seq} of task ${row.id} was never delivered`);
      }
    }
  }
}

/** Runs one seed. */
export function simulate(seed: number, defect?: Defect, onStep?: (line: string) => void): Promise<SeedResult> {
  const world = new SimulatedWorld(seed, defect);
  world.scheduler.onStep = onStep;
  return world.run(seed);
}
