import { afterAll, describe, expect, it } from 'vitest';
import { ROUTES } from '#server';
import { CARD } from '../support/card.ts';
import { memoryService } from '../support/memory-service.ts';
import { builtIn, handlerOf, jsonRequest, rpcSend, sendBody } from '../support/server.ts';

const BASE = 'http://localhost:41242';
const handler = handlerOf();
afterAll(() => handler.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  handler.fetch(new Request(`${BASE}${path}`, { headers }));
const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  handler.fetch(jsonRequest(`${BASE}${path}`, body, headers));

describe('JSON-RPC', () => {
  for (const base of ['', '/agents/echo', '/agents/script']) {
    for (const path of ['/', '/a2a', '/a2a/', '/a2a/jsonrpc', '/a2a/jsonrpc/', '/a2a//']) {
      it(`is served at ${base}${path}`, async () => {
        const response = await post(`${base}${path}`, rpcSend('hello'), { 'A2A-Version': '1.0' });
        expect(response.status).toBe(200);
        expect(await response.json()).toMatchObject({ id: 1, result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
      });
    }
  }

  it('is Cortex at /api/a2a', async () => {
    const params = { message: { role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
    const response = await post('/api/a2a', { jsonrpc: '2.0', id: 7, method: 'SendMessage', params });
    expect(await response.json()).toMatchObject({ id: 7, result: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it('is Society at the root', async () => {
    const params = { id: 'thread-1', message: { role: 'user', parts: [{ type: 'text', text: 'hello' }] } };
    const response = await post('/', { jsonrpc: '2.0', id: 'thread-1', method: 'tasks/send', params });
    expect(await response.json()).toMatchObject({ result: { id: 'thread-1', status: { state: 'completed' } } });
  });
});

describe('HTTP+JSON', () => {
  it('is 1.0 without a prefix, for a tenant, and below an agent', async () => {
    for (const path of ['/message:send', '/acme/message:send', '/agents/echo/message:send', '/agents/echo/acme/message:send']) {
      const response = await post(path, sendBody('hello'));
      expect([path, response.status]).toEqual([path, 200]);
      expect(await response.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    }
  });

  it('is 0.3 under /v1', async () => {
    const message = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hello' }] };
    const response = await post('/v1/message:send', { message });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it('lists tasks and gets one', async () => {
    const sent = (await (await post('/message:send', sendBody('hello'))).json()) as { task: { id: string } };
    const { tasks } = (await (await get('/tasks?pageSize=1')).json()) as { tasks: { id: string }[] };
    expect(tasks.map(({ id }) => id)).toEqual([sent.task.id]);
    expect(await (await get(`/tasks/${sent.task.id}`)).json()).toMatchObject({ id: sent.task.id });
  });

  it('treats no reserved path as a tenant', async () => {
    for (const path of ['/console/tasks', '/api/tasks', '/mcp/tasks', '/agents/tasks'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });
});

describe('several agents', () => {
  it('have separate tasks', async () => {
    const { task } = (await (await post('/agents/echo/message:send', sendBody('mine'))).json()) as { task: { id: string } };
    expect((await get(`/agents/echo/tasks/${task.id}`)).status).toBe(200);
    expect((await get(`/agents/script/tasks/${task.id}`)).status).toBe(404);
  });

  it('respond with 404 for an unknown agent', async () => {
    expect((await post('/agents/nobody/a2a', rpcSend('x'))).status).toBe(404);
  });

  it('serve the routes of the node at the root only', async () => {
    for (const path of ['/healthz', '/metrics', '/api/parley/v1/tasks', '/.well-known/ai-catalog.json']) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
      expect([path, (await get(`/agents/echo${path}`)).status]).toEqual([path, 404]);
    }
  });

  it('must have different names, and there must be at least one', () => {
    expect(() => handlerOf({ agents: [builtIn('echo'), builtIn('echo')] })).toThrow('two agents are named echo');
    expect(() => handlerOf({ agents: [] })).toThrow('no agent');
  });

  it('can be any implementation of A2AService', async () => {
    const service = memoryService(CARD);
    const own = handlerOf({ agents: { name: 'mock', card: CARD, service } });
    const response = await own.fetch(jsonRequest(`${BASE}/agents/mock/a2a`, rpcSend('hello')));
    expect(await response.json()).toMatchObject({ result: { task: { id: 'task-1' } } });
    expect((await own.fetch(new Request(`${BASE}/api/parley/v1/tasks`))).status).toBe(400);
    await own.close();
  });
});

describe('routes', () => {
  it('respond with 405 and the allowed methods', async () => {
    const wrong = (path: string, method: string): Promise<Response> => handler.fetch(new Request(`${BASE}${path}`, { method }));
    expect((await wrong('/a2a', 'GET')).headers.get('allow')).toBe('POST');
    expect((await wrong('/', 'DELETE')).headers.get('allow')).toBe('POST, GET, HEAD');
    expect((await wrong('/healthz', 'POST')).headers.get('allow')).toBe('GET, HEAD');
    expect((await wrong('/.well-known/agent.json', 'PUT')).status).toBe(405);
    expect((await wrong('/tasks', 'PUT')).status).toBe(405);
    expect((await wrong('/message:send', 'GET')).headers.get('allow')).toBe('POST');
  });

  it('respond with 404 in JSON, with at most 100 characters of the path', async () => {
    const response = await get(`/${'x'.repeat(500)}`);
    expect(response.status).toBe(404);
    const { error } = (await response.json()) as { error: { message: string; status: string } };
    expect([error.status, error.message.length < 150]).toEqual(['NOT_FOUND', true]);
  });

  it('are public only if this list contains them', () => {
    const named = ROUTES.filter((route) => route.access === 'public').map((route) => route.name);
    const GRPC_OPERATORS = ['grpc-operators', 'grpc-operators', 'grpc-operators']; // health checks and two reflections
    expect(named).toEqual(['card', 'catalog', 'ard', 'ard', 'keys', ...GRPC_OPERATORS, 'welcome', 'console', 'docs', 'health', 'ready']);
  });

  it('respond to HEAD like GET, without a body', async () => {
    for (const path of ['/', '/.well-known/agent-card.json', '/.well-known/ai-catalog.json', '/healthz', '/tasks']) {
      const response = await handler.fetch(new Request(`${BASE}${path}`, { method: 'HEAD' }));
      expect([path, response.status, await response.text()]).toEqual([path, 200, '']);
    }
  });
});

describe('the front page', () => {
  it('explains how to use the node', async () => {
    const response = await get('/', { Accept: 'text/html' });
    expect(response.headers.get('content-type')).toContain('text/plain');
    const words = await response.text();
    expect(words).toContain(`curl ${BASE}/message:send`);
    expect(words).toMatch(/script .*\n {2}echo /);
    expect(response.headers.get('link')).toContain('rel="ai-catalog"');
  });

  it('redirects browsers to the console if there is one', async () => {
    const own = handlerOf({ console: (path) => ({ status: 200, headers: {}, body: `file ${path}` }) });
    const visit = (path: string, accept: string): Promise<Response> =>
      own.fetch(new Request(`${BASE}${path}`, { headers: { Accept: accept }, redirect: 'manual' }));
    expect((await visit('/', 'text/html,*/*')).headers.get('location')).toBe('/console/');
    expect((await visit('/', '*/*')).status).toBe(200);
    expect(await (await visit('/console/app.js', '*/*')).text()).toBe('file /console/app.js');
    await own.close();
    expect((await get('/console/')).status).toBe(404);
  });
});

describe('health', () => {
  it('is ready after the start and not during shutdown', async () => {
    const own = handlerOf();
    const status = async (path: string): Promise<number> => (await own.fetch(new Request(`${BASE}${path}`))).status;
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 200]);
    await own.close();
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 503]);
    expect((await own.fetch(jsonRequest(`${BASE}/a2a`, rpcSend('x')))).status).toBe(503);
  });
});
