import { describe, expect, it } from 'vitest';
import { jsonRpcLink, serveJsonRpc } from '#bindings';
import { callContext, dialectOf, userMessage } from '../support/calls.ts';
import { memoryService } from '../support/memory-service.ts';
import { post, postRaw } from '../support/posts.ts';

/** Society's own server tests, put to us as bytes (dialects.md §6, S1): same words, same codes, same order. */
const params = { id: 't1', message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } };
const request = { jsonrpc: '2.0', id: 't1', method: 'tasks/send', params };

describe('what Society refuses, on /', () => {
  const cases: readonly (readonly [string, unknown, number, string])[] = [
    ['not JSON', '{"jsonrpc":', -32700, 'parse error'],
    ['another jsonrpc', { ...request, jsonrpc: '1.0' }, -32600, 'invalid request: jsonrpc must be "2.0"'],
    ['no jsonrpc', { ...request, jsonrpc: undefined }, -32600, 'invalid request: jsonrpc must be "2.0"'],
    ['no method', { ...request, method: undefined }, -32600, 'invalid request: method is required'],
    ['an empty method', { ...request, method: '' }, -32600, 'invalid request: method is required'],
    ['no id', { ...request, id: undefined }, -32600, 'invalid request: id is required'],
    ['id null', { ...request, id: null }, -32600, 'invalid request: id is required'],
    ['nothing right', { method: '' }, -32600, 'invalid request: jsonrpc must be "2.0"'],
    ['another method', { ...request, method: 'unknown/method' }, -32601, 'method not found: unknown/method'],
    ['no params', { ...request, params: undefined }, -32602, 'invalid params: task id is required'],
    ['no task id', { ...request, params: { message: params.message } }, -32602, 'invalid params: task id is required'],
    [
      'an agent’s message',
      { ...request, params: { id: 't1', message: { ...params.message, role: 'agent' } } },
      -32602,
      'invalid params: message role must be "user"',
    ],
    [
      'no parts',
      { ...request, params: { id: 't1', message: { role: 'user', parts: [] } } },
      -32602,
      'invalid params: message must have at least one part',
    ],
    [
      'a part without a type',
      { ...request, params: { id: 't1', message: { role: 'user', parts: [params.message.parts[0], { text: 'x' }] } } },
      -32602,
      'invalid params: part[1] type is required',
    ],
  ];
  it.each(cases)('%s', async (_, envelope, code, message) => {
    const { status, body } = await post(envelope, { path: '/' });
    expect({ status, error: body.error }).toEqual({ status: 200, error: { code, message } });
  });

  it('a body of one byte more than a mebibyte, with 413', async () => {
    const padded = JSON.stringify(request).padEnd(1_048_577, ' ');
    const response = await postRaw(padded, { path: '/' });
    expect([response.status, await response.json()]).toEqual([
      413,
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'request body too large' } },
    ]);
    expect((await postRaw(padded.slice(0, -1), { path: '/' })).status).toBe(200);
  });

  it('an agent that throws, without what it said', async () => {
    const service = { ...memoryService(), send: () => Promise.reject(new Error('secret')) };
    const { status, body } = await post(request, { path: '/', service });
    expect([status, body.error]).toEqual([200, { code: -32603, message: 'handler error: Internal error' }]);
  });
});

describe('what Society is answered', () => {
  it.each(['t1', 'other', 7, 0, ''])('echoes the id %j of the envelope; the task has the name of the thread', async (id) => {
    const { status, body } = await post({ ...request, id }, { path: '/' });
    expect([status, body.id]).toEqual([200, id]);
    expect(body.result).toMatchObject({ id: 't1', status: { state: 'completed' } });
  });

  it('never an object for a message', async () => {
    for (const text of ['hi', 'ask', 'auth', 'fail', 'reject', 'message']) {
      const message = { role: 'user', parts: [{ type: 'text', text }] };
      const { body } = await post({ ...request, params: { id: 't1', message } }, { path: '/' });
      const { status } = body.result as { status: { state: string; message?: unknown } };
      expect(['submitted', 'working', 'completed', 'failed', 'cancelled']).toContain(status.state);
      expect(['string', 'undefined']).toContain(typeof status.message);
    }
  });
});

it('calls Society with one id for the envelope and the thread', async () => {
  const seen: unknown[] = [];
  const service = memoryService();
  const link = jsonRpcLink({
    url: 'http://agent.example/',
    dialect: dialectOf('society'),
    fetch: async (call) => {
      seen.push(await call.clone().json());
      return await serveJsonRpc(call, service);
    },
  });
  await link.send({ message: userMessage('hi'), alias: 'thread-9' as never }, callContext());
  expect(seen).toMatchObject([{ id: 'thread-9', params: { id: 'thread-9' } }]);
});
