import type { Server } from '../children.ts';
import { startBeside, startParley } from '../children.ts';
import { grpcCallsPerSecond, grpcChunksPerSecond } from '../grpc-load.ts';
import { requestsPerSecond } from '../load.ts';
import type { Rounds } from '../measure.ts';
import { cpuMicros, inTurns, percentile, quartiles, ratios } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';
import { sendIn } from './sends.ts';

const STREAMS = 16;
const GRPC = 'application/grpc';
const CONNECT = 'application/proto';
const JSON_RPC = 'application/json';
const CHUNKS = 16_000;
const WARM_UP_MS = 500;

/** What is called, in turns: a server, and how. Each side has a server of its own, so that all are equally warm and full. */
const CALLS = {
  direct: ['parley', GRPC],
  json: ['parley', JSON_RPC],
  alone: ['alone', JSON_RPC],
  connect: ['parley', CONNECT],
  sdk: ['sdk-grpc', GRPC],
  bare: ['connect', GRPC],
  bareConnect: ['connect', CONNECT],
  http2: ['http2', GRPC],
  http1: ['bare', JSON_RPC],
} as const;
type Side = keyof typeof CALLS;
const SIDES = Object.keys(CALLS) as readonly Side[];

type Servers = Readonly<Record<Side, Server>>;

/**
 * Rounds on the same servers, then all are started anew. Servers keep their tasks in memory, and V8 looks at all of them again after each
 * pause, on the main thread. With some 400,000 tasks that takes longer than a round, and a fast server has more of them than a slow one.
 */
const ROUNDS_OF_SERVERS = 3;

/** What the rounds of one side have measured. */
interface Measured {
  readonly rates: number[];
  readonly micros: number[];
}

/** The same for streams of chunks. */
interface Streamed {
  readonly direct: number[];
  readonly connect: number[];
  readonly long: number[];
}

/**
 * Measures gRPC: our direct road and our Connect road beside JSON-RPC, the SDK's gRPC server, Connect alone, and `node:http2` and
 * `node:http` alone. Stores are in memory.
 */
export async function benchGrpc(sizes: Sizes): Promise<readonly Figure[]> {
  const measured = Object.fromEntries(SIDES.map((side) => [side, { rates: [], micros: [] }])) as unknown as Record<Side, Measured>;
  const streams: Streamed = { direct: [], connect: [], long: [] };
  const [sdkChunks = 1000] = sizes.sdkStreams;
  let sdkRate = 0;
  for (let left = sizes.rounds; left > 0; left -= ROUNDS_OF_SERVERS) {
    const servers = await startAll();
    const rounds = Math.min(left, ROUNDS_OF_SERVERS);
    await measureSends(servers, { ...sizes, rounds }, measured);
    await measureStreams(servers, rounds, streams);
    sdkRate = await grpcChunksPerSecond(servers.sdk.url, GRPC, sdkChunks);
    for (const side of SIDES) await servers[side].stop();
  }
  return [...sendFigures(measured), ...streamFigures(streams, { sdkChunks, sdkRate }), onePortFigure(measured)];
}

async function startAll(): Promise<Servers> {
  const servers: Partial<Record<Side, Server>> = {};
  for (const side of SIDES) servers[side] = await startFor(side);
  return servers as Servers;
}

function startFor(side: Side): Promise<Server> {
  const [name] = CALLS[side];
  if (name === 'parley') return startParley('script', ['--memory']);
  return name === 'alone' ? startParley('script', ['--memory', '--no-grpc']) : startBeside(name);
}

async function measureSends(servers: Servers, sizes: Sizes, measured: Readonly<Record<Side, Measured>>): Promise<void> {
  const { rounds, warmUpSends, leadInMs, ms } = sizes;
  const load = (side: Side, took: number): Promise<number> => callsPerSecond(servers[side].url, CALLS[side][1], took);
  for (const side of SIDES) for (let left = warmUpSends; left > 0; ) left -= (await load(side, WARM_UP_MS)) * (WARM_UP_MS / 1000);
  const rates = await inTurns(SIDES, { rounds, warmUp: 0 }, async (side) => {
    const { pid } = servers[side];
    await load(side, leadInMs);
    const [before, began] = [cpuMicros(pid), performance.now()];
    const rate = await load(side, ms);
    measured[side].micros.push((cpuMicros(pid) - before) / (rate * ((performance.now() - began) / 1000)));
    return rate;
  });
  for (const side of SIDES) measured[side].rates.push(...rates[side]);
}

function callsPerSecond(url: string, type: string, ms: number): Promise<number> {
  if (type === JSON_RPC) return requestsPerSecond({ url: `${url}/a2a`, ...sendIn('v10'), connections: STREAMS, ms });
  return grpcCallsPerSecond({ url, type, streams: STREAMS, ms });
}

