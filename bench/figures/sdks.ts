import { fileURLToPath } from 'node:url';
import { goProgram, pythonWith } from '../../test/peers/install.ts';
import { servePeer } from '../../test/peers/serve-peer.ts';
import type { Server } from '../children.ts';
import { newFolder, startBeside, startParley } from '../children.ts';
import { within } from '../deadline.ts';
import { requestsPerSecond } from '../load.ts';
import { cpuMicros, inTurns, percentile } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';
import { sendIn } from './sends.ts';
import { streamOnce } from './streams.ts';

const CONNECTIONS = 32;
const CHUNKS = 1000;
const WARM_UP_MS = 12_000;
const STREAM_MS_MAX = 60_000;
const NEEDED = 'needs Go 1.24 and Python 3 with venv, and their package registries at the first run';

interface SdkServer {
  readonly title: string;
  readonly url: string;
  readonly streamUrl: string;
  readonly pid: number;
  /** What makes its agent answer in CHUNKS pieces. */
  readonly chunks: string;
  stop(): Promise<void>;
}

/** Measures the same send and the same stream on the SDKs of three languages, as their documentation serves them: tasks in memory, over JSON-RPC. */
export async function benchSdks({ rounds, leadInMs, ms }: Sizes): Promise<readonly Figure[]> {
  const peers = await startPeers();
  if (peers === undefined) return [{ what: 'SDKs of Go and Python', value: 'not measured', beside: NEEDED, goal: '' }];
  const servers = [...(await startOurs()), ...peers];
  const byTitle = new Map(servers.map((server) => [server.title, server]));
  const micros = new Map(servers.map(({ title }) => [title, [] as number[]]));
  for (const { url } of servers) await requestsPerSecond({ url, ...sendIn('v10'), connections: CONNECTIONS, ms: WARM_UP_MS });
  const rates = await inTurns(
    servers.map(({ title }) => title),
    { rounds },
    async (title) => {
      const { url = '', pid = 0 } = byTitle.get(title) ?? {};
      const load = { url, ...sendIn('v10'), connections: CONNECTIONS };
      await requestsPerSecond({ ...load, ms: leadInMs });
      const before = cpuMicros(pid);
      const rate = await requestsPerSecond({ ...load, ms });
      micros.get(title)?.push((cpuMicros(pid) - before) / ((rate * ms) / 1000));
      return rate;
    },
  );
  const figures: Figure[] = [];
  for (const { title, streamUrl, chunks, stop } of servers) {
    const sends = `${count(percentile(rates[title] ?? [], 0.5))} sends/s`;
    const cost = `${count(percentile(micros.get(title) ?? [], 0.5))} µs of processor time for a send`;
    figures.push({ what: title, value: `${sends}, ${cost}`, beside: await streamed(streamUrl, { chunks, rounds }), goal: '' });
    await stop();
  }
  return figures;
}

async function startOurs(): Promise<readonly SdkServer[]> {
  const [durable, memory, js] = [
    await startParley(['echo', 'script'], ['--data', newFolder()]),
    await startParley(['echo', 'script'], ['--memory']),
    await startBeside('sdk'),
  ];
  const chunks = `chunks=${CHUNKS}`;
  return [
    { ...durable, title: 'Parley, durable', ...oursAt(durable), chunks },
    { ...memory, title: 'Parley, in memory', ...oursAt(memory), chunks },
    { ...js, title: '`@a2a-js/sdk` on Express', url: `${js.url}/`, streamUrl: `${js.url}/`, chunks },
  ];
}

/** The echo agent answers sends, as theirs do, and the script agent streams. */
function oursAt({ url }: Server): Pick<SdkServer, 'url' | 'streamUrl'> {
  return { url: `${url}/a2a`, streamUrl: `${url}/agents/script/a2a` };
}

/** Undefined: one of them can't be installed here. */
async function startPeers(): Promise<readonly SdkServer[] | undefined> {
  const sources = ['shared', 'v2'].map((name) => fileURLToPath(new URL(`../../test/peers/go/${name}`, import.meta.url)));
  const go = goProgram('a2a-go-2.4.0', { module: 'github.com/a2aproject/a2a-go/v2@v2.4.0', sources });
  const python = pythonWith('a2a-sdk-grpc-1.3.0', ['a2a-sdk[http-server,grpc]==1.3.0', 'uvicorn']);
  if (go === undefined || python === undefined) return undefined;
  const script = fileURLToPath(new URL('../../test/peers/python/server_v10.py', import.meta.url));
  const served = [
    { title: '`a2a-go` 2.4 on `net/http`', peer: await servePeer((port) => [go, 'server', String(port)]) },
    { title: '`a2a-sdk` 1.3 for Python on uvicorn', peer: await servePeer((port) => [python, script, String(port)]) },
  ];
  return served.map(({ title, peer }) => ({
    ...peer,
    title,
    url: `${peer.url}/rpc`,
    streamUrl: `${peer.url}/rpc`,
    chunks: `chunks ${CHUNKS}`,
  }));
}

/** The median of some streams, one after the other. A first one has code that is not compiled yet. */
async function streamed(url: string, { chunks, rounds }: { readonly chunks: string; readonly rounds: number }): Promise<string> {
  const rates: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const run = within(STREAM_MS_MAX, `a stream of ${CHUNKS} chunks`, streamOnce(url, CHUNKS, chunks));
    const found = await run.catch(() => undefined);
    if (found === undefined) return `not done in ${STREAM_MS_MAX / 1000} s`;
    if (round > 0) rates.push(found.perSecond);
  }
  return `${count(percentile(rates, 0.5))} events/s in a stream of ${count(CHUNKS)}`;
}
