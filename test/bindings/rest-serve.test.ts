import { describe, expect, it } from 'vitest';
import type { BindingServeOptions } from '#bindings';
import { hasRestRoute, serveRest } from '#bindings';
import type { Dialect } from '#protocol';
import { createRegistry, dialectId } from '#protocol';
import { callContext, dialectOf, registry, userMessage } from '../support/calls.ts';
import { CARD } from '../support/card.ts';
import type { MemoryService } from '../support/memory-service.ts';
import { memoryService } from '../support/memory-service.ts';
import { v10Message } from '../support/posts.ts';

const v10 = dialectOf('v10');

interface Asked extends BindingServeOptions {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function ask(
  service: MemoryService,
  [verb, path]: readonly [string, string],
  { headers = {}, body, ...options }: Asked = {},
): Promise<Response> {
  const request = new Request(`http://agent.example${path}`, { method: verb, headers, ...(body === undefined ? {} : { body }) });
  return await serveRest(request, service, options);
}

async function withTask(text = 'x'): Promise<MemoryService> {
  const service = memoryService(CARD);
  await service.send({ message: userMessage(text), configuration: { returnImmediately: true } }, callContext());
  service.seen.length = 0;
  return service;
}

const JSON_BODY = { headers: { 'Content-Type': 'application/json' } };

describe('routes', () => {
  const routes: readonly (readonly [verb: string, path: string, operation: string, request: object])[] = [
    ['GET', '/tasks/task-1', 'get', { id: 'task-1' }],
    ['GET', '/tasks/task-1/', 'get', { id: 'task-1' }],
    ['GET', '/tasks/task-1?historyLength=3&history_length=9', 'get', { id: 'task-1', historyLength: 3 }],
    ['GET', '/tasks/task-1?id=other', 'get', { id: 'task-1' }],
    ['GET', '/tasks/a%2Fb%20c%3Acancel', 'get', { id: 'a/b c:cancel' }],
    ['GET', '/tasks/a:b', 'get', { id: 'a:b' }],
    ['GET', '/tasks/tasks', 'get', { id: 'tasks' }],
    ['GET', '/tasks/message:send', 'get', { id: 'message:send' }],
    ['GET', '/tasks', 'list', {}],
    [
      'GET',
      '/tasks?contextId=c&status=TASK_STATE_WORKING&pageSize=20&includeArtifacts=false&statusTimestampAfter=2026-01-01T00%3A00%3A00Z',
      'list',
      { contextId: 'c', status: 'TASK_STATE_WORKING', pageSize: 20, includeArtifacts: false, statusTimestampAfter: '2026-01-01T00:00:00Z' },
    ],
    ['POST', '/tasks/task-1:cancel', 'cancel', { id: 'task-1' }],
    ['POST', '/tasks/a:cancel:cancel', 'cancel', { id: 'a:cancel' }],
    ['POST', '/tasks/task-1:subscribe', 'subscribe', { id: 'task-1' }],
    ['GET', '/tasks/task-1:subscribe', 'subscribe', { id: 'task-1' }],
    ['GET', '/tasks/task-1/pushNotificationConfigs', 'push.list', { taskId: 'task-1' }],
    ['GET', '/tasks/task-1/pushNotificationConfigs/p%2F1', 'push.get', { taskId: 'task-1', id: 'p/1' }],
    ['DELETE', '/tasks/task-1/pushNotificationConfigs/p1', 'push.delete', { taskId: 'task-1', id: 'p1' }],
    ['GET', '/extendedAgentCard', 'extendedCard', {}],
    ['GET', '/acme/tasks/task-1', 'get', { id: 'task-1', tenant: 'acme' }],
    ['GET', '/acme/tasks', 'list', { tenant: 'acme' }],
    ['GET', '/a%2Fb/tasks', 'list', { tenant: 'a/b' }],
    ['GET', '/acme/tasks?tenant=other', 'list', { tenant: 'acme' }],
    ['GET', '/tasks?tenant=other', 'list', { tenant: 'other' }],
    ['POST', '/acme/tasks/task-1:cancel', 'cancel', { id: 'task-1', tenant: 'acme' }],
    ['GET', '/message:send/tasks', 'list', { tenant: 'message:send' }],
    ['GET', '/acme/extendedAgentCard', 'extendedCard', { tenant: 'acme' }],
  ];
  for (const [verb, path, operation, request] of routes) {
    it(`${verb} ${path} is ${operation}`, async () => {
      const service = await withTask();
      const response = await ask(service, [verb, path]);
      await response.body?.cancel();
      expect(service.seen.map((seen) => [seen.operation, seen.request])).toEqual([[operation, request]]);
    });
  }

  it('POST /message:send prefers the tenant in its path to the one in its body', async () => {
    const service = await withTask();
    const body = JSON.stringify({ ...v10Message('x'), tenant: 'other' });
    const answer = await ask(service, ['POST', '/acme/message:send'], { ...JSON_BODY, body });
    expect(await answer.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(service.seen[0]?.request).toMatchObject({ tenant: 'acme' });
  });

  it('POST …/pushNotificationConfigs uses the task in its path', async () => {
    const service = await withTask();
    const body = JSON.stringify({ url: 'https://hook.example', taskId: 'other' });
    const answer = await ask(service, ['POST', '/tasks/task-1/pushNotificationConfigs'], { ...JSON_BODY, body });
    expect([answer.status, await answer.json()]).toEqual([200, { url: 'https://hook.example', taskId: 'task-1', id: 'push-1' }]);
  });

  const wrong: readonly (readonly [verb: string, path: string, allow: string])[] = [
    ['GET', '/message:send', 'POST'],
    ['PUT', '/tasks/task-1', 'GET'],
    ['GET', '/tasks/task-1:cancel', 'POST'],
    ['DELETE', '/tasks/task-1:subscribe', 'POST, GET'],
    ['HEAD', '/tasks/task-1:subscribe', 'POST, GET'],
    ['PATCH', '/tasks/task-1/pushNotificationConfigs', 'POST, GET'],
    ['POST', '/tasks/task-1/pushNotificationConfigs/p1', 'GET, DELETE'],
    ['POST', '/acme/tasks', 'GET'],
  ];
  for (const [verb, path, allow] of wrong) {
    it(`${verb} ${path} is not allowed`, async () => {
      const service = await withTask();
      const response = await ask(service, [verb, path]);
      expect([response.status, response.headers.get('allow'), service.seen]).toEqual([405, allow, []]);
    });
  }

  it('HEAD is GET without a body', async () => {
    const response = await ask(await withTask(), ['HEAD', '/tasks/task-1']);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'application/json', '']);
  });

  it('are known to a host beforehand', () => {
    for (const path of ['/message:send', '/tasks', '/tasks/x:cancel', '/acme/tasks/x', '/extendedAgentCard'])
      expect(hasRestRoute(path), path).toBe(true);
    expect(hasRestRoute('/tasks/')).toBe(true);
    expect(hasRestRoute('/agents/echo/tasks', { basePath: '/agents/echo' })).toBe(true);
    for (const path of ['/%zz', '/%zz/console', '/', '/a2a', '/a2a/jsonrpc', '/healthz', '/console/x'])
      expect(hasRestRoute(path), path).toBe(false);
  });

  it('are found below a base path', async () => {
    const service = await withTask();
    await ask(service, ['GET', '/agents/echo/tasks/task-1'], { basePath: '/agents/echo' });
    expect(service.seen[0]?.request).toEqual({ id: 'task-1' });
  });
});

