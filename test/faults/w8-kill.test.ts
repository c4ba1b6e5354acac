import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { pause } from './client.ts';
import { childFile, startParley } from './parley.ts';
import { msFor, times } from './size.ts';

/**
 * docs/faults.md W8: SIGKILL of the real server while it delivers to a webhook. Every event that a caller has received, or that is in the
 * log, arrives at least once and in order. A repeated delivery has the same id and the same bytes.
 */
const CLIENTS = 4;
const LOAD_MS = 500;
const root = mkdtempSync(join(tmpdir(), 'parley-w8-'));
afterAll(() => rmSync(root, { recursive: true }));

interface Lane {
  readonly folder: string;
  readonly isHonest: boolean;
  readonly hook: Receiver;
  readonly acknowledged: Set<string>;
}

interface Verdict {
  readonly lost: readonly string[];
  readonly disordered: readonly string[];
  readonly altered: readonly string[];
  readonly events: number;
  readonly repeated: number;
}

const start = ({ folder, isHonest }: Lane): Promise<Parley> =>
  isHonest
    ? startParley({ data: folder, limits: { retryMs: 20 }, args: ['--allow-loopback-targets', '--log', 'silent'] })
    : startParley({ data: folder, entry: childFile('lying-courier.ts') });

let sent = 0;
async function client(lane: Lane, server: Parley): Promise<void> {
  for (;;) {
    sent += 1;
    const body = JSON.stringify({
      message: { messageId: `m${sent}`, role: 'ROLE_USER', parts: [{ text: 'chunks=3 delay=8' }] },
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: `${lane.hook.url}/x` } },
    });
    const headers = { 'Content-Type': 'application/json' };
    try {
      const response = await fetch(`${server.url}/message:send`, { method: 'POST', headers, body });
      const { task } = (await response.json()) as { task: { id: string } };
      lane.acknowledged.add(task.id);
      await pause(15);
    } catch {
      return; // the server is dead
    }
  }
}

async function killOnce(lane: Lane): Promise<void> {
  const server = await start(lane);
  const before = lane.acknowledged.size;
  const clients = Array.from({ length: CLIENTS }, () => client(lane, server));
  await eventually(() => lane.acknowledged.size >= before + CLIENTS);
  spawn('sh', ['-c', `sleep ${((Math.random() * LOAD_MS) / 1000).toFixed(3)}; kill -9 ${server.pid}`], { stdio: 'ignore' });
  await Promise.all(clients);
  await server.ended;
}

/** Waits until no delivery is pending. */
async function settle(server: Parley): Promise<void> {
  const text = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
  const value = (metrics: string, name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN);
  for (let quiet = 0, tries = 0; quiet < 3; tries += 1) {
    if (tries > 600) throw new Error('the webhooks never came to rest');
    const metrics = await text();
    const isQuiet = value(metrics, 'parley_webhooks_pending') === 0 && value(metrics, 'parley_tasks_running') === 0;
    quiet = isQuiet ? quiet + 1 : 0;
    await pause(100);
  }
}

interface Heard {
  /** The events of each task, in the order of their first arrival. */
  readonly orders: ReadonlyMap<string, readonly number[]>;
  readonly altered: readonly string[];
  readonly repeated: number;
}

function heardBy({ hits }: Receiver): Heard {
  const bodies = new Map<string, string>();
  const orders = new Map<string, number[]>();
  const altered: string[] = [];
  for (const { headers, body } of hits) {
    const id = String(headers['webhook-id']);
    const [, task = '', seq = ''] = /^msg_(.+)_[0-9a-f]{8}_(\d+)$/.exec(id) ?? [];
    if ((bodies.get(id) ?? body) !== body) altered.push(id);
    if (!bodies.has(id)) orders.set(task, [...(orders.get(task) ?? []), Number(seq)]);
    bodies.set(id, body);
  }
  return { orders, altered, repeated: hits.length - bodies.size };
}

async function verify(lane: Lane, server: Parley): Promise<Verdict> {
  const { orders, altered, repeated } = heardBy(lane.hook);
  const lost: string[] = [];
  const disordered: string[] = [];
  let events = 0;
  for (const task of new Set([...lane.acknowledged, ...orders.keys()])) {
    const response = await fetch(`${server.url}/api/parley/v1/tasks/${task}/events`);
    const log = response.ok ? ((await response.json()) as { events: { seq: number }[] }).events : [];
    const order = orders.get(task) ?? [];
    events += log.length - 1;
    if (log.length === 0) lost.push(task);
    for (const { seq } of log.slice(1)) if (!order.includes(seq)) lost.push(`${task} ${seq}`);
    if (order.some((seq, at) => at > 0 && seq < (order[at - 1] ?? 0))) disordered.push(`${task} ${order.join()}`);
  }
  return { lost, disordered, altered, events, repeated };
}

async function killMany(name: string, kills: number, isHonest: boolean): Promise<Verdict> {
  const lane: Lane = { folder: join(root, name), isHonest, hook: await startReceiver(), acknowledged: new Set() };
  try {
    for (let kill = 0; kill < kills; kill += 1) await killOnce(lane);
    const server = await start(lane);
    try {
      await settle(server);
      if (!isHonest) await pause(1000);
      const verdict = await verify(lane, server);
      const { lost, disordered, altered, events, repeated } = verdict;
      process.stdout.write(
        `W8: ${kills} kills, ${lane.acknowledged.size} tasks, ${events} events, ${lost.length} lost, ${disordered.length} out of order, ` +
          `${altered.length} altered, ${repeated} repeated\n`,
      );
      return verdict;
    } finally {
      await server.kill();
    }
  } finally {
    await lane.hook.close();
  }
}

describe('W8: SIGKILL of a server that delivers', () => {
  const kills = times(5, 300);
  it(`delivers every event to the webhook, in ${kills} kills`, { timeout: 60_000 + msFor(kills, 10_000) }, async () => {
    const { lost, disordered, altered, events } = await killMany('honest', kills, true);
    expect({ lost, disordered, altered }).toEqual({ lost: [], disordered: [], altered: [] });
    expect(events).toBeGreaterThan(kills * 10);
  });

  it('loses events in the control, which marks a delivery as done too early', { timeout: 300_000 }, async () => {
    // A kill loses something only if it comes between the mark and its delivery.
    let lost = 0;
    for (let round = 1; lost === 0 && round <= 4; round += 1) lost = (await killMany(`liar-${round}`, 3, false)).lost.length;
    expect(lost).toBeGreaterThan(0);
  });
});
