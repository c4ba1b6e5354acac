import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER_SCOPES } from '#server';
import { createKey } from '../../src/server/adapters/api-keys-file.ts';
import { times } from '../faults/size.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { keysOf } from '../support/key-ring.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { handlerOf, jsonRequest, metric, sendBody, startServer } from '../support/server.ts';

const ABUSER = fileURLToPath(new URL('children/abuser.ts', import.meta.url));

describe('S13: one abusive caller beside ten others', () => {
  const folder = scratchFolder();
  let server: Parley;
  let keys: readonly string[];
  beforeAll(async () => {
    keys = Array.from({ length: 11 }, (_, at) => createKey(folder, { name: `caller-${at}`, scopes: CALLER_SCOPES }).secret);
    server = await parleyServe({ args: ['script', '--require-auth', '--auth-folder', folder, '--data', `${folder}/data`] });
  });
  afterAll(async () => void (await server.stop()));

  const send = (key: string): Promise<Response> =>
    fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      body: JSON.stringify(sendBody('chunks=1')),
    });
  /** How many milliseconds ten callers wait for each of their sends, with a pause in between that keeps them within their rate. */
  const others = async (): Promise<number[]> => {
    const one = async (key: string): Promise<number[]> => {
      const waits: number[] = [];
      for (let at = 0; at < times(10, 40); at += 1) {
        const began = performance.now();
        const response = await send(key);
        await response.arrayBuffer();
        waits.push(performance.now() - began);
        expect(response.status).toBe(200);
        await sleep(100);
      }
      return waits;
    };
    return (await Promise.all(keys.slice(1).map(one))).flat();
  };
  const p99 = (waits: readonly number[]): number => waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0;

  it('refuses it beyond its rate, and serves the others as fast as without it', async () => {
    await others(); // warms up
    const alone = p99(await others());
    const child = spawn(process.execPath, [ABUSER, String(server.port), keys[0] ?? '', '16'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    // The abusive caller has used up its burst as soon as another request with its key is refused.
    await eventually(async () => (await send(keys[0] ?? '')).status === 429);
    expectFigure(p99(await others()) / alone, { below: 2 });
    child.stdin.end();
    await ended;
    const counts = JSON.parse(printed) as Record<string, number>;
    expect(counts['429']).toBeGreaterThan(0);
    expect(Object.keys(counts).every((status) => status === '200' || status === '429')).toBe(true);
  });
});

describe('a caller beyond its limits', () => {
  const keys = keysOf([{ name: 'ann' }, { name: 'bob' }, { name: 'operator', scopes: ['node-admin'] }]);
  const send = (who: number): Request => jsonRequest('http://localhost/message:send', sendBody('x'), { 'X-API-Key': keys.key(who) });

  it('gets a retry time in its own dialect, and other callers are not affected', async () => {
    // One request a second: on a busy machine the default of 20 would admit requests that this test expects to be refused.
    const handler = handlerOf({ auth: [keys.auth], limits: { requestsPerSecondMax: 1 } });
    const statuses: number[] = [];
    for (let at = 0; at < 60; at += 1) statuses.push((await handler.fetch(send(0))).status);
    expect(statuses.slice(0, 40)).toEqual(Array.from({ length: 40 }, () => 200));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5);
    const rpc = jsonRequest(
      'http://localhost/a2a',
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sendBody('x') },
      { 'X-API-Key': keys.key(0) },
    );
    let refused = await handler.fetch(rpc.clone());
    if (refused.status === 200) refused = await handler.fetch(rpc);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -31429 } });
    expect((await handler.fetch(send(1))).status).toBe(200);
    await handler.close();
  });

  it('is limited by bytes also without Content-Length', async () => {
    const handler = handlerOf({ auth: [keys.auth], limits: { callerBytesPerMinuteMax: 1000 } });
    const statuses: number[] = [];
    for (let at = 0; at < 30; at += 1) statuses.push((await handler.fetch(send(0))).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
    await handler.close();
  });

  it('can’t run more tasks by disconnecting from their streams', async () => {
    const server = await startServer({ auth: [keys.auth], limits: { callerTasksMax: 2 } });
    const stream = async (): Promise<Response> =>
      fetch(`${server.url}/message:stream`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': keys.key(0) },
        body: JSON.stringify(sendBody('chunks=1 sleep=9000')),
      });
    for (let at = 0; at < 2; at += 1) {
      const response = await stream();
      expect(response.status).toBe(200);
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    }
    await eventually(async () => (await metric(server.url, 'parley_streams_open', { 'X-API-Key': keys.key(2) })) === 0);
    expect((await stream()).status).toBe(429);
    await server.close();
  });

  it('without a valid credential is limited too, which slows down guessing', async () => {
    const server = await startServer({ auth: [keys.auth], limits: { requestsPerSecondMax: 1 } });
    const statuses = await Promise.all(
      Array.from({ length: 80 }, async (_, at) => (await fetch(`${server.url}/tasks`, { headers: { 'X-API-Key': `guess-${at}` } })).status),
    );
    expect([...new Set(statuses)].sort()).toEqual([401, 429]);
    expect((await fetch(`${server.url}/tasks`, { headers: { 'X-API-Key': keys.key(0) } })).status).toBe(200);
    await server.close();
  });
});

describe('S3: task ids', () => {
  it('have at least 122 random bits and give no access', async () => {
    const keys = keysOf([{ name: 'ann' }, { name: 'bob' }]);
    const handler = handlerOf({ auth: [keys.auth], limits: { requestsPerSecondMax: 0, callerTasksMax: 0 } });
    const ids = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await handler.fetch(jsonRequest('http://localhost/message:send', sendBody('x'), { 'X-API-Key': keys.key(0) }));
        return ((await response.json()) as { task: { id: string } }).task.id;
      }),
    );
    // 26 characters of five bits each.
    const random = ids.map((id) => id.slice(-26));
    expect(random.every((id) => /^[0-9a-v]{26}$/.test(id))).toBe(true);
    expect(new Set(random).size).toBe(200);
    for (let bit = 0; bit < 130; bit += 1) {
      const ones = random.filter((id) => ((Number.parseInt(id.charAt(Math.floor(bit / 5)), 32) >>> (bit % 5)) & 1) === 1).length;
      expect(ones).toBeGreaterThan(50);
      expect(ones).toBeLessThan(150);
    }
    expect((await handler.fetch(new Request(`http://localhost/tasks/${ids[0]}`, { headers: { 'X-API-Key': keys.key(1) } }))).status).toBe(
      404,
    );
    await handler.close();
  });
});
