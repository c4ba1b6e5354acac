import { describe, expect, it } from 'vitest';
import { jsonRpcLink, restLink, serveJsonRpc, serveRest } from '#bindings';
import type { A2AService, JsonObject, Logged } from '#protocol';
import { A2AError, createRegistry, DIALECTS, foldEvent, isA2AError, taskId, tenantId, translate } from '#protocol';
import { callContext, collectEvents, dialectOf, errorOf, userMessage } from '../support/calls.ts';
import { countingEnv } from '../support/env.ts';
import { memoryService } from '../support/memory-service.ts';
import { rpc, v10Message } from '../support/posts.ts';

const ctx = callContext();
const DEEP = 20_000;
const deep = (): JsonObject => JSON.parse(`${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`);
const post = (path: string, body: unknown): Request =>
  new Request(`http://agent.example${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('a link to HTTP+JSON', () => {
  const urls: string[] = [];
  const link = restLink({
    url: 'http://agent.example/agents/echo',
    dialect: dialectOf('v10'),
    fetch: async ({ url }) => {
      urls.push(url);
      return Response.json({});
    },
  });

  it.each(['.', '..', '\ud800'])('stays at its address for an id or a tenant of %j', async (name) => {
    const id = taskId(name);
    const tenant = tenantId(name);
    for (const call of [link.get({ id }, ctx), link.list({ tenant }, ctx), link.send({ tenant, message: userMessage('x') }, ctx)])
      expect(await errorOf(call)).toMatchObject({ kind: 'INVALID_PARAMS', details: { field: expect.stringMatching(/^(id|tenant)$/) } });
    expect(urls).toEqual([]);
  });
});

describe('an error whose details can’t be written', () => {
  const failing = (kind: 'get' | 'stream'): A2AService => {
    const error = new A2AError('UNAVAILABLE', 'later', { data: deep() });
    const stream = async function* (): AsyncGenerator<readonly Logged[]> {
      yield [{ event: { task: { id: taskId('t1'), status: { state: 'TASK_STATE_WORKING' } } } }];
      throw error;
    };
    return { ...memoryService(), ...(kind === 'get' ? { get: () => Promise.reject(error) } : { stream }) };
  };

  it.each(DIALECTS.filter(({ methods }) => methods.get !== undefined))('is written without them in $title', async (dialect) => {
    const response = await serveJsonRpc(post('/', rpc(dialect.methods.get ?? '', { id: 't1' })), failing('get'), { dialect });
    expect(await response.json()).toMatchObject({ id: 1, error: { code: expect.any(Number) } });
  });

  it.each(DIALECTS.filter(({ rest }) => rest !== undefined))('is written without them over HTTP in $title', async (dialect) => {
    const path = dialect.rest?.routes.find(({ operation }) => operation === 'get')?.path.replace('{id}', 't1');
    const response = await serveRest(new Request(`http://agent.example${path}`), failing('get'), { dialect });
    expect(response.status).toBe(503);
  });

  it('ends a stream like any other error', async () => {
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] };
    const response = await serveJsonRpc(post('/a2a', rpc('message/stream', { message })), failing('stream'));
    expect(await response.text()).toMatch(/event: error\ndata: \{"jsonrpc":"2.0","id":1,"error":\{"code":-31503,"message":"later"/);
  });
});

