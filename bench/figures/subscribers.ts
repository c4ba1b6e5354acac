import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Server } from '../children.ts';
import { startBeside, startParley } from '../children.ts';
import { within } from '../deadline.ts';
import { nextId } from '../load.ts';
import { percentile, quartiles } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

/** The result of one round of one side. */
interface Told {
  readonly residentMb: number;
  readonly p99Ms: number;
}

interface Side {
  readonly start: () => Promise<Server>;
  /** Creates the task, and returns the path that subscribes to it and the path that sends one event to all subscribers. */
  readonly open: (server: Server) => Promise<{ readonly get: string; readonly tell: string }>;
}

const AT_ONCE = 100;
const SETTLE_MS = 1500;
const OPEN_MS_MAX = 60_000;
const OPENED = Buffer.from('id: ');
const TOLD = Buffer.from('TASK_STATE_CANCELED');

const parley: Side = {
  start: () => startParley('script', ['--memory']),
  open: async ({ url }) => {
    const message = { messageId: nextId(), role: 'ROLE_USER', parts: [{ text: 'sleep=600000' }] };
    const body = JSON.stringify({ message, configuration: { returnImmediately: true } });
    const response = await fetch(`${url}/message:send`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    const { task } = (await response.json()) as { readonly task: { readonly id: string } };
    return { get: `/tasks/${task.id}:subscribe`, tell: `/tasks/${task.id}:cancel` };
  },
};
const bare: Side = { start: () => startBeside('bare'), open: async () => ({ get: '/events', tell: '/tell' }) };

/** Opens many streams of one idle task, then sends one event to all of them. */
export async function benchSubscribers({ subscribers, subscriberRounds }: Sizes): Promise<readonly Figure[]> {
  const [ours, beside]: [Told[], Told[]] = [[], []];
  for (let round = 0; round < subscriberRounds; round += 1) {
    ours.push(await tellAll(parley, subscribers));
    beside.push(await tellAll(bare, subscribers));
  }
  const mb = (told: readonly Told[]): string =>
    `${quartiles(
      told.map(({ residentMb }) => residentMb),
      0,
    )} MB`;
  const ms = (told: readonly Told[]): string =>
    `${quartiles(
      told.map(({ p99Ms }) => p99Ms),
      0,
    )} ms`;
  return [
    {
      what: `${count(subscribers)} idle subscribers, resident memory`,
      value: mb(ours),
      beside: `bare node:http SSE ${mb(beside)}: ${quartiles(ours.map(({ residentMb }, round) => residentMb / (beside[round]?.residentMb ?? Number.NaN)))} × that`,
      goal: '≤ 1.06 ×',
    },
    { what: 'one event to all of them, p99', value: ms(ours), beside: `bare node:http SSE ${ms(beside)}`, goal: '≤ 500 ms' },
  ];
}

async function tellAll(side: Side, subscribers: number): Promise<Told> {
  const server = await side.start();
  const { get, tell } = await side.open(server);
  const crowd = new Crowd(server.url, get);
  try {
    for (let done = 0; done < subscribers; done += AT_ONCE) {
      await within(OPEN_MS_MAX, `${AT_ONCE} of ${subscribers} subscriptions`, crowd.grow(Math.min(AT_ONCE, subscribers - done)));
    }
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const residentMb = server.residentBytes() / 1e6;
    const delays = crowd.listen();
    const toldAt = performance.now();
    const [, heard] = await Promise.all([
      fetch(`${server.url}${tell}`, { method: 'POST' }),
      within(OPEN_MS_MAX, `one event to ${subscribers} subscribers`, delays),
    ]);
    return { residentMb, p99Ms: percentile(heard, 0.99) - toldAt };
  } finally {
    crowd.leave();
    await server.stop();
  }
}

/** Readers on raw sockets that only look for the expected text. */
class Crowd {
  readonly #sockets: Socket[] = [];
  readonly #request: string;
  readonly #port: number;
  readonly #heardAt: number[] = [];
  #whenAll: (() => void) | undefined;

  constructor(url: string, path: string) {
    const { host, port } = new URL(url);
    this.#port = Number(port);
    this.#request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  }

  async grow(by: number): Promise<void> {
    await Promise.all(Array.from({ length: by }, () => this.#join()));
  }

  #join(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#port, host: '127.0.0.1' });
      this.#sockets.push(socket);
      socket.once('error', reject);
      socket.once('connect', () => socket.write(this.#request));
      socket.on('data', (bytes: Buffer) => {
        if (bytes.includes(TOLD)) this.#hear();
        else if (bytes.includes(OPENED)) resolve();
      });
    });
  }

  #hear(): void {
    this.#heardAt.push(performance.now());
    if (this.#heardAt.length === this.#sockets.length) this.#whenAll?.();
  }

  /** Resolves with the time at which each reader got the event. */
  listen(): Promise<readonly number[]> {
    return new Promise((resolve) => {
      this.#whenAll = () => resolve(this.#heardAt);
    });
  }

  leave(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