describe('bodies', () => {
  for (const [name, more] of Object.entries({
    'no body and no type': {},
    'no body with a type': JSON_BODY,
    'an empty body': { ...JSON_BODY, body: '' },
    null: { ...JSON_BODY, body: 'null' },
    'an empty object': { ...JSON_BODY, body: '{}' },
    'application/a2a+json': { headers: { 'Content-Type': 'application/a2a+json; charset=utf-8' }, body: '{}' },
  })) {
    it(`:cancel accepts ${name}`, async () => {
      const service = await withTask('hang');
      const response = await ask(service, ['POST', '/tasks/task-1:cancel'], more);
      expect(await response.json()).toMatchObject({ id: 'task-1', status: { state: 'TASK_STATE_CANCELED' } });
    });
  }

  it(':cancel accepts metadata', async () => {
    const service = await withTask('hang');
    await ask(service, ['POST', '/tasks/task-1:cancel'], { ...JSON_BODY, body: '{"metadata":{"why":"enough"},"id":"other"}' });
    expect(service.seen[0]?.request).toEqual({ id: 'task-1', metadata: { why: 'enough' } });
  });

  it('refuses a body without Content-Type', async () => {
    const service = await withTask('hang');
    const blob = new Request('http://agent.example/tasks/task-1:cancel', { method: 'POST', body: new Blob(['{}']) });
    expect([(await serveRest(blob, service)).status, service.seen]).toEqual([415, []]);
  });
});

