import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine, LogEntry, Write } from '#engine';
import { createEngine, timeOrderedIds } from '#engine';
import type { Agent, Message, Seq } from '#protocol';
import { createUserMessage, dialectId, LOCAL_PRINCIPAL, messageId } from '#protocol';
import type { SqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { newFolder, removeFolder } from '../children.ts';
import { chunk, newTask } from '../filled.ts';
import { percentile } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));
const STEP = 1000;
const SEARCHES = 400;
const SAID = 40;
const VOCABULARY = 20_000;
const IN_FLIGHT = 32;
/** Long enough that tasks are indexed while others are sent. */
const SEND_MS = 3000;
const SEND_ROUNDS = 5;

/** Measures searches among many tasks, and what the index costs sends. */
export async function benchSearch({ listed, rounds }: Sizes): Promise<readonly Figure[]> {
  const store = await filled(listed);
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

/** The store is made once and kept in `.cache`. */
async function filled(tasks: number): Promise<SqliteStore> {
  const folder = join(CACHE, `bench-search-${tasks}`);
  const done = join(folder, 'done');
  const path = join(folder, 'tasks.db');
  if (!existsSync(done)) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const store = openSqliteStore(path, { search: true, ballastBytes: 0 });
  if (!existsSync(done)) {
    for (let key = 1; key <= tasks; key += STEP) {
      await store.commit(Array.from({ length: Math.min(STEP, tasks - key + 1) }, (_, at) => talk(key + at)));
      // In step: otherwise the index would be made all at once, at the end.
      if (key % (20 * STEP) === 1) {
        await store.search?.settled();
        console.error(`${count(key)} of ${count(tasks)} tasks are written and indexed`);
      }
    }
    await store.search?.settled();
    await store.close();
    mkdirSync(done);
    return openSqliteStore(path, { search: true, ballastBytes: 0 });
  }
  await store.search?.settled();
  return store;
}

/** A task of 40 words, whose frequencies are those of a language: the word at rank n occurs about 1/n as often as the first. */
function talk(key: number): Write {
  const { row, first, message } = newTask(key);
  const words = Array.from({ length: SAID }, (_, at) => wordAt(rankOf(key, at))).join(' ');
  const history: Message[] = [{ ...message, parts: [{ text: words }] }];
  const entries: LogEntry[] = [
    { ...first, event: first.event.task === undefined ? first.event : { task: { ...first.event.task, history } } },
    { seq: 2 as Seq, event: chunk(row) },
  ];
  return { kind: 'task', row: { ...row, state: 'TASK_STATE_COMPLETED', last: 2 as Seq }, isNew: true, entries };
}

function rankOf(key: number, at: number): number {
  const seed = ((key * 2_654_435_761 + at * 40_503) >>> 0) / 2 ** 32;
  return Math.floor(VOCABULARY ** seed);
}

function wordAt(rank: number): string {
  return `${'bcdfghklmnprstvw'[rank % 16]}${'aeiou'[Math.floor(rank / 16) % 5]}${rank.toString(36)}`;
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
