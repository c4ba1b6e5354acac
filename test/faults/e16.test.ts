import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { parleyServe } from '../support/parley.ts';
import { eventually, sendBody } from '../support/server.ts';
import { blocksOf, rawStream } from '../support/sse.ts';
import { times } from './size.ts';

/** reference/faults E16: SIGTERM. Nothing new is taken, streams end with a word on when to come back, what runs ends or is kept, exit 0. */
const folder = mkdtempSync(join(tmpdir(), 'parley-e16-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('E16: SIGTERM', () => {
  it('ends streams with a retry hint, lets what is nearly done end, and exits with 0', async () => {
    const server = await parleyServe({ args: ['script', '--data', join(folder, 'a'), '--limit', 'reconnectMs=321'] });
    const long = await rawStream(server.port, { path: '/message:stream', body: sendBody('sleep=60000') });
    await eventually(() => blocksOf(long.text()).some(({ id }) => id === 1));
    const short = fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(sendBody('sleep=800')),
    });
    await sleep(200);
    const began = performance.now();
    server.process.kill('SIGTERM');
    await long.closed;
    expect(performance.now() - began).toBeLessThan(1000);
    expect(blocksOf(long.text()).at(-1)?.text).toBe('retry: 321');
    // The connection ended as it should, chunk of length zero and all: the client knows that nothing was torn off.
    const answer = await short;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await answer.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect((await server.ended).code).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_500);
    expect(server.lines().slice(1)).toEqual(['{"event":"stopping"}', '{"event":"stopped"}']);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();

    const again = await parleyServe({ args: ['script', '--data', join(folder, 'a')] });
    const id = String(blocksOf(long.text()).find(({ data }) => data?.['task'] !== undefined)?.data?.['task']?.['id']);
    const { status } = (await (await fetch(`${again.url}/tasks/${id}`)).json()) as { status: { state: string } };
    expect(['TASK_STATE_FAILED', 'TASK_STATE_WORKING']).toContain(status.state);
    again.process.kill('SIGKILL');
    await again.ended;
  });

  it('a second time, later, ends at once', async () => {
    const server = await parleyServe({ args: ['script', '--memory'] });
    const long = await rawStream(server.port, { path: '/message:stream', body: sendBody('sleep=60000') });
    await eventually(() => blocksOf(long.text()).some(({ id }) => id === 1));
    server.process.kill('SIGTERM');
    server.process.kill('SIGINT'); // as it comes when somebody above passes it on
    await long.closed;
    await sleep(1100);
    const began = performance.now();
    server.process.kill('SIGINT');
    expect((await server.ended).code).toBe(1);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it('during load, again and again, loses no request that is sent again', async () => {
    const port = await freePort();
    const args = ['script', '--data', join(folder, 'b'), '--port', String(port)];
    let server = await parleyServe({ args });
    let isOver = false;
    const tasks = new Map<string, string>();
    const clients = Array.from({ length: 6 }, async (_, client) => {
      for (let at = 0; !isOver; at += 1) {
        const key = `${client}-${at}`;
        const text = at % 3 === 0 ? 'sleep=30' : 'chunks=3';
        tasks.set(key, await sendUntilAnswered(`http://127.0.0.1:${port}`, key, text));
      }
    });
    for (let restart = 0; restart < times(3, 50); restart += 1) {
      await sleep(500 + Math.random() * 500);
      expect(await server.stop()).toBe(0);
      expect(server.errors()).toBe('');
      server = await parleyServe({ args });
    }
    isOver = true;
    await Promise.all(clients);
    expect(tasks.size).toBeGreaterThan(50);
    // Each has a task of its own: nothing was done twice, or taken for another.
    expect(new Set(tasks.values()).size).toBe(tasks.size);
    const { totalSize } = (await (await fetch(`${server.url}/tasks`)).json()) as { totalSize: number };
    expect(totalSize).toBe(tasks.size);
    expect(await server.stop()).toBe(0);
  });
});

/** A client as clients should be: it sends again, under the same key, until it has an answer. */
async function sendUntilAnswered(url: string, key: string, text: string): Promise<string> {
  const body = JSON.stringify({ message: { messageId: key, role: 'ROLE_USER', parts: [{ text }] } });
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const response = await fetch(`${url}/message:send`, { method: 'POST', headers, body }).catch(() => undefined);
    const answer = await response?.text().catch(() => undefined);
    if (response?.status === 200 && answer !== undefined) return (JSON.parse(answer) as { task: { id: string } }).task.id;
    if (response !== undefined && response.status !== 503 && response.status !== 200) throw new Error(`${response.status} ${answer}`);
    await sleep(50);
  }
  throw new Error('no answer');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