describe('media types', () => {
  const accepts: readonly (readonly [accept: string | undefined, type: string])[] = [
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/a2a+json', 'application/a2a+json'],
    ['application/a2a+json, application/json', 'application/a2a+json'],
    ['application/json, application/a2a+json', 'application/json'],
    ['application/a2a+json;q=0.5, application/json', 'application/json'],
    ['application/json;q=0.5, application/a2a+json;q=0.9', 'application/a2a+json'],
    ['application/a2a+json;q=0', 'application/json'],
    ['text/html, nonsense;;q=', 'application/json'],
  ];
  for (const [accept, type] of accepts) {
    it(`Accept ${accept ?? 'absent'} is answered in ${type}`, async () => {
      const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
      for (const path of ['/tasks/task-1', '/tasks/nobody']) {
        expect((await ask(await withTask(), ['GET', path], { headers })).headers.get('content-type')).toBe(type);
      }
    });
  }
});

describe('answers', () => {
  it('delete returns {}', async () => {
    const response = await ask(await withTask(), ['DELETE', '/tasks/task-1/pushNotificationConfigs/p1']);
    expect([response.status, await response.text()]).toEqual([200, '{}']);
  });

  it('an empty page is complete', async () => {
    const response = await ask(memoryService(), ['GET', '/tasks']);
    expect(await response.json()).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
  });

  it('errors have the form of A2A 1.0.1 §11.6', async () => {
    const response = await ask(await withTask(), ['GET', '/tasks/nobody']);
    const { error } = (await response.json()) as { error: { details: object[] } };
    expect(error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
    expect(error.details[0]).toMatchObject({ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org', metadata: { taskId: 'nobody' } });
  });

  it('a wrong content type has 415 in its body too', async () => {
    const response = await ask(await withTask(), ['POST', '/message:send'], { headers: { 'Content-Type': 'text/plain' }, body: 'x' });
    expect([response.status, await response.json()]).toMatchObject([
      415,
      { error: { code: 415, details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] } },
    ]);
  });
});

describe('versions', () => {
  /** A dialect whose paths start with `/v1`, like 0.3. */
  const old: Dialect = {
    ...v10,
    id: dialectId('old'),
    wire: { ...v10.wire, versionHeader: undefined },
    rest: {
      ...(v10.rest as NonNullable<Dialect['rest']>),
      tenants: false,
      routes: (v10.rest?.routes ?? []).map((route) => ({ ...route, path: `/v1${route.path}` })),
    },
  };
  const both = createRegistry([v10, old]);
  const cases: readonly (readonly [path: string, version: string | undefined, dialect: string | number, tenant: string | undefined])[] = [
    ['/tasks', undefined, 'v10', undefined],
    ['/v1/tasks', undefined, 'old', undefined],
    ['/v1/tasks', '0.3', 'old', undefined],
    ['/v1/tasks', '1.0', 'v10', 'v1'],
    ['/v2/tasks', undefined, 'v10', 'v2'],
    ['/tasks', '0.3', 400, undefined],
    ['/tasks', '99.0', 400, undefined],
    ['/v1/tasks', '99.0', 400, undefined],
  ];
  for (const [path, version, dialect, tenant] of cases) {
    it(`${path} with ${version ?? 'no version'} is ${dialect === 400 ? 'refused' : dialect}`, async () => {
      const service = await withTask();
      const headers: Record<string, string> = version === undefined ? {} : { 'A2A-Version': version };
      const response = await ask(service, ['GET', path], { headers, registry: both });
      if (dialect === 400) {
        expect(response.status).toBe(400);
        expect(JSON.stringify(await response.json())).toContain('VERSION_NOT_SUPPORTED');
      } else {
        expect(service.seen[0]?.ctx.dialect).toBe(dialect);
        expect(service.seen[0]?.request).toEqual(tenant === undefined ? {} : { tenant });
      }
    });
  }

  it('?dialect= chooses', async () => {
    const service = await withTask();
    await ask(service, ['GET', '/tasks?dialect=v10.generation'], { registry });
    expect(service.seen[0]?.ctx.dialect).toBe('v10.generation');
    expect((await ask(service, ['GET', '/tasks?dialect=nonsense'], { registry })).status).toBe(400);
  });
});
