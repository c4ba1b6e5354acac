import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ListPosition, LogEntry, TaskKey, TaskRow, Write } from '#engine';
import { timeOrderedIds } from '#engine';
import type { Seq } from '#protocol';
import { artifactId } from '#protocol';
import { openSqliteStore } from '../src/engine/adapters/sqlite.ts';
import { AGENT, chunk, fill, newTask, OWNER, of } from './filled.ts';

/**
 * Measures the SQLite store alone: commits of quick sends and long streams, lists among many tasks, and opening a file.
 *
 *     node --conditions=our-src bench/store.ts [--sends 60000] [--chunks 256000] [--tasks 1000000] [--only commits,stream,lists,open]
 */
const ids = timeOrderedIds();
const PAGE = 50;

const only = textOf('--only', 'commits,stream,lists,open').split(',');
const folder = mkdtempSync(join(textOf('--folder', tmpdir()), 'parley-bench-'));
try {
  if (only.includes('commits')) await benchCommits(numberOf('--sends', 60_000));
  if (only.includes('stream')) await benchStream(numberOf('--chunks', 256_000));
  if (only.includes('lists')) await benchLists(numberOf('--tasks', 1_000_000));
  if (only.includes('open')) await benchOpen();
} finally {
  rmSync(folder, { recursive: true });
}

/** The baseline is bare SQLite: one row per send, in transactions of the same size, equally durable. */
async function benchCommits(sends: number): Promise<void> {
  for (const size of [1, 32, 500]) {
    const count = size === 1 ? Math.ceil(sends / 10) : sends;
    const store = openSqliteStore(join(folder, `commits-${size}.db`));
    const bare = new DatabaseSync(join(folder, `bare-${size}.db`));
    bare.exec('PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)');
    const insert = bare.prepare('INSERT INTO t (body) VALUES (?)');
    let key = 0;
    const ours: number[] = [];
    const beside: number[] = [];
    // The time that a commit blocks the event loop. A commit that returns a promise blocks it less.
    const held: number[] = [];
    let cpu = 0;
    for (let at = 0; at < count; at += size) {
      const batch = Array.from({ length: size }, () => {
        key += 1;
        return sendWrites(key);
      }).flat();
      const before = process.cpuUsage();
      const start = performance.now();
      const done = store.commit(batch);
      held.push(performance.now() - start);
      await done;
      ours.push(performance.now() - start);
      const { user, system } = process.cpuUsage(before);
      cpu += user + system;
      const bodies = batch.map((write) => JSON.stringify(write));
      beside.push(
        await timed(() => {
          bare.exec('BEGIN IMMEDIATE');
          for (const body of bodies) insert.run(body);
          bare.exec('COMMIT');
        }),
      );
      await new Promise(setImmediate);
    }
    console.log(
      `commits of ${size}: ${rate(count, ours)} sends/s (bare SQLite ${rate(count, beside)}), ${spread(ours)}; ` +
        `${(cpu / count).toFixed(1)} µs of CPU per send; the event loop was blocked ${spread(held)}`,
    );
    bare.close();
    await store.close();
  }
}

async function benchStream(chunks: number): Promise<void> {
  const store = openSqliteStore(join(folder, 'stream.db'));
  for (const size of [1, 64, 1024]) {
    const count = size === 1 ? Math.ceil(chunks / 50) : chunks;
    const key = (store.lastKey() as number) + 1;
    const { row, first } = newTask(key);
    await store.commit([{ kind: 'task', row, isNew: true, entries: [first] }]);
    const times: number[] = [];
    for (let last = 1; last <= count; last += size) {
      const entries = Array.from({ length: size }, (_, at) => ({ seq: (last + 1 + at) as Seq, event: chunk(row) }));
      const write: Write = { kind: 'task', row: { ...row, last: (last + size) as Seq }, isNew: false, entries };
      times.push(await timed(() => store.commit([write])));
    }
    const start = performance.now();
    let read = 0;
    for (let page = store.entries(key as TaskKey, { after: 0 as Seq, limit: 512 }); ; ) {
      const entries = page as readonly LogEntry[];
      if (entries.length === 0) break;
      read += entries.length;
      page = store.entries(key as TaskKey, { after: entries.at(-1)?.seq as Seq, limit: 512 });
    }
    const readRate = Math.round((read / (performance.now() - start)) * 1000);
    console.log(`stream in commits of ${size}: ${rate(count, times)} entries/s written, ${spread(times)}; ${readRate} entries/s read`);
  }
  await store.close();
}

