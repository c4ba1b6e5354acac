import type { Client } from '@a2a-js/sdk/client';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { A2AClient } from '#client';
import { sdkRequest } from '../../test/support/sdk-request.ts';
import type { Server } from '../children.ts';
import { startParley } from '../children.ts';
import { quartiles } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';

/** Parley's client, the official SDK's client, and bare `fetch`, against one server in turns. */
type Side = 'ours' | 'sdk' | 'fetch';
const SIDES = ['fetch', 'ours', 'sdk'] as const satisfies readonly Side[];
const AT_ONCE = 16;
const CHUNKS = 20_000;
/** Rounds that do not count: a stream takes some 40 ms, and the compiler's work in that time is processor time too. */
const WARM_UPS = 4;

let sent = 0;
const nextId = (): string => `bench-${process.pid}-${++sent}`;

const HEADERS = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };

function bodyOf(method: string, text: string): string {
  const message = { messageId: nextId(), role: 'ROLE_USER', parts: [{ text }] };
  return JSON.stringify({ jsonrpc: '2.0', id: sent, method, params: { message } });
}

interface Clients {
  readonly url: string;
  readonly ours: A2AClient;
  readonly sdk: Client;
}

async function clientsOf({ url }: Server): Promise<Clients> {
  const base = url;
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory()], cardResolver: new DefaultAgentCardResolver() });
  return { url: `${base}/a2a`, ours: await A2AClient.connect(base), sdk: await factory.createFromUrl(`${base}/`) };
}

const TEXT = 'Add a health check endpoint to the service';

const SENDS: Readonly<Record<Side, (clients: Clients) => Promise<unknown>>> = {
  ours: ({ ours }) => ours.send(TEXT).result(),
  sdk: ({ sdk }) => sdk.sendMessage(sdkRequest(TEXT, { messageId: nextId() })),
  fetch: async ({ url }) => await (await fetch(url, { method: 'POST', headers: HEADERS, body: bodyOf('SendMessage', TEXT) })).json(),
};

/** A rate, and this process's processor time per unit, which other work on the machine hardly changes. */
interface Sample {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

async function sampled(work: () => Promise<number>): Promise<Sample> {
  const began = performance.now();
  const before = process.cpuUsage();
  const done = await work();
  const { user, system } = process.cpuUsage(before);
  return { perSecond: done / ((performance.now() - began) / 1000), cpuMicros: (user + system) / done };
}

async function repeatedly(send: () => Promise<unknown>, ms: number): Promise<number> {
  const end = performance.now() + ms;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      await send();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return done;
}

const STREAMS: Readonly<Record<Side, (clients: Clients, text: string) => Promise<number>>> = {
  ours: async ({ ours }, text) => {
    let seen = 0;
    for await (const _ of ours.stream(text)) seen += 1;
    return seen;
  },
  sdk: async ({ sdk }, text) => {
    let seen = 0;
    for await (const _ of sdk.sendMessageStream(sdkRequest(text, { messageId: nextId() }))) seen += 1;
    return seen;
  },
  fetch: async ({ url }, text) => {
    const response = await fetch(url, { method: 'POST', headers: HEADERS, body: bodyOf('SendStreamingMessage', text) });
    let seen = 0;
    for await (const piece of response.body ?? []) for (const byte of piece) if (byte === 0x0a) seen += 1;
    return seen / 3; // id, data, and the line that ends an event
  },
};

export async function benchClient({ rounds, ms }: Sizes): Promise<readonly Figure[]> {
  const servers = [await startParley('echo', ['--memory']), await startParley('script', ['--memory'])] as const;
  const [echo, script] = [await clientsOf(servers[0]), await clientsOf(servers[1])];
  const sends = await inTurns(rounds, (side) => sampled(() => repeatedly(() => SENDS[side](echo), ms)));
  const streams = await inTurns(rounds, (side) =>
    sampled(async () => {
      const seen = await STREAMS[side](script, `chunks=${CHUNKS} size=32`);
      if (seen < CHUNKS) throw new Error(`${side} saw only ${seen} of ${CHUNKS} events`);
      return seen;
    }),
  );
  for (const server of servers) await server.stop();
  return [
    ...figuresOf(`client: sends, ${AT_ONCE} at once`, sends, [
      ['fetch', 'bare fetch', '≥ 0.9'],
      ['sdk', 'the SDK’s client', '≥ 1.1'],
    ]),
    ...figuresOf(`client: one stream of ${CHUNKS} events`, streams, [
      ['sdk', 'the SDK’s client', '≥ 2'],
      ['fetch', 'bare fetch, unread', ''],
    ]),
  ];
}

type Samples = Readonly<Record<Side, readonly Sample[]>>;

function figuresOf(what: string, all: Samples, besides: readonly (readonly [Side, string, string])[]): readonly Figure[] {
  const rate = (side: Side): string =>
    `${medianRate(all[side])}/s, ${quartiles(
      all[side].map(({ cpuMicros }) => cpuMicros),
      1,
    )} µs of processor time`;
  const ratio = (beside: Side, of: (sample: Sample) => number): string =>
    quartiles(all.ours.map((sample, at) => of(sample) / of(all[beside][at] as Sample)));
  return besides.map(([beside, name, goal], at) => ({
    what: at === 0 ? what : '',
    value: at === 0 ? rate('ours') : '',
    beside: `${name} ${rate(beside)}: ${ratio(beside, ({ perSecond }) => perSecond)} × its rate, ${ratio(beside, ({ cpuMicros }) => 1 / cpuMicros)} × by processor time`,
    goal,
  }));
}

function medianRate(samples: readonly Sample[]): string {
  return quartiles(
    samples.map(({ perSecond }) => perSecond),
    0,
  );
}

async function inTurns(rounds: number, measure: (side: Side) => Promise<Sample>): Promise<Samples> {
  const samples: Record<Side, Sample[]> = { ours: [], sdk: [], fetch: [] };
  for (let round = -WARM_UPS; round < rounds; round += 1) {
    for (const side of SIDES) {
      const sample = await measure(side);
      if (round >= 0) samples[side].push(sample);
    }
  }
  return samples;
}
