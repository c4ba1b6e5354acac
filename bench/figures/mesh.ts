import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import mqtt from 'mqtt';
import { createCard } from '#agents';
import type { Grammar, Mesh } from '#mesh';
import { joinMesh, mqttGrammar, samGrammar } from '#mesh';
import type { A2AService, CallContext } from '#protocol';
import { createUserMessage, dialectId } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { startMosquitto } from '../../test/support/brokers.ts';
import type { Rounds } from '../measure.ts';
import { cpuMicros, inTurns, quartiles, ratios } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

/** The mesh compared with the bare client library: same broker, same QoS, same concurrency. */
type Side = 'bare' | 'sam' | 'mqtt';
const SIDES = ['bare', 'sam', 'mqtt'] as const satisfies readonly Side[];
const AT_ONCE = 32;
const WORDS = 200;
const AGENTS = 1000;
const NAMESPACE = 'bench/mesh';
const TEXT = 'Add a health check endpoint to the service';

/** Sends one request and returns the number of its replies. */
type Ask = (text: string) => Promise<number>;

export async function benchMesh({ rounds, ms }: Sizes): Promise<readonly Figure[]> {
  // Without this option Mosquitto delays small packets by up to 40 ms, which would hide everything else.
  const broker = await startMosquitto(['set_tcp_nodelay true']);
  const other = spawn(
    process.execPath,
    ['--conditions=our-src', fileURLToPath(new URL('../servers/mesh.ts', import.meta.url)), broker.url],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const open: (() => Promise<unknown>)[] = [];
  try {
    await untilReady(other);
    const asks: Readonly<Record<Side, Ask>> = {
      bare: await bareAsk(broker.url, open),
      sam: await meshAsk(broker.url, samGrammar, open),
      mqtt: await meshAsk(broker.url, mqttGrammar({ root: 'a2a/v1' }), open),
    };
    const measured = { asks, pid: other.pid ?? 0, rounds, ms };
    const replies = await bothWays(TEXT, measured);
    const events = await bothWays(`words=${WORDS}`, measured);
    const figures = (['sam', 'mqtt'] as const).flatMap((side): readonly Figure[] => [
      ...figuresOf(`request and answer, ${TITLES[side]}`, { ...replies, side, unit: 'a second' }),
      ...figuresOf(`streamed events, ${TITLES[side]}`, { ...events, side, unit: 'events a second' }),
    ]);
    return [
      ...figures,
      await found(broker.url, samGrammar, TITLES.sam),
      await found(broker.url, mqttGrammar({ root: 'a2a/v1' }), TITLES.mqtt),
    ];
  } finally {
    for (const close of open.reverse()) await close();
    other.kill('SIGKILL');
    await broker.stop();
  }
}

const TITLES = { sam: 'SAM’s grammar', mqtt: 'A2A over MQTT' } as const;

interface Measured {
  readonly rates: Rounds<Side>;
  /** Processor time of both ends per reply. */
  readonly micros: Rounds<Side>;
}

interface Measuring {
  readonly asks: Readonly<Record<Side, Ask>>;
  /** The process id of the other end. */
  readonly pid: number;
  readonly rounds: number;
  readonly ms: number;
}

async function bothWays(text: string, { asks, pid, rounds, ms }: Measuring): Promise<Measured> {
  const micros: Record<Side, number[]> = { bare: [], sam: [], mqtt: [] };
  const rates = await inTurns(SIDES, { rounds }, async (side) => {
    const before = cpuMicros(pid) + ownMicros();
    const { rate, answers } = await answered(asks[side], text, ms);
    micros[side].push((cpuMicros(pid) + ownMicros() - before) / answers);
    return rate;
  });
  return { rates, micros: { bare: micros.bare.slice(1), sam: micros.sam.slice(1), mqtt: micros.mqtt.slice(1) } }; // the first warms up
}

function figuresOf(
  what: string,
  { rates, micros, side, unit }: Measured & { readonly side: Side; readonly unit: string },
): readonly Figure[] {
  return [
    {
      what,
      value: `× ${quartiles(ratios(rates, side, 'bare'))} of the bare client`,
      beside: `${quartiles(rates[side], 0)} ${unit}; bare ${quartiles(rates.bare, 0)}`,
      goal: `× 0.5, ${AT_ONCE} concurrent`,
    },
    {
      what: '',
      value: `${quartiles(micros[side], 0)} µs of processor time each`,
      beside: `bare ${quartiles(micros.bare, 0)} µs: × ${quartiles(ratios(micros, 'bare', side))}`,
      goal: '× 0.5',
    },
  ];
}

function ownMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('the child process has no standard output');
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the other end did not start'))),
  ]);
}

