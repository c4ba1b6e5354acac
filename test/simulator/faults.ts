import type { CommitFault } from './database/connection.ts';
import type { SimulatedProcess } from './process.ts';
import { WORLD } from './scheduler.ts';
import { FAULTS, LEASE_MS } from './settings.ts';
import type { SimulatedWorld } from './world.ts';

const KINDS = [
  'crash',
  'crash of the owner',
  'stopped with SIGTERM',
  'pause within the lease',
  'pause beyond the lease',
  'owner paused beyond the lease',
  'cut off from the database',
  'owner cut off from the database',
  'commit refused',
  'commit lost before it arrived',
  'commit written, answer lost',
  'commit arrives late',
  'database restart',
] as const;
export type FaultKind = (typeof KINDS)[number];

/** The faults that are chosen at a time. The network adds its own to single messages. */
export class Faults {
  readonly #world: SimulatedWorld;
  /** Processes that finish their work. */
  readonly #stopping = new WeakSet<SimulatedProcess>();
  injected = 0;

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  get areOver(): boolean {
    return this.injected >= FAULTS;
  }

  schedule(): void {
    const { scheduler, random } = this.#world;
    if (this.areOver) return;
    scheduler.later(WORLD, random.chance(0.25) ? random.whole(1, 200) : random.whole(300, 2800), 'fault', () => {
      const kind = random.pick(KINDS);
      if (this.#inject(kind)) {
        this.injected += 1;
        this.#world.count(kind);
        scheduler.note(`fault: ${kind}`);
      }
      this.schedule();
    });
  }

  /** False if there is nobody to whom it can happen. */
  #inject(kind: FaultKind): boolean {
    const { random } = this.#world;
    const all = this.#world.processes();
    const awake = all.filter(({ isServing, pausedUntil }) => isServing && pausedUntil <= this.#world.scheduler.now);
    const owner = awake[random.whole(0, Math.max(0, awake.length - 1))];
    const any = all[random.whole(0, Math.max(0, all.length - 1))];
    if (kind === 'database restart') return this.#restartDatabase();
    const target = /^(crash|pause|cut off)/.test(kind) && kind !== 'crash of the owner' ? any : owner;
    return target !== undefined && this.#strike(kind, target);
  }

  #strike(kind: Exclude<FaultKind, 'database restart'>, target: SimulatedProcess): boolean {
    const { random, scheduler } = this.#world;
    const beyond = random.whole(LEASE_MS, LEASE_MS * 3);
    switch (kind) {
      case 'crash':
      case 'crash of the owner':
        this.#world.end(target, 'crash');
        return true;
      case 'stopped with SIGTERM':
        return this.#stop(target);
      case 'pause within the lease':
        target.pause(scheduler.now + random.whole(50, LEASE_MS / 2));
        return true;
      case 'pause beyond the lease':
      case 'owner paused beyond the lease':
        target.pause(scheduler.now + beyond);
        return true;
      case 'cut off from the database':
      case 'owner cut off from the database':
        target.line.cutUntil = scheduler.now + random.whole(100, LEASE_MS * 2);
        return true;
      default:
        target.line.nextFault = COMMIT_FAULTS[kind];
        return true;
    }
  }

  #stop(target: SimulatedProcess): boolean {
    if (this.#stopping.has(target)) return false;
    this.#stopping.add(target);
    const end = (): void => {
      if (target.isAlive) this.#world.end(target, 'crash');
    };
    target.leave().then(end, end);
    return true;
  }

  #restartDatabase(): boolean {
    const { server, wires } = this.#world;
    server.restart();
    for (const connection of wires.open) connection.breaks();
    return true;
  }
}

const COMMIT_FAULTS = {
  'commit refused': 'refused',
  'commit lost before it arrived': 'lost before',
  'commit written, answer lost': 'answer lost',
  'commit arrives late': 'late',
} as const satisfies Readonly<Record<string, CommitFault>>;
