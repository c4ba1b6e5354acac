import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { parleyServe } from '../support/parley.ts';
import { metric, sendBody } from '../support/server.ts';
import { blocksOf, rawStream } from '../support/sse.ts';

/** docs/faults.md E16: SIGTERM. New work is refused, streams end with a retry hint, running tasks finish or are stored, and the exit code is 0. */
const folder = mkdtempSync(join(tmpdir(), 'parley-e16-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('E16: SIGTERM', () => {
  it('ends streams with a retry hint, lets short runs finish, and exits with 0', async () => {
    const server = await parleyServe({ args: ['script', '--data', join(folder, 'a'), '--limit', 'reconnectMs=321'] });
    const long = await rawStream(server.port, { path: '/message:stream', body: sendBody('sleep=60000') });
    await eventually(() => blocksOf(long.text()).some(({ id }) => id === 1));
    const short = fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(sendBody('sleep=3000')),
    });
    await eventually(async () => (await metric(server.url, 'parley_tasks_running')) === 2);
    const began = performance.now();
    server.process.kill('SIGTERM');
    await long.closed;
    expectFigure(performance.now() - began, { below: 2500 }); // before the short run has finished
    expect(long.text()).toMatch(/retry: 321\n$/);
    // The response ended with the zero-length chunk, so the client knows that nothing is missing.
    const answer = await short;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await answer.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect((await server.ended).code).toBe(0);
    expectFigure(performance.now() - began, { below: 10_500 });
    expect(server.lines().slice(1)).toEqual(['{"event":"stopping"}', '{"event":"stopped"}']);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();

    const again = await parleyServe({ args: ['script', '--data', join(folder, 'a')] });
    const id = String(blocksOf(long.text()).find(({ data }) => data?.['task'] !== undefined)?.data?.['task']?.['id']);
    const { status } = (await (await fetch(`${again.url}/tasks/${id}`)).json()) as { status: { state: string } };
    expect(['TASK_STATE_FAILED', 'TASK_STATE_WORKING']).toContain(status.state);
    again.process.kill('SIGKILL');
    await again.ended;
  });

  it('sent a second time ends the process at once', async () => {
    const server = await parleyServe({ args: ['script', '--memory'] });
    const long = await rawStream(server.port, { path: '/message:stream', body: sendBody('sleep=60000') });
    await eventually(() => blocksOf(long.text()).some(({ id }) => id === 1));
    server.process.kill('SIGTERM');
    server.process.kill('SIGINT'); // as when a parent process passes the signal on
    await long.closed;
    // Signals of the same second count as one.
    const repeated = setInterval(() => server.process.kill('SIGINT'), 100);
    expect((await server.ended).code).toBe(1);
    clearInterval(repeated);
  });
});
