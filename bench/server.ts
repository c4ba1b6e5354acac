import { createRegistry, DIALECTS, messageId } from '#protocol';
import type { Server } from './children.ts';
import { newFolder, startBeside, startParley } from './children.ts';
import { requestsPerSecond } from './load.ts';
import { quartiles } from './measure.ts';

/** One figure: what was measured, beside what, and the goal it is held against. */
export interface Figure {
  readonly what: string;
  readonly value: string;
  readonly beside: string;
  readonly goal: string;
}

const CONNECTIONS = 32;
let sent = 0;
const nextId = (): string => `bench-${process.pid}-${++sent}`;
const v10Send = (): string => sendOf('v10');

/** A small message in a dialect's own words. */
export function sendOf(id: string): string {
  const dialect = createRegistry(DIALECTS).byId(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  const text = 'Add a health check endpoint to the service';
  const params = dialect.encode('send.request', { message: { messageId: messageId(nextId()), role: 'ROLE_USER', parts: [{ text }] } });
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: dialect.methods.send, params });
}

/** Blocking sends, each server in turn, so that what else the machine does falls on all. */
export async function benchSends(rounds: number, ms: number): Promise<readonly Figure[]> {
  const servers: Readonly<Record<string, Server>> = {
    durable: await startParley(['echo'], ['--data', newFolder()]),
    memory: await startParley(['echo'], '--memory'),
    sdk: await startBeside('sdk'),
    bare: await startBeside('bare'),
  };
  const paths: Readonly<Record<string, string>> = { durable: '/a2a', memory: '/a2a', sdk: '/', bare: '/' };
  const rates = await inTurns(servers, rounds, (name, server) =>
    requestsPerSecond(`${server.url}${paths[name]}`, v10Send, { connections: CONNECTIONS, ms }),
  );
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  const ratio = (name: string, beside: string): string => quartiles(ratiosOf(rates, name, beside));
  const rate = (name: string): string => `${Math.round(medianOf(rates, name)).toLocaleString('en')}/s`;
  return [
    {
      what: 'blocking send, durable, 32 connections',
      value: rate('durable'),
      beside: `SDK in memory on Express ${rate('sdk')}: ${ratio('durable', 'sdk')} ×`,
      goal: '≥ 5 ×',
    },
    { what: '', value: '', beside: `bare node:http ${rate('bare')}: ${ratio('durable', 'bare')} of it`, goal: '≥ 0.5' },
    {
      what: 'blocking send, store in memory',
      value: rate('memory'),
      beside: `bare node:http: ${ratio('memory', 'bare')} of it`,
      goal: '≥ 0.7',
    },
  ];
}

/** Each dialect's own send beside 1.0's, on one durable server. */
export async function benchDialects(rounds: number, ms: number): Promise<readonly Figure[]> {
  const server = await startParley(['echo'], ['--data', newFolder()]);
  const paths = { v10: '/a2a', v03: '/a2a/jsonrpc', v01: '/a2a', society: '/', promptkit: '/a2a', cortex: '/api/a2a' } as const;
  const named = Object.fromEntries(Object.keys(paths).map((name) => [name, server]));
  const rates = await inTurns(named, rounds, (name) =>
    requestsPerSecond(`${server.url}${paths[name as keyof typeof paths]}`, () => sendOf(name), { connections: CONNECTIONS, ms }),
  );
  await server.stop();
  return Object.keys(paths)
    .filter((name) => name !== 'v10')
    .map((name) => ({
      what: `send in \`${name}\``,
      value: quartiles(ratiosOf(rates, name, 'v10')),
      beside: 'send in `v10`',
      goal: '≥ 0.9',
    }));
}

interface Streamed {
  readonly chunks: number;
  readonly perSecond: number;
  /** Time of the last quarter over that of the first. */
  readonly drift: number;
}

