import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer, ServeOptions } from '../../src/server/adapters/node.ts';
import { REST_CASES, RPC_CASES } from '../support/bad-input.ts';
import { expectFigure } from '../support/figures.ts';
import { problemsIn } from '../support/log-lines.ts';
import { startServer } from '../support/server.ts';
import { freshName, getJson, sendTask } from './client.ts';
import { startParley } from './parley.ts';

/** docs/faults.md I2 to I5 and I7 over a socket. The server is in this process, so that a changed prototype shows here. */
const authenticate: NonNullable<ServeOptions['authenticate']> = (asked) => ({
  principal: { id: asked.header('x-user') ?? 'local', scopes: ['*'] },
});
let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ authenticate });
  await sendTask(server.url, 'chunks=1');
});
afterAll(() => server.close());
afterEach(() => {
  const plain: Record<string, unknown> = {};
  expect([plain['polluted'], Object.keys(Object.prototype), typeof plain.toString]).toEqual([undefined, [], 'function']);
});

async function tasks(): Promise<number> {
  return ((await getJson(`${server.url}/api/parley/v1/tasks`)) as { totalSize: number }).totalSize;
}

for (const [group, cases] of Object.entries(RPC_CASES)) {
  describe(`${group}: JSON-RPC over a socket`, () => {
    for (const [name, body, code] of cases) {
      it(name, async () => {
        const before = await tasks();
        const began = performance.now();
        const response = await fetch(`${server.url}/a2a`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: typeof body === 'string' ? body : new Uint8Array(body),
        });
        expect(response.status).toBeLessThan(500);
        const { error } = (await response.json()) as { error: { code: number } };
        expect(error.code).toBe(code);
        expectFigure(performance.now() - began, { below: 1000 });
        expect(await tasks()).toBe(before);
      });
    }
  });
}

describe('I2 to I7: HTTP+JSON over a socket', () => {
  for (const [name, request, status] of REST_CASES) {
    it(name, async () => {
      const before = await tasks();
      const response = await fetch(request(server.url));
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { code: status } });
      expect(await tasks()).toBe(before);
    });
  }
});

describe('I3: names of Object.prototype', () => {
  it('are ordinary data in free-form JSON, and come back unchanged', async () => {
    const data = JSON.parse('{"constructor":{"prototype":{"polluted":1}},"toString":"x","valueOf":1,"hasOwnProperty":null}') as object;
    const message = { messageId: freshName('m'), role: 'ROLE_USER', parts: [{ data }], metadata: data };
    const answer = (await getJson(`${server.url}/agents/echo/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message, metadata: data }),
    })) as { task: { artifacts: { parts: object[] }[]; history: object[] } };
    expect(answer.task.artifacts[0]?.parts).toEqual([{ data }]);
    expect(answer.task.history[0]).toMatchObject({ metadata: data });
  });

  it('do no harm with --disable-proto=throw', async () => {
    const strict = await startParley({ node: ['--disable-proto=throw'] });
    expect((await sendTask(strict.url, 'chunks=2')).status.state).toBe('TASK_STATE_COMPLETED');
    expect(await strict.stop()).toBe(0);
    expect(problemsIn(strict.errors())).toEqual([]);
  });
});

describe('I7: page tokens', () => {
  it('are valid only unchanged, for the caller and the filter they were made for', async () => {
    for (let at = 0; at < 5; at += 1) await sendTask(server.url, 'chunks=1', { contextId: 'pages' });
    const list = (query: string, user = 'local') => fetch(`${server.url}/tasks?${query}`, { headers: { 'X-User': user } });
    const page = (await (await list('contextId=pages&pageSize=2')).json()) as { nextPageToken: string; tasks: unknown[] };
    expect(page.tasks).toHaveLength(2);
    const token = page.nextPageToken;
    const good = await list(`contextId=pages&pageSize=2&pageToken=${encodeURIComponent(token)}`);
    expect(good.status).toBe(200);
    const others: [string, string?][] = [
      [`contextId=pages&pageToken=${token}`, 'bob'],
      [`contextId=other&pageToken=${token}`],
      [`pageToken=${token}`],
      [`contextId=pages&status=TASK_STATE_COMPLETED&pageToken=${token}`],
    ];
    for (const [query, user] of others) expect((await list(query, user)).status).toBe(400);
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const forged = encodeURIComponent(token.slice(0, at) + other + token.slice(at + 1));
      expect((await list(`contextId=pages&pageSize=2&pageToken=${forged}`)).status, `character ${at}`).toBe(400);
      expect((await list(`contextId=pages&pageSize=2&pageToken=${encodeURIComponent(token.slice(0, at))}`)).status).toBe(
        at === 0 ? 200 : 400,
      );
    }
  });
});