describe('an error from a peer', () => {
  const told = async (error: string): Promise<A2AError> => {
    const fetch = async (): Promise<Response> =>
      new Response(`data: {"jsonrpc":"2.0","id":1,"error":${error}}\n\n`, { headers: { 'Content-Type': 'text/event-stream' } });
    const link = jsonRpcLink({ url: 'http://agent.example', dialect: dialectOf('v10'), fetch });
    return await errorOf(collectEvents(link.stream({ message: userMessage('x') }, ctx)));
  };

  it('keeps only data that can be written again', async () => {
    expect((await told('{"code":-32001,"message":"x","data":{"a":[1]}}')).details.data).toEqual({ a: [1] });
    for (const data of [`{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`, '{"a":1e999}', '{"a":{"__proto__":1}}'])
      expect(await told(`{"code":-32001,"message":"x","data":${data}}`)).toMatchObject({ kind: 'TASK_NOT_FOUND', details: {} });
  });

  it.each([
    ['"1.5s"', 1500],
    ['"soon"', undefined],
    ['"-1s"', undefined],
    ['"1e999s"', undefined],
  ])('that says to come back in %s', async (delay, retryAfterMs) => {
    const retry = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":${delay}}`;
    expect((await told(`{"code":-32603,"message":"x","data":[${retry}]}`)).details.retryAfterMs).toBe(retryAfterMs);
  });
});

describe('a service whose iterator can’t be closed', () => {
  const unclosable = (close: () => unknown, broken: boolean): A2AService => {
    let count = 0;
    const next = async (): Promise<IteratorResult<readonly Logged[]>> => {
      count += 1;
      if (count > 1 && broken) throw new Error('inside');
      return { done: false, value: [{ event: { task: { id: taskId('t1'), status: { state: 'TASK_STATE_WORKING' } } } }] };
    };
    const iterator = { next, return: close } as unknown as AsyncIterator<readonly Logged[]>;
    return { ...memoryService(), stream: () => ({ [Symbol.asyncIterator]: () => iterator }) };
  };
  const CLOSINGS: readonly (readonly [string, () => unknown])[] = [
    [
      'throws',
      () => {
        throw new Error('return');
      },
    ],
    ['rejects', () => Promise.reject(new Error('return'))],
    ['answers no promise', () => undefined],
  ];

  it.each(CLOSINGS)('because it %s ends like any other service', async (_, close) => {
    const request = (): Request => post('/a2a', rpc('SendStreamingMessage', v10Message('x')));
    const broken = await serveJsonRpc(request(), unclosable(close, true));
    expect(await broken.text()).toContain('event: error');
    const left = await serveJsonRpc(request(), unclosable(close, false));
    await expect(left.body?.cancel()).resolves.toBeUndefined();
  });
});

describe('keepAliveMs', () => {
  it.each([0, Number.POSITIVE_INFINITY])('of %s sends no keep-alives', async (keepAliveMs) => {
    const slow = async function* (): AsyncGenerator<readonly Logged[]> {
      yield [{ event: { task: { id: taskId('t1'), status: { state: 'TASK_STATE_WORKING' } } } }];
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const service = { ...memoryService(), stream: slow };
    const response = await serveJsonRpc(post('/a2a', rpc('SendStreamingMessage', v10Message('x'))), service, { keepAliveMs });
    expect(await response.text()).not.toContain('keep-alive');
  });
});

describe('translate', () => {
  const options = { registry: createRegistry(DIALECTS), env: countingEnv(), to: dialectOf('v10') };

  it('refuses documents of any kind that are nested too deep', () => {
    for (const kind of [undefined, 'request', 'response', 'event', 'card'] as const) {
      try {
        translate({ jsonrpc: '2.0', id: 1, result: deep() }, kind === undefined ? options : { ...options, kind });
        expect.unreachable();
      } catch (thrown) {
        expect(isA2AError(thrown) && thrown.message).toBe('the document is nested deeper than 64');
      }
    }
  });

  it('accepts a task with thousands of artifacts, which some dialects stream as one frame each', () => {
    const artifacts = Array.from({ length: 5_000 }, (_, at) => ({ artifactId: `a${at}`, parts: [{ kind: 'text', text: 'x' }] }));
    const task = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' }, artifacts };
    expect(translate(task, options)).toMatchObject({ from: { id: 'v03' }, kind: 'response', lost: [] });
  });
});

describe('a stream that starts with anything but a task', () => {
  it('folds into a typed error', () => {
    expect(() => foldEvent(undefined, { message: userMessage('x') })).toThrow(expect.objectContaining({ kind: 'INVALID_AGENT_RESPONSE' }));
  });
});