/** One stream read by `fetch`, timed where its quarters end. */
async function streamOnce(url: string, chunks: number): Promise<Streamed> {
  const params = { message: { messageId: nextId(), role: 'ROLE_USER', parts: [{ text: `chunks=${chunks} size=32` }] } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params });
  const began = performance.now();
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' }, body });
  const marks: number[] = [];
  let seen = 0;
  for await (const piece of response.body ?? []) {
    seen += countOf(piece, DATA_LINE);
    while (marks.length < 4 && seen >= (chunks * (marks.length + 1)) / 4) marks.push(performance.now());
  }
  const [first = 0, , third = 0, fourth = 0] = marks;
  if (seen < chunks) throw new Error(`only ${seen} of ${chunks} events`);
  return { chunks, perSecond: seen / ((fourth - began) / 1000), drift: (fourth - third) / (first - began) };
}

const DATA_LINE = Buffer.from('data: ');

function countOf(piece: Uint8Array, what: Buffer): number {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  let count = 0;
  for (let at = bytes.indexOf(what); at !== -1; at = bytes.indexOf(what, at + what.length)) count += 1;
  return count;
}

export async function benchStreams(rounds: number): Promise<readonly Figure[]> {
  const ours = await startParley(['script'], ['--data', newFolder()]);
  await streamOnce(`${ours.url}/a2a`, 16_000);
  const figures: Figure[] = [];
  for (const chunks of [16_000, 64_000]) {
    const runs: Streamed[] = [];
    const waits: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const stop = probing(`${ours.url}/.well-known/agent-card.json`, waits);
      runs.push(await streamOnce(`${ours.url}/a2a`, chunks));
      await stop();
    }
    const p99 = waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0;
    figures.push(
      {
        what: `one stream of ${chunks} chunks, durable`,
        value: `${quartiles(
          runs.map((run) => run.perSecond),
          0,
        )} events/s`,
        beside: '',
        goal: '≥ 50,000',
      },
      { what: '', value: `last quarter ${quartiles(runs.map((run) => run.drift))} × the first`, beside: '', goal: '≤ 1.2' },
      { what: '', value: `a card GET during it, p99 ${p99.toFixed(1)} ms`, beside: '', goal: '≤ 20 ms' },
    );
  }
  await ours.stop();
  const sdk = await startBeside('sdk');
  const beside: string[] = [];
  for (const chunks of [1000, 2000, 4000])
    beside.push(`${chunks}: ${Math.round((await streamOnce(`${sdk.url}/`, chunks)).perSecond).toLocaleString('en')}/s`);
  await sdk.stop();
  return [...figures, { what: 'the same of the SDK, in memory', value: beside.join(', '), beside: '', goal: '' }];
}

/** Asks every 10 ms until stopped. */
function probing(url: string, waits: number[]): () => Promise<void> {
  let isOver = false;
  const loop = (async () => {
    while (!isOver) {
      const began = performance.now();
      await (await fetch(url)).arrayBuffer();
      waits.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  return async () => {
    isOver = true;
    await loop;
  };
}

export async function benchStart(rounds: number): Promise<readonly Figure[]> {
  const ours: number[] = [];
  const sdk: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [times, server] of [
      [ours, await startParley(['echo'], ['--data', newFolder()])],
      [sdk, await startBeside('sdk')],
    ] as const) {
      times.push(server.readyMs);
      await server.stop();
    }
  }
  return [
    {
      what: 'built package, start to ready, empty',
      value: `${quartiles(ours, 0)} ms`,
      beside: `the SDK’s start ${quartiles(sdk, 0)} ms`,
      goal: '≤ 300 ms',
    },
  ];
}

export type Rates = Readonly<Record<string, readonly number[]>>;

export async function inTurns(
  servers: Readonly<Record<string, Server>>,
  rounds: number,
  measure: (name: string, server: Server) => Promise<number>,
): Promise<Rates> {
  const rates: Record<string, number[]> = Object.fromEntries(Object.keys(servers).map((name) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, server] of Object.entries(servers)) {
      const rate = await measure(name, server);
      if (round >= 0) rates[name]?.push(rate); // the first round warms up
    }
  }
  return rates;
}

export function ratiosOf(rates: Rates, name: string, beside: string): readonly number[] {
  return (rates[name] ?? []).map((rate, round) => rate / (rates[beside]?.[round] ?? Number.NaN));
}

export function medianOf(rates: Rates, name: string): number {
  const sorted = (rates[name] ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
