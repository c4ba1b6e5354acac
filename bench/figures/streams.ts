import type { CardProbe } from '../card-probe-process.ts';
import { startCardProbe } from '../card-probe-process.ts';
import { newFolder, startBeside, startParley } from '../children.ts';
import { within } from '../deadline.ts';
import { nextId } from '../load.ts';
import { percentile, quartiles } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

interface Streamed {
  readonly perSecond: number;
  /** Time of the last quarter divided by the time of the first. */
  readonly drift: number;
}

const STREAM_MS_MAX = 120_000;
const SDK_MS_MAX = 60_000;
const DATA_LINE = Buffer.from('data: ');
const LAST_QUARTER = 4;

/** Reads one stream of N chunks with `fetch`, and takes the time at the end of each quarter. */
export async function streamOnce(url: string, chunks: number, text = `chunks=${chunks} size=32`): Promise<Streamed> {
  const params = { message: { messageId: nextId(), role: 'ROLE_USER', parts: [{ text }] } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params });
  const began = performance.now();
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' }, body });
  const marks: number[] = [];
  let seen = 0;
  let end: Uint8Array = new Uint8Array(0);
  for await (const piece of response.body ?? []) {
    const bytes = Buffer.concat([end, piece]);
    seen += countOf(bytes, DATA_LINE);
    end = bytes.subarray(1 - DATA_LINE.length); // a piece may end inside of it
    while (marks.length < LAST_QUARTER && seen >= (chunks * (marks.length + 1)) / LAST_QUARTER) marks.push(performance.now());
  }
  const [first = 0, , third = 0, fourth = 0] = marks;
  if (seen < chunks) throw new Error(`only ${seen} of ${chunks} events`);
  return { perSecond: seen / ((fourth - began) / 1000), drift: (fourth - third) / (first - began) };
}

function countOf(bytes: Buffer, what: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(what); at !== -1; at = bytes.indexOf(what, at + what.length)) found += 1;
  return found;
}

interface Observed {
  readonly runs: readonly Streamed[];
  /** How long each card request took meanwhile, in milliseconds. */
  readonly waits: readonly number[];
}

export async function benchStreams(sizes: Sizes): Promise<readonly Figure[]> {
  const ours = await startParley('script', ['--data', newFolder()]);
  const bare = await startBeside('bare');
  const once = (url: string, chunks: number): Promise<Streamed> =>
    within(STREAM_MS_MAX, `a stream of ${chunks} chunks`, streamOnce(url, chunks));
  for (let warmUp = 0; warmUp < 3; warmUp += 1) await once(`${ours.url}/a2a`, 16_000);
  const observe = async (probe: CardProbe, url: string, chunks: number): Promise<Observed> => {
    const runs: Streamed[] = [];
    // As many events of each length: the p99 of the few requests that fit into short streams would be their maximum.
    const rounds = Math.ceil((sizes.rounds * Math.max(...sizes.streams)) / chunks);
    for (let round = 0; round < rounds; round += 1) runs.push(await once(url, chunks));
    return { runs, waits: await probe.stop() };
  };
  const figures: Figure[] = [];
  for (const chunks of sizes.streams) {
    const beside = await observe(await startCardProbe(bare.url), bare.url, chunks);
    figures.push(...streamFigures(chunks, await observe(await startCardProbe(ours.url), `${ours.url}/a2a`, chunks), beside));
  }
  await Promise.all([ours.stop(), bare.stop()]);
  return [...figures, await besideOf(sizes.sdkStreams)];
}

function streamFigures(chunks: number, { runs, waits }: Observed, bare: Observed): readonly Figure[] {
  const rates = runs.map((run) => run.perSecond);
  const drifts = runs.map((run) => run.drift);
  const waited = (all: readonly number[]): string => [0.5, 0.99].map((share) => percentile(all, share).toFixed(1)).join(' and ');
  return [
    {
      what: `one stream of ${count(chunks)} chunks, durable`,
      value: `${quartiles(rates, 0)} events/s`,
      beside: `bare node:http ${quartiles(
        bare.runs.map((run) => run.perSecond),
        0,
      )} events/s`,
      goal: '≥ 100,000/s',
    },
    { what: '', value: `last quarter ${quartiles(drifts)} × the first`, beside: '', goal: '≤ 1.2' },
    {
      what: '',
      value: `card GET during it, p50 and p99: ${waited(waits)} ms`,
      beside: `bare node:http: ${waited(bare.waits)} ms`,
      goal: 'p99 ≤ 10 ms',
    },
  ];
}

async function besideOf(lengths: readonly number[]): Promise<Figure> {
  const sdk = await startBeside('sdk');
  const beside: string[] = [];
  for (const chunks of lengths) {
    // The SDK rewrites the task for each chunk. On a busy machine a stream of 4,000 chunks can take minutes; the table then says so.
    const streamed = await within(SDK_MS_MAX, 'the SDK’s stream', streamOnce(`${sdk.url}/`, chunks)).catch(() => undefined);
    const rate = streamed === undefined ? `not done in ${SDK_MS_MAX / 1000} s` : `${count(streamed.perSecond)}/s`;
    beside.push(`${count(chunks)} chunks: ${rate}`);
    if (streamed === undefined) break;
  }
  sdk.kill();
  return { what: 'one stream, the SDK, in memory', value: beside.join(', '), beside: '', goal: '' };
}
