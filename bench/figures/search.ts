import { join } from 'node:path';
import type { Engine } from '#engine';
import { createEngine, timeOrderedIds } from '#engine';
import type { Agent } from '#protocol';
import { createUserMessage, dialectId, LOCAL_PRINCIPAL, messageId } from '#protocol';
import type { SqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { newFolder, removeFolder } from '../children.ts';
import { openIndexed, rankOf, SAID, VOCABULARY, wordAt } from '../indexed.ts';
import { percentile } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

const SEARCHES = 400;
const IN_FLIGHT = 32;
/** Long enough that tasks are indexed while others are sent. */
const SEND_MS = 3000;
const SEND_ROUNDS = 5;

/** Measures searches among many tasks, and what the index costs sends. */
export async function benchSearch({ listed, rounds }: Sizes): Promise<readonly Figure[]> {
  const store = await openIndexed(listed);
  const engine = createEngine({ store, agents: {} });
  const times: number[] = [];
  let found = 0;
  for (let n = 0; n < SEARCHES; n += 1) {
    const text = searchFor(n);
    const began = performance.now();
    found += (await engine.admin.search({ text })).tasks.length;
    times.push(performance.now() - began);
  }
  await store.close();
  const { ratio, rate, lagMs } = await sends(Math.min(rounds, SEND_ROUNDS));
  return [
    {
      what: `a search among ${count(listed)} tasks, with snippets, p50 and p99`,
      value: `${percentile(times, 0.5).toFixed(1)} and ${percentile(times, 0.99).toFixed(1)} ms`,
      beside: `${count(found / SEARCHES)} tasks a page`,
      goal: '≤ 50 ms',
    },
    {
      what: 'sends with the search index divided by sends without it',
      value: `${ratio.toFixed(2)} ×`,
      beside: `${count(rate)}/s; indexed ${(lagMs / 1000).toFixed(1)} s after the last send`,
      goal: '≥ 0.95 ×',
    },
  ];
}

/** Words of each frequency, pairs of words, phrases of a task, and starts of words. */
function searchFor(n: number): string {
  const rank = Math.floor(VOCABULARY ** ((n % 40) / 40));
  const kind = n % 4;
  if (kind === 0) return wordAt(rank);
  if (kind === 1) return `${wordAt(rank)} ${wordAt(rankOf(n, 3))}`;
  if (kind === 2) return `"${wordAt(rankOf(n + 1, 5))} ${wordAt(rankOf(n + 1, 6))}"`;
  return `${wordAt(rank).slice(0, 4)}*`;
}

interface SendRates {
  readonly ratio: number;
  readonly rate: number;
  readonly lagMs: number;
}

/** In turns, each side until its own index is complete, so that no work of one falls into the time of the other. */
async function sends(rounds: number): Promise<SendRates> {
  const folder = newFolder();
  const sides = await Promise.all([true, false].map((search) => side(join(folder, `${search}.db`), search)));
  const [ours, beside] = sides;
  if (ours === undefined || beside === undefined) throw new Error('no stores');
  const [ratios, rates, lags]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= rounds; round += 1) {
    const [withIndex, without] = [await rateOf(ours), await rateOf(beside)];
    if (round === 0) continue;
    ratios.push(withIndex.rate / without.rate);
    rates.push(withIndex.rate);
    lags.push(withIndex.lagMs);
  }
  for (const { engine, store } of sides) {
    await engine.stop();
    await store.close();
  }
  removeFolder(folder);
  return { ratio: percentile(ratios, 0.5), rate: percentile(rates, 0.5), lagMs: percentile(lags, 0.5) };
}

interface Side {
  readonly engine: Engine;
  readonly store: SqliteStore;
}

async function side(path: string, search: boolean): Promise<Side> {
  const store = openSqliteStore(path, { search, ballastBytes: 0 });
  const engine = createEngine({ store, ids: timeOrderedIds(), agents: { echo } });
  await engine.start();
  return { engine, store };
}

const echo: Agent = {
  card: {
    name: 'echo',
    description: 'Returns what it gets.',
    version: '1',
    supportedInterfaces: [],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  },
  recovery: 'retry',
  run: async function* ({ message }) {
    yield { kind: 'artifact', parts: message.parts };
  },
};

let messages = 0;

async function rateOf({ engine, store }: Side): Promise<{ readonly rate: number; readonly lagMs: number }> {
  const service = engine.serviceOf('echo');
  const ctx = { principal: LOCAL_PRINCIPAL, dialect: dialectId('v10'), extensions: [], signal: new AbortController().signal };
  const began = performance.now();
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - began < SEND_MS) {
      messages += 1;
      const text = Array.from({ length: SAID }, (_, at) => wordAt(rankOf(messages, at))).join(' ');
      await service.send({ message: createUserMessage(text, { messageId: messageId(`m${messages}`) }) }, ctx);
      sent += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  const ended = performance.now();
  await store.search?.settled();
  return { rate: (sent / (ended - began)) * 1000, lagMs: performance.now() - ended };
}
