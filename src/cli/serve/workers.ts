import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Log, Settings } from '#server';
import { CliError } from '../command.ts';
import type { ServeFlags } from './flags.ts';
import { untilSignal } from './signals.ts';
import { closeUntaken } from './untaken.ts';
import type { FromWorker, ToWorker, WorkerMetrics } from './worker-messages.ts';
import { SLOT_VARIABLE } from './worker-messages.ts';

/** How many workers the settings ask for. Throws if they can't share what they need. */
export function workersFor({ workers, store, memory, socket }: Settings, { stdio }: Pick<ServeFlags, 'stdio'>): number {
  const refuse = (message: string, hint: string): CliError => new CliError(message, { hint, exit: 2 });
  if (stdio) throw refuse('--workers and --stdio exclude each other: standard input has one reader', 'remove one of them');
  if (socket !== undefined)
    throw refuse('--workers shares a port, and not a Unix socket', 'remove --socket, and choose a port with --port');
  if (store === undefined || memory)
    throw refuse(
      '--workers needs a Postgres database: each worker is a process, and several processes can’t share a SQLite file or memory',
      'type: parley serve --workers 4 --store postgres://USER@HOST/NAME',
    );
  return workers === 'auto' || workers === undefined ? availableParallelism() : workers;
}

/** Runs workers until a signal arrives. Returns the exit code. */
export async function runWorkers(count: number, { port, host }: Settings, { json, log }: { json: boolean; log: Log }): Promise<number> {
  const stopped = untilSignal();
  cluster.setupPrimary({ serialization: 'advanced' });
  const pool = new WorkerPool({ count, port: port === 0 ? await freePort(host) : port, log });
  process.on('SIGHUP', () => pool.signal('SIGHUP'));
  void stopped.then((signal) => pool.stop(signal));
  const text = await pool.start();
  if (text !== undefined) {
    process.stdout.write(json ? withCount(text, count) : `${text}${count} workers share the port.\n`);
    await stopped;
    process.stdout.write(json ? '{"event":"stopping"}\n' : '\nStopping …\n');
  }
  const code = await pool.ended;
  if (text !== undefined || code === 0) process.stdout.write(json ? '{"event":"stopped"}\n' : 'Stopped.\n');
  return code;
}

function withCount(line: string, workers: number): string {
  return `${JSON.stringify({ ...(JSON.parse(line) as object), workers })}\n`;
}

/** All workers must name the same port, so it is chosen before the first one starts. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(0, host, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error(`${host} has no port`);
  return address.port;
}

/** A worker that served for this long has not failed because of its start. */
const STEADY_MS = 60_000;
const METRICS_MS_MAX = 1000;

/** How long to wait before a worker is started again that has ended `failures` times without serving for long. */
export function restartDelayMs(failures: number): number {
  return failures === 0 ? 100 : Math.min(30_000, 500 * 2 ** (failures - 1));
}

interface PoolOptions {
  readonly count: number;
  readonly port: number;
  readonly log: Log;
}

interface Slot {
  readonly slot: number;
  worker: Worker | undefined;
  /** When it began to serve, by the monotonic clock. */
  readyAt: number | undefined;
  failures: number;
  restart: NodeJS.Timeout | undefined;
}

interface Round {
  readonly answers: Map<number, WorkerMetrics>;
  readonly done: () => void;
}