async function benchLists(tasks: number): Promise<void> {
  const path = join(folder, 'lists.db');
  const store = openSqliteStore(path);
  const start = performance.now();
  await fill(store, tasks, 1);
  console.log(`${tasks} tasks written in ${((performance.now() - start) / 1000).toFixed(1)} s, ${megabytes(path)} MB`);
  const filter = { owner: OWNER, agent: AGENT };
  let place: ListPosition | undefined;
  for (let page = 1; page < 1000; page += 1) {
    const last = (store.list({ ...filter, ...(place === undefined ? {} : { after: place }), limit: PAGE }) as readonly TaskRow[]).at(-1);
    if (last !== undefined) place = { statusAt: last.statusAt, key: last.key };
  }
  const first: number[] = [];
  const thousandth: number[] = [];
  const failed: number[] = [];
  for (let round = 0; round < 1000; round += 1) {
    first.push(await timed(() => [store.list({ ...filter, limit: PAGE }), store.count(filter)]));
    thousandth.push(
      await timed(() => [store.list({ ...filter, ...(place === undefined ? {} : { after: place }), limit: PAGE }), store.count(filter)]),
    );
    const state = 'TASK_STATE_FAILED';
    failed.push(await timed(() => [store.list({ ...filter, state, limit: PAGE }), store.count({ ...filter, state, statusFrom: 1 })]));
  }
  console.log(
    `list, page 1 and total: ${spread(first)}\nlist, page 1000 and total: ${spread(thousandth)}\nlist by state: ${spread(failed)}`,
  );
  console.log(`total: ${store.count(filter)}`);
  await store.close();
}

async function benchOpen(): Promise<void> {
  const path = join(folder, 'open.db');
  const made = openSqliteStore(path);
  await fill(made, 100_000, 10);
  await made.close();
  const start = performance.now();
  const store = openSqliteStore(path);
  const opened = performance.now();
  const { length } = store.unfinished() as readonly TaskRow[];
  const read = performance.now();
  await store.verified;
  console.log(
    `open ${megabytes(path)} MB with 100,000 tasks and 1,000,000 events: ${(opened - start).toFixed(0)} ms, ` +
      `${length} unfinished in ${(read - opened).toFixed(0)} ms; checked in the thread after ${(performance.now() - read).toFixed(0)} ms`,
  );
  await store.close();
}

/** The writes of the engine for one blocking send to a quick agent. */
function sendWrites(key: number): Write[] {
  const { row, first, message } = newTask(key);
  const entries: LogEntry[] = [
    first,
    { seq: 2 as Seq, event: { artifactUpdate: { ...of(row), artifact: { artifactId: artifactId(ids.next()), parts: message.parts } } } },
    {
      seq: 3 as Seq,
      event: { statusUpdate: { ...of(row), status: { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() } } },
    },
  ];
  return [
    { kind: 'task', row: { ...row, state: 'TASK_STATE_COMPLETED', last: 3 as Seq }, isNew: true, entries },
    {
      kind: 'send',
      record: {
        owner: OWNER,
        agent: AGENT,
        token: `id ${message.messageId}`,
        fingerprint: 'abcdefghijk',
        at: row.statusAt,
        delivered: false,
        task: { key: row.key, id: row.id, seq: 1 as Seq },
      },
    },
  ];
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  const result = work();
  if (result instanceof Promise) await result;
  return performance.now() - start;
}

function rate(count: number, times: readonly number[]): string {
  return Math.round((count / times.reduce((sum, time) => sum + time, 0)) * 1000).toLocaleString('en');
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(2);
  return `p50 ${at(0.5)} p99 ${at(0.99)} max ${at(1)} ms`;
}

function megabytes(path: string): number {
  return Math.round(statSync(path).size / 2 ** 20);
}

function numberOf(flag: string, otherwise: number): number {
  return Number(textOf(flag, String(otherwise)));
}

function textOf(flag: string, otherwise: string): string {
  const at = process.argv.indexOf(flag);
  return at === -1 ? otherwise : (process.argv[at + 1] ?? otherwise);
}
