import { startBeside, startParley } from '../children.ts';
import { grpcCallsPerSecond, grpcChunksPerSecond } from '../grpc-load.ts';
import { requestsPerSecond } from '../load.ts';
import { inTurns, percentile, quartiles, ratios } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';
import { sendIn } from './sends.ts';

const STREAMS = 16;
const GRPC = 'application/grpc';
const CONNECT = 'application/proto';
const CHUNKS = 16_000;

/** Measures gRPC: our direct road and our Connect road beside JSON-RPC, the SDK's gRPC server and Connect alone. Stores are in memory. */
export async function benchGrpc({ rounds, ms, sdkStreams }: Sizes): Promise<readonly Figure[]> {
  const servers = {
    parley: await startParley('script', ['--memory']),
    alone: await startParley('script', ['--memory', '--no-grpc']),
    sdk: await startBeside('sdk-grpc'),
    bare: await startBeside('connect'),
  };
  const call = (side: keyof typeof servers, type: string): Promise<number> =>
    grpcCallsPerSecond({ url: servers[side].url, type, streams: STREAMS, ms });
  const json = (side: keyof typeof servers): Promise<number> =>
    requestsPerSecond({ url: `${servers[side].url}/a2a`, ...sendIn('v10'), connections: STREAMS, ms });
  const rates = await inTurns(['direct', 'json', 'alone', 'connect', 'sdk', 'bare', 'bareConnect'], rounds, (side) => {
    if (side === 'direct') return call('parley', GRPC);
    if (side === 'connect') return call('parley', CONNECT);
    if (side === 'json') return json('parley');
    if (side === 'alone') return json('alone');
    return side === 'sdk' ? call('sdk', GRPC) : call('bare', side === 'bare' ? GRPC : CONNECT);
  });
  const streams = await inTurns(['direct', 'connect', 'long'], rounds, (side) =>
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
      value: rate('json'),
      beside: `with --no-grpc ${rate('alone')}: ${quartiles(ratios(rates, 'json', 'alone'))} of it`,
      goal: '≥ 0.95',
    },
  ];
}