/** The workers of this process. The first one starts alone: what is wrong with the settings is reported once. */
class WorkerPool {
  readonly #options: PoolOptions;
  readonly #slots: readonly Slot[];
  readonly #ended = Promise.withResolvers<number>();
  readonly #rounds = new Map<number, Round>();
  readonly #started = new Map<number, PromiseWithResolvers<string | undefined>>();
  #lastRound = 0;
  /** All workers have served. */
  #isUp = false;
  /** The signal that stops the workers. */
  #stopping: NodeJS.Signals | undefined;
  #code = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, at) => ({
      ...{ slot: at + 1, failures: 0 },
      ...{ worker: undefined, readyAt: undefined, restart: undefined },
    }));
  }

  /** Resolves when all workers serve, with what the first one says about the node. Undefined: one could not start. */
  async start(): Promise<string | undefined> {
    const [first, ...others] = this.#slots;
    if (first === undefined) return undefined;
    const text = await this.#begin(first);
    if (text === undefined || this.#stopping !== undefined) return undefined;
    const texts = await Promise.all(others.map((slot) => this.#begin(slot)));
    this.#isUp = !texts.includes(undefined);
    return this.#isUp ? text : undefined;
  }

  /** The exit code, when no worker is left. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  signal(signal: NodeJS.Signals): void {
    for (const { worker } of this.#slots) worker?.process.kill(signal);
  }

  stop(signal: NodeJS.Signals): void {
    this.#stopping = signal;
    for (const { restart } of this.#slots) clearTimeout(restart);
    this.signal(signal);
    this.#endIfEmpty();
  }

  #begin(slot: Slot): Promise<string | undefined> {
    const started = Promise.withResolvers<string | undefined>();
    this.#started.set(slot.slot, started);
    this.#fork(slot);
    return started.promise;
  }

  #fork(slot: Slot): void {
    const worker = cluster.fork({ [SLOT_VARIABLE]: `${slot.slot}:${this.#options.port}` });
    Object.assign(slot, { worker, readyAt: undefined });
    closeUntaken(worker.process);
    worker.on('message', (message: FromWorker) => this.#take(slot, message));
    worker.on('error', (cause) => this.#options.log.error('a worker does not take messages', cause, { worker: slot.slot }));
    worker.once('exit', (code, signal) => this.#exited(slot, code, signal));
  }

  #take(slot: Slot, message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        slot.readyAt ??= performance.now();
        this.#started.get(slot.slot)?.resolve(message.text);
        return;
      case 'gather':
        void this.#gather().then((workers) => send(slot, { kind: 'gathered', request: message.request, workers }));
        return;
      case 'metrics': {
        const round = this.#rounds.get(message.round);
        round?.answers.set(slot.slot, { slot: slot.slot, families: message.families });
        if (round?.answers.size === this.#slots.length) round.done();
      }
    }
  }

  async #gather(): Promise<readonly WorkerMetrics[]> {
    this.#lastRound += 1;
    const round = this.#lastRound;
    const answers = new Map<number, WorkerMetrics>();
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, METRICS_MS_MAX);
      const done = (): void => {
        clearTimeout(late);
        resolve();
      };
      this.#rounds.set(round, { answers, done });
      for (const slot of this.#slots) {
        if (slot.readyAt === undefined) answers.set(slot.slot, { slot: slot.slot, families: undefined });
        else send(slot, { kind: 'report', round });
      }
    });
    this.#rounds.delete(round);
    return this.#slots.map(({ slot }) => answers.get(slot) ?? { slot, families: undefined });
  }

  #exited(slot: Slot, code: number | null, signal: string | null): void {
    const { readyAt } = slot;
    Object.assign(slot, { worker: undefined, readyAt: undefined });
    const started = this.#started.get(slot.slot);
    started?.resolve(undefined);
    if (this.#stopping !== undefined) {
      // A worker that does not serve yet has nothing to finish: the signal ends it at once.
      const isStoppedEarly = readyAt === undefined && signal === this.#stopping;
      if (code !== 0 && !isStoppedEarly) this.#code ||= 1;
      this.#endIfEmpty();
      return;
    }
    if (readyAt === undefined && !this.#isUp) {
      this.#code = code || 1; // the worker has said why
      this.stop('SIGTERM');
      return;
    }
    if (readyAt !== undefined && performance.now() - readyAt > STEADY_MS) slot.failures = 0;
    const restartMs = restartDelayMs(slot.failures);
    slot.failures += 1;
    const how = signal === null ? { code } : { signal };
    this.#options.log.error('a worker has ended; it is started again', undefined, { worker: slot.slot, ...how, restartMs });
    slot.restart = setTimeout(() => this.#fork(slot), restartMs);
  }

  #endIfEmpty(): void {
    if (this.#slots.every(({ worker }) => worker === undefined)) this.#ended.resolve(this.#code);
  }
}

function send({ worker }: Slot, message: ToWorker): void {
  if (worker?.isConnected() === true) worker.send(message);
}
