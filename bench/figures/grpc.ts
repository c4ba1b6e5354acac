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

/** What is called, in turns: a server, and how. */
const CALLS = {
  direct: ['parley', GRPC],
  json: ['parley', JSON_RPC],
  shared: ['shared', JSON_RPC],
  alone: ['alone', JSON_RPC],
  connect: ['parley', CONNECT],
  sdk: ['sdk', GRPC],
  bare: ['bare', GRPC],
  bareConnect: ['bare', CONNECT],
  http2: ['http2', GRPC],
  http1: ['http1', JSON_RPC],
} as const;
type Side = keyof typeof CALLS;
const SIDES = Object.keys(CALLS) as readonly Side[];

/**
 * Measures gRPC: our direct road and our Connect road beside JSON-RPC, the SDK's gRPC server, Connect alone, and `node:http2` and
 * `node:http` alone. Stores are in memory.
 */
export async function benchGrpc({ rounds, warmUp, ms, sdkStreams }: Sizes): Promise<readonly Figure[]> {
  const servers = {
    parley: await startParley('script', ['--memory']),
    // These two get calls of JSON-RPC only, so that they differ in the port alone.
    shared: await startParley('script', ['--memory']),
    alone: await startParley('script', ['--memory', '--no-grpc']),
    sdk: await startBeside('sdk-grpc'),
    bare: await startBeside('connect'),
    http2: await startBeside('http2'),
    http1: await startBeside('bare'),
  };
  const micros = Object.fromEntries(SIDES.map((side) => [side, []])) as unknown as Record<Side, number[]>;
  const rates = await inTurns(SIDES, { rounds, warmUp }, async (side) => {
    const [name, type] = CALLS[side];
    const { pid, url } = servers[name];
    const [before, began] = [cpuMicros(pid), performance.now()];
    const rate =
      type === JSON_RPC
        ? await requestsPerSecond({ url: `${url}/a2a`, ...sendIn('v10'), connections: STREAMS, ms })
        : await grpcCallsPerSecond({ url, type, streams: STREAMS, ms });
    micros[side].push((cpuMicros(pid) - before) / (rate * ((performance.now() - began) / 1000)));
    return rate;
  });
  const streams = await inTurns(['direct', 'connect', 'long'], { rounds }, (side) =>
    grpcChunksPerSecond(servers.parley.url, side === 'connect' ? CONNECT : GRPC, side === 'long' ? 4 * CHUNKS : CHUNKS),
  );
  const [sdkChunks = 1000] = sdkStreams;
  const sdkRate = await grpcChunksPerSecond(servers.sdk.url, GRPC, sdkChunks);
  for (const server of Object.values(servers)) await server.stop();
  const rate = (side: keyof typeof rates): string => `${count(percentile(rates[side], 0.5))}/s`;
  const events = (side: keyof typeof streams): string => `${count(percentile(streams[side], 0.5))} events/s`;
  return [
    {
      what: `send over gRPC, ${STREAMS} streams on one connection`,
      value: rate('direct'),
      beside: `JSON-RPC, ${STREAMS} connections ${rate('json')}: ${quartiles(ratios(rates, 'direct', 'json'))} of it`,
      goal: '≥ 0.75',
    },
    { what: '', value: '', beside: `SDK over gRPC ${rate('sdk')}: ${quartiles(ratios(rates, 'direct', 'sdk'))} ×`, goal: '≥ 2.2 ×' },
    { what: '', value: '', beside: `Connect alone, gRPC ${rate('bare')}: ${quartiles(ratios(rates, 'direct', 'bare'))} ×`, goal: '≥ 2 ×' },
    { what: '', value: '', beside: `node:http2 alone ${rate('http2')}: ${quartiles(ratios(rates, 'direct', 'http2'))} of it`, goal: '' },
    ...processorTime(micros, rounds),
    {
      what: 'send over Connect',
      value: rate('connect'),
      beside: `Connect alone ${rate('bareConnect')}: ${quartiles(ratios(rates, 'connect', 'bareConnect'))} of it`,
      goal: '≥ 0.65',
    },
    {
      what: `one stream of ${count(CHUNKS)} chunks over gRPC`,
      value: events('direct'),
      beside: `SDK, ${count(sdkChunks)} chunks ${count(sdkRate)} events/s`,
      goal: '≥ 100,000 events/s',
    },
    {
      what: `one of ${count(4 * CHUNKS)} chunks`,
      value: events('long'),
      beside: `${quartiles(ratios(streams, 'long', 'direct'))} of the rate of ${count(CHUNKS)}`,
      goal: '≥ 0.8',
    },
    { what: `one of ${count(CHUNKS)} chunks over Connect`, value: events('connect'), beside: '', goal: '≥ 50,000 events/s' },
    {
      what: `JSON-RPC on the same port, ${STREAMS} kept-alive connections`,
      value: rate('shared'),
      beside: `with --no-grpc ${rate('alone')}: ${quartiles(ratios(rates, 'shared', 'alone'))} of it`,
      goal: '≥ 0.95',
    },
  ];
}

/** Processor time of the servers for one call, in the last rounds: those before were a warm-up. */
function processorTime(all: Rounds<Side>, rounds: number): readonly Figure[] {
  const micros = Object.fromEntries(SIDES.map((side) => [side, all[side].slice(-rounds)])) as unknown as Rounds<Side>;
  const spent = (side: Side): string => `${quartiles(micros[side], 0)} µs`;
  const times = (side: Side): string => `${quartiles(ratios(micros, side, 'direct'))} × that of gRPC`;
  return [
    { what: 'processor time of the same', value: spent('direct'), beside: `JSON-RPC ${spent('json')}: ${times('json')}`, goal: '' },
    { what: '', value: '', beside: `SDK over gRPC ${spent('sdk')}: ${times('sdk')}`, goal: '' },
    { what: '', value: '', beside: `Connect alone, gRPC ${spent('bare')}: ${times('bare')}`, goal: '' },
    { what: '', value: '', beside: `node:http2 alone ${spent('http2')}, node:http alone ${spent('http1')}`, goal: '' },
  ];
}