async function answered(ask: Ask, text: string, ms: number): Promise<{ readonly rate: number; readonly answers: number }> {
  const began = performance.now();
  let answers = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - began < ms) {
      const had = await ask(text); // not one expression: `answers` would be read before the await
      answers += had;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { rate: answers / ((performance.now() - began) / 1000), answers };
}

async function bareAsk(url: string, open: (() => Promise<unknown>)[]): Promise<Ask> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5 });
  open.push(() => client.endAsync());
  const waiting = new Map<string, () => void>();
  client.on('message', (_, __, { properties }) => waiting.get(String(properties?.correlationData))?.());
  await client.subscribeAsync('bare/reply', { qos: 1 });
  let last = 0;
  return async (text) => {
    const words = Number(/words=(\d+)/.exec(text)?.[1] ?? 1);
    const correlation = String(++last);
    const { promise, resolve } = Promise.withResolvers<void>();
    let heard = 0;
    waiting.set(correlation, () => {
      heard += 1;
      if (heard === words) resolve();
    });
    const properties = { responseTopic: 'bare/reply', correlationData: Buffer.from(correlation) };
    await client.publishAsync('bare/request', text, { qos: 1, properties });
    await promise;
    waiting.delete(correlation);
    return words;
  };
}

async function meshAsk(url: string, grammar: Grammar, open: (() => Promise<unknown>)[]): Promise<Ask> {
  const mesh = joinMesh({ broker: await connectMqtt({ url, sessionSeconds: 0 }), namespace: NAMESPACE, grammar });
  open.push(() => mesh.close());
  const caller = await mesh.call({ kind: 'gateway', id: 'bench_gw' });
  const link: A2AService = caller.link({ agent: 'bench' });
  const ctx: CallContext = {
    principal: { id: 'bench', scopes: [] },
    dialect: dialectId('v10'),
    extensions: [],
    signal: new AbortController().signal,
  };
  return async (text) => {
    const message = createUserMessage(text);
    if (!text.startsWith('words=')) {
      await link.send({ message }, ctx);
      return 1;
    }
    let events = 0;
    for await (const batch of link.stream({ message }, ctx)) events += batch.length;
    return events;
  };
}

/** Measures how long it takes until one connection has discovered all agents that another one announces. */
async function found(url: string, grammar: Grammar, title: string): Promise<Figure> {
  const join = async (): Promise<Mesh> =>
    joinMesh({ broker: await connectMqtt({ url, sessionSeconds: 0 }), namespace: 'bench/many', grammar });
  const [announcer, watcher] = [await join(), await join()];
  const registry = await watcher.discover();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: AGENTS }, (_, at) => {
      const name = `agent_${at}`;
      return announcer.announce({ kind: 'agent', name, card: createCard({ name, description: 'One of many.' }) });
    }),
  );
  while (registry.peers().length < AGENTS && performance.now() - began < 30_000) await new Promise((resolve) => setTimeout(resolve, 5));
  const seconds = (performance.now() - began) / 1000;
  const heard = registry.peers().length;
  await watcher.close();
  await announcer.close();
  return {
    what: `${count(AGENTS)} agents announced and found, ${title}`,
    value: `${seconds.toFixed(2)} s`,
    beside: `${heard} found`,
    goal: '5 s',
  };
}
