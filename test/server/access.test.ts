import { describe, expect, it } from 'vitest';
import type { Authenticate } from '#server';
import { ROUTES } from '#server';
import { handlerOf, jsonRequest, rpcSend, sendBody } from '../support/server.ts';

const BASE = 'http://localhost';

/** A credential for tests: `Authorization: NAME SCOPE…`. */
const authenticate: Authenticate = async (asked) => {
  const [id, ...scopes] = (asked.header('authorization') ?? '').split(' ');
  if (id === undefined || id === '') return { status: 401, headers: { 'WWW-Authenticate': 'Test' }, body: null };
  return { principal: { id, scopes } };
};

describe('a custom authenticate function', () => {
  const handler = handlerOf({ authenticate });
  const get = (path: string, who?: string): Promise<Response> =>
    handler.fetch(new Request(`${BASE}${path}`, { headers: who === undefined ? {} : { Authorization: who } }));
  const send = (who: string, path = '/message:send'): Promise<Response> =>
    handler.fetch(jsonRequest(`${BASE}${path}`, sendBody('x'), { Authorization: who }));

  it('is called for every route that is not public', async () => {
    for (const { access, paths = [], under, methods } of ROUTES) {
      for (const path of under === undefined ? paths : [`${under}/x`]) {
        const [method = 'GET'] = methods;
        const response = await handler.fetch(new Request(`${BASE}${path}`, { method }));
        expect([path, response.status === 401]).toEqual([path, access !== 'public']);
      }
    }
    for (const path of ['/tasks', '/message:send', '/agents/echo/tasks', '/v1/tasks/x']) {
      const response = await handler.fetch(new Request(`${BASE}${path}`, { method: path.endsWith('send') ? 'POST' : 'GET' }));
      expect([path, response.status, response.headers.get('www-authenticate')]).toEqual([path, 401, 'Test']);
    }
  });

  it('is called before the body is read', async () => {
    let isRead = false;
    const source = {
      pull: (controller: ReadableStreamDefaultController) => {
        isRead = true;
        controller.close();
      },
    };
    const body = new ReadableStream(source, { highWaterMark: 0 });
    const request = new Request(`${BASE}/a2a`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    expect((await handler.fetch(request)).status).toBe(401);
    expect(isRead).toBe(false);
  });

  it('decides who owns a task: other callers get a 404', async () => {
    const { task } = (await (await send('ann tasks:*')).json()) as { task: { id: string } };
    expect([(await get(`/tasks/${task.id}`, 'ann tasks:*')).status, (await get(`/tasks/${task.id}`, 'bob tasks:*')).status]).toEqual([
      200, 404,
    ]);
    expect(await (await get('/tasks', 'bob tasks:*')).json()).toMatchObject({ totalSize: 0 });
    const rpc = await handler.fetch(
      jsonRequest(`${BASE}/a2a`, { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: task.id } }, { Authorization: 'bob tasks:*' }),
    );
    expect(await rpc.json()).toMatchObject({ error: { code: -32001 } });
  });

  it('admin routes need the scope admin', async () => {
    expect([
      (await get('/metrics', 'ann tasks:*')).status,
      (await get('/metrics', 'ann admin')).status,
      (await get('/metrics', 'root *')).status,
    ]).toEqual([403, 200, 200]);
    expect([(await get('/api/parley/v1/tasks', 'ann tasks:*')).status, (await get('/api/parley/v1/tasks', 'ann admin')).status]).toEqual([
      403, 200,
    ]);
  });

  it('refuses the request when it throws', async () => {
    const broken = handlerOf({
      authenticate: () => {
        throw new Error('no directory');
      },
    });
    const response = await broken.fetch(jsonRequest(`${BASE}/a2a`, rpcSend('x')));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('directory');
    await broken.close();
  });
});
