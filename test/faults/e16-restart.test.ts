import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectFigure } from '../support/figures.ts';
import type { Parley } from '../support/parley.ts';
import { getTask, pause, sendInit, sendTask } from './client.ts';
import { framesOf } from './frames.ts';
import type { Job, Ledger } from './ledger.ts';
import { newJob, work } from './ledger.ts';
import { startParley } from './parley.ts';
import { times } from './size.ts';
import { NOTHING, verifyAll } from './verify.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-e16-'));
afterAll(() => rmSync(folder, { recursive: true }));
const KINDS: readonly Job['kind'][] = ['send', 'send', 'send', 'stream', 'stream', 'poll'];
/** A restart on a busy machine takes many seconds. As long as `eventually` waits. */
const PATIENCE_MS = 60_000;

/** Failures that a client should retry: no connection, 503, a stream that ended before its task. */
function isForNow(thrown: unknown): boolean {
  return thrown instanceof TypeError || (thrown instanceof Error && /^503 |ended before its task/.test(thrown.message));
}

describe('E16: a server that gets SIGTERM', () => {
  it('again and again under load fails no request that is retried, and loses nothing', { timeout: 600_000 }, async () => {
    const options = { data: join(folder, 'rolling'), limits: { drainMsMax: 5000, retryMs: 20 } };
    let server: Parley = await startParley(options);
    const { url, port } = server;
    const ledger: Ledger = new Map();
    const failed: string[] = [];
    let [isOver, jobs, retries] = [false, 0, 0];
    const client = async (kind: Job['kind']): Promise<void> => {
      for (let job = newJob(kind); !isOver; job = newJob(kind)) {
        for (const end = performance.now() + PATIENCE_MS; ; await pause(50)) {
          try {
            await work(url, ledger, job);
            jobs += 1;
            break;
          } catch (thrown) {
            retries += 1;
            if (isForNow(thrown) && performance.now() < end) continue;
            failed.push(`${JSON.stringify(job)}: ${String(thrown)}`);
            break;
          }
        }
      }
    };
    const clients = Promise.all(KINDS.map(client));
    const stops: number[] = [];
    for (let restart = 0; restart < times(5, 100); restart += 1) {
      await pause(200 + Math.random() * 300);
      const began = performance.now();
      expect(await server.stop()).toBe(0);
      stops.push(performance.now() - began);
      server = await startParley({ ...options, args: ['--port', String(port)] });
    }
    isOver = true;
    await clients;
    const verdict = await verifyAll(url, ledger);
    expect(await server.stop()).toBe(0);
    process.stdout.write(
      `E16: ${stops.length} restarts, ${jobs} calls, ${retries} tried again, ${failed.length} failed; longest stop ${Math.max(...stops).toFixed(0)} ms\n`,
    );
    expect(failed).toEqual([]);
    expect(verdict).toEqual(NOTHING);
    expect(retries).toBeGreaterThan(0);
    expectFigure(Math.max(...stops), { below: 10_000 });
  });

  it('ends its streams with a retry hint, and the next server continues the run', async () => {
    const options = { data: join(folder, 'streams'), limits: { drainMsMax: 2500, retryMs: 20 } };
    const server = await startParley(options);
    // It takes longer than the shutdown, also if the signal comes late on a busy machine.
    const { id } = await sendTask(server.url, 'sleep=9000 chunks=2', { returnImmediately: true });
    const response = await fetch(`${server.url}/tasks/${id}:subscribe`);
    const reading = response.text();
    server.process.kill('SIGTERM');
    expect(await reading).toMatch(/retry: 1000\n$/); // the stream ends with whole frames, and without an error
    expect((await fetch(`${server.url}/message:send`, sendInit('x')).catch(() => ({ status: 503 }))).status).toBe(503);
    expect((await server.ended).code).toBe(0);
    const next = await startParley(options);
    expect((await getTask(next.url, id)).status.state).toBe('TASK_STATE_WORKING');
    const last = await fetch(`${next.url}/tasks/${id}:subscribe`, { headers: { 'Last-Event-ID': '1' } });
    let text = '';
    for await (const { raw } of framesOf(last)) text += raw;
    expect(text).toContain('TASK_STATE_COMPLETED');
    await next.stop();
  });
});
