import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { pause, tasksWhere } from './client.ts';
import type { Job, Ledger } from './ledger.ts';
import { newJob, work } from './ledger.ts';
import { childFile, startParley } from './parley.ts';
import { msFor, times } from './size.ts';
import type { Verdict } from './verify.ts';
import { NOTHING, plus, verifyAll } from './verify.ts';

/**
 * docs/faults.md E1: SIGKILL of the real server under load, at any moment. Eight clients record every response and event that they get. After
 * the restart all of it must be in the log. A lane is a server with its own folder.
 */
const CLIENTS: readonly Job['kind'][] = ['send', 'send', 'send', 'stream', 'stream', 'stream', 'poll', 'poll'];
const KILLS_A_FOLDER = 50;
const LOAD_MS = 250;

const root = mkdtempSync(join(tmpdir(), 'parley-e1-server-'));
afterAll(() => rmSync(root, { recursive: true }));

interface Counts {
  kills: number;
  /** Kills while a transaction that held events was open. */
  inside: number;
  /** Kills after which a message that was being sent is not stored. */
  unkept: number;
  /** Kills of either kind. */
  uncommitted: number;
  acknowledged: number;
}

interface Lane {
  readonly folder: string;
  readonly isHonest: boolean;
  readonly counts: Counts;
  verdict: Verdict;
  /** The clients' work when the last server died. */
  jobs: readonly Job[];
  readonly unexpected: string[];
}

function start({ folder, isHonest }: Lane): Promise<Parley> {
  const limits = { retryMs: 20 };
  if (!isHonest) return startParley({ data: folder, entry: childFile('lying-server.ts') });
  const env = { PARLEY_TEST_MARKS: join(folder, '..', 'marks') };
  return startParley({ data: folder, limits, env, node: ['--import', childFile('failpoints.ts')] });
}

/** Makes load until the server is killed. Returns what the clients received, and the work that each of them was doing. */
async function load(lane: Lane, server: Parley): Promise<Ledger> {
  const ledger: Ledger = new Map();
  const client = async (kind: Job['kind'], left: Job | undefined): Promise<Job> => {
    for (let job = left ?? newJob(kind); ; job = newJob(kind)) {
      try {
        await work(server.url, ledger, job);
      } catch (thrown) {
        const isDead = await Promise.race([server.ended.then(() => true), pause(1000).then(() => false)]);
        if (!isDead || !(thrown instanceof TypeError)) lane.unexpected.push(`${JSON.stringify(job)}: ${String(thrown)}`);
        if (isDead) return job;
      }
    }
  };
  const left = lane.isHonest ? lane.jobs : [];
  const clients = CLIENTS.map((kind, at) => client(kind, left[at]));
  await eventually(() => ledger.size >= CLIENTS.length);
  // Another process sends the kill: this one is busiest when the server is idle, so its kills would not be random.
  spawn('sh', ['-c', `sleep ${(Math.random() * LOAD_MS) / 1000}; kill -9 ${server.pid}`], { stdio: 'ignore' });
  lane.jobs = await Promise.all(clients);
  return ledger;
}

async function killOnce(lane: Lane, server: Parley): Promise<Parley> {
  const ledger = await load(lane, server);
  await server.ended;
  const isInside = lane.isHonest && readFileSync(join(lane.folder, '..', 'marks'), 'latin1').endsWith('e');
  const next = await start(lane);
  let isUnkept = false;
  for (const job of lane.jobs) {
    const found = await tasksWhere(next.url, `contextId=${job.name}`);
    if (found.length > 1) lane.verdict = plus(lane.verdict, { ...NOTHING, doubled: 1, details: [`${job.name} twice`] });
    if (found.length === 0) isUnkept = true;
  }
  lane.verdict = plus(lane.verdict, await verifyAll(next.url, ledger));
  const { counts } = lane;
  counts.kills += 1;
  counts.inside += isInside ? 1 : 0;
  counts.unkept += isUnkept ? 1 : 0;
  counts.uncommitted += isInside || isUnkept ? 1 : 0;
  for (const { frames, snapshots, answers } of ledger.values()) counts.acknowledged += frames.size + snapshots.length + answers.length;
  return next;
}

/** Expects that no task is working without a run, and that no message was accepted twice. */
async function settle(lane: Lane, server: Parley): Promise<void> {
  for (const status of ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']) {
    await eventually(async () => (await tasksWhere(server.url, `status=${status}`)).length === 0);
  }
  for (const job of lane.jobs) {
    if ((await tasksWhere(server.url, `contextId=${job.name}`)).length > 1) lane.unexpected.push(`${job.name} is there twice`);
  }
}

async function killMany(name: string, kills: number, isHonest: boolean): Promise<Lane> {
  const folder = join(root, name, 'data');
  const counts: Counts = { kills: 0, inside: 0, unkept: 0, uncommitted: 0, acknowledged: 0 };
  const lane: Lane = { folder, isHonest, counts, verdict: NOTHING, jobs: [], unexpected: [] };
  mkdirSync(folder, { recursive: true });
  let server = await start(lane);
  try {
    for (let kill = 0; kill < kills; kill += 1) server = await killOnce(lane, server);
    if (isHonest) await settle(lane, server);
  } finally {
    await server.kill();
  }
  rmSync(join(root, name), { recursive: true });
  return lane;
}

function say(counts: Counts, { lost, gaps, doubled, wrong }: Verdict): void {
  const share = (part: number): string => `${part} (${((100 * part) / counts.kills).toFixed(0)} %)`;
  process.stdout.write(
    `E1: ${counts.kills} kills, ${counts.acknowledged} acknowledged, ${lost} lost, ${gaps} gaps, ${doubled} doubled, ${wrong} wrong; ` +
      `hit at least one uncommitted event: ${share(counts.uncommitted)}, inside a transaction with events ${share(counts.inside)}\n`,
  );
}

describe('E1: SIGKILL of the server under load', () => {
  const kills = times(15, 1000);
  it(`keeps everything that a caller has received, in ${kills} kills`, { timeout: msFor(kills, 10_000) }, async () => {
    const counts: Counts = { kills: 0, inside: 0, unkept: 0, uncommitted: 0, acknowledged: 0 };
    let verdict = NOTHING;
    for (let folder = 0; counts.kills < kills; folder += 1) {
      const lane = await killMany(`honest-${folder}`, Math.min(KILLS_A_FOLDER, kills - counts.kills), true);
      for (const key of Object.keys(counts) as (keyof Counts)[]) counts[key] += lane.counts[key];
      verdict = plus(verdict, lane.verdict);
      say(counts, verdict);
      expect(lane.unexpected).toEqual([]);
    }
    expect(verdict).toEqual(NOTHING);
    expect(counts.acknowledged).toBeGreaterThan(kills * times(5, 20));
    expect(counts.uncommitted).toBeGreaterThan(times(0, 0.3 * kills));
  });

  it('loses events in the control, which acknowledges before it commits', { timeout: 300_000 }, async () => {
    // A kill loses something only if it comes between an answer and its commit.
    let lost = 0;
    for (let round = 1; lost === 0 && round <= 8; round += 1) {
      const { counts, verdict } = await killMany(`liar-${round}`, times(4, 8), false);
      say(counts, verdict);
      lost = verdict.lost;
    }
    expect(lost).toBeGreaterThan(0);
  });
});
