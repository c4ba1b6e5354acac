import { describe, expect, it } from 'vitest';
import { jsonRpcLink, serveJsonRpc } from '#bindings';
import { callContext, dialectOf, userMessage } from '../support/calls.ts';
import { memoryService } from '../support/memory-service.ts';
import { post, postRaw } from '../support/posts.ts';

/** What Society's client and server expect of each other (docs/dialects/society.md); `products.test.ts` has the refusals. */
const params = { id: 't1', message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } };
const request = { jsonrpc: '2.0', id: 't1', method: 'tasks/send', params };

describe('Society on /', () => {
  it('checks the envelope in its order: jsonrpc, method, id', async () => {
    const words = async (envelope: object) => (await post(envelope, { path: '/' })).body.error?.message;
    expect(await words({ method: '' })).toBe('invalid request: jsonrpc must be "2.0"');
    expect(await words({ jsonrpc: '2.0', method: '' })).toBe('invalid request: method is required');
    expect(await words({ ...request, id: null, params: {} })).toBe('invalid request: id is required');
  });

  it('accepts 1 MiB and refuses a byte more with 413', async () => {
    const padded = JSON.stringify(request).padEnd(1_048_577, ' ');
    expect((await postRaw(padded, { path: '/' })).status).toBe(413);
    expect((await postRaw(padded.slice(0, -1), { path: '/' })).status).toBe(200);
  });

  it.each(['t1', 'other', 7, 0, ''])('echoes the id %j of the envelope; the task has the name of the thread', async (id) => {
    const { status, body } = await post({ ...request, id }, { path: '/' });
    expect([status, body.id]).toEqual([200, id]);
    expect(body.result).toMatchObject({ id: 't1', status: { state: 'completed' } });
  });

  it.each([
    ['ask', 'working'],
    ['auth', 'working'],
    ['fail', 'failed'],
    ['reject', 'failed'],
    ['message', 'completed'],
  ])('answers %s in a state that it has, with a string or nothing, and something to show', async (text, state) => {
    const message = { role: 'user', parts: [{ type: 'text', text }] };
    const { body } = await post({ ...request, params: { id: 't1', message } }, { path: '/' });
    const result = body.result as { status: { state: string; message?: unknown }; artifacts?: unknown[] };
    expect(result.status.state).toBe(state);
    expect(['string', 'undefined']).toContain(typeof result.status.message);
    // The client shows artifacts, or the message of a failure.
    expect(state === 'failed' ? result.status.message : result.artifacts?.length).toBeTruthy();
  });

  it('reports that an agent threw, but not the error', async () => {
    const service = { ...memoryService(), send: () => Promise.reject(new Error('secret')) };
    const { status, body } = await post(request, { path: '/', service });
    expect([status, body.error]).toEqual([200, { code: -32603, message: 'handler error: Internal error' }]);
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
  const { contextId: _, ...message } = userMessage('hi');
  await link.send({ message, alias: 'thread-9' as never }, callContext());
  expect(seen).toMatchObject([{ id: 'thread-9', params: { id: 'thread-9' } }]);
  // A context is a thread, whatever the task is called here.
  const result = await link.send({ message: { ...message, contextId: 'thread-9' as never }, alias: 'task-2' as never }, callContext());
  expect(seen[1]).toMatchObject({ id: 'thread-9', params: { id: 'thread-9' } });
  expect(result.task?.contextId).toBe('thread-9');
});