async function measureStreams(servers: Servers, rounds: number, measured: Streamed): Promise<void> {
  const sides = ['direct', 'connect', 'long'] as const;
  const rates = await inTurns(sides, { rounds }, (side) =>
    side === 'connect'
      ? grpcChunksPerSecond(servers.connect.url, CONNECT, CHUNKS)
      : grpcChunksPerSecond(servers.direct.url, GRPC, side === 'long' ? 4 * CHUNKS : CHUNKS),
  );
  for (const side of sides) measured[side].push(...rates[side]);
}

function sendFigures(measured: Readonly<Record<Side, Measured>>): readonly Figure[] {
  const rates = ratesOf(measured);
  const rate = (side: Side): string => `${count(percentile(rates[side], 0.5))}/s`;
  const of = (side: Side, beside: Side): string => quartiles(ratios(rates, side, beside));
  return [
    {
      what: `send over gRPC, ${STREAMS} streams on one connection`,
      value: rate('direct'),
      beside: `JSON-RPC, ${STREAMS} connections ${rate('json')}: ${of('direct', 'json')} of it`,
      goal: '≥ 0.75',
    },
    { what: '', value: '', beside: `SDK over gRPC ${rate('sdk')}: ${of('direct', 'sdk')} ×`, goal: '≥ 2.2 ×' },
    { what: '', value: '', beside: `Connect alone, gRPC ${rate('bare')}: ${of('direct', 'bare')} ×`, goal: '≥ 2 ×' },
    { what: '', value: '', beside: `node:http2 alone ${rate('http2')}: ${of('direct', 'http2')} of it`, goal: '' },
    ...processorTime(measured),
    {
      what: 'send over Connect',
      value: rate('connect'),
      beside: `Connect alone ${rate('bareConnect')}: ${of('connect', 'bareConnect')} of it`,
      goal: '≥ 0.65',
    },
  ];
}

interface SdkStream {
  readonly sdkChunks: number;
  readonly sdkRate: number;
}

function streamFigures(streams: Streamed, { sdkChunks, sdkRate }: SdkStream): readonly Figure[] {
  const events = (side: keyof Streamed): string => `${count(percentile(streams[side], 0.5))} events/s`;
  return [
    {
      what: `one stream of ${count(CHUNKS)} chunks over gRPC`,
      value: events('direct'),
      beside: `SDK, ${count(sdkChunks)} chunks ${count(sdkRate)} events/s`,
      goal: '≥ 100,000 events/s',
    },
    {
      what: `one of ${count(4 * CHUNKS)} chunks`,
      value: events('long'),
      beside: `${quartiles(ratios({ ...streams }, 'long', 'direct'))} of the rate of ${count(CHUNKS)}`,
      goal: '≥ 0.8',
    },
    { what: `one of ${count(CHUNKS)} chunks over Connect`, value: events('connect'), beside: '', goal: '≥ 50,000 events/s' },
  ];
}

function onePortFigure(measured: Readonly<Record<Side, Measured>>): Figure {
  const rates = ratesOf(measured);
  const rate = (side: Side): string => `${count(percentile(rates[side], 0.5))}/s`;
  return {
    what: `JSON-RPC on the same port, ${STREAMS} kept-alive connections`,
    value: rate('json'),
    beside: `with --no-grpc ${rate('alone')}: ${quartiles(ratios(rates, 'json', 'alone'))} of it`,
    goal: '≥ 0.95',
  };
}

function ratesOf(measured: Readonly<Record<Side, Measured>>): Rounds<Side> {
  return Object.fromEntries(SIDES.map((side) => [side, measured[side].rates])) as unknown as Rounds<Side>;
}

/** Processor time of the servers for one call. */
function processorTime(measured: Readonly<Record<Side, Measured>>): readonly Figure[] {
  const micros = Object.fromEntries(SIDES.map((side) => [side, measured[side].micros])) as unknown as Rounds<Side>;
  const spent = (side: Side): string => `${quartiles(micros[side], 0)} µs`;
  const times = (side: Side): string => `${quartiles(ratios(micros, side, 'direct'))} × that of gRPC`;
  return [
    { what: 'processor time of the same', value: spent('direct'), beside: `JSON-RPC ${spent('json')}: ${times('json')}`, goal: '' },
    { what: '', value: '', beside: `SDK over gRPC ${spent('sdk')}: ${times('sdk')}`, goal: '' },
    { what: '', value: '', beside: `Connect alone, gRPC ${spent('bare')}: ${times('bare')}`, goal: '' },
    { what: '', value: '', beside: `node:http2 alone ${spent('http2')}, node:http alone ${spent('http1')}`, goal: '' },
  ];
}
