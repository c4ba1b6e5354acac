import { describe, expect, it } from 'vitest';
import { serveJsonRpc } from '#bindings';
import { memoryService } from '../support/memory-service.ts';
import { post, postRaw, rpc, v10Message } from '../support/posts.ts';

/** What the products' own tests check (docs/dialects/), as raw exchanges with a server that speaks every dialect. */
describe('Society on /', () => {
  const params = (more: object = {}): object => ({ id: 't1', message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] }, ...more });
  const said = (more: object): object => params({ message: { role: 'user', parts: [{ type: 'text', text: 'hi' }], ...more } });

  it('echoes, under the thread’s id', async () => {
    const service = memoryService();
    const { status, body } = await post(rpc('tasks/send', params(), 't1'), { path: '/', service });
    expect([status, body.id, body.result]).toEqual([
      200,
      't1',
      { id: 't1', status: { state: 'completed' }, artifacts: [{ name: 'response', parts: [{ type: 'text', text: 'chunk 1' }] }] },
    ]);
    expect((await post(rpc('tasks/send', params(), 't1'), { path: '/', service })).body.result).toMatchObject({ id: 't1' });
  });

  it('returns a failed task whose message is a string', async () => {
    const fails = params({ message: { role: 'user', parts: [{ type: 'text', text: 'fail' }] } });
    const { body } = await post(rpc('tasks/send', fails, 'ping'), { path: '/' });
    expect(body.result).toMatchObject({ status: { state: 'failed', message: 'it went wrong' } });
  });

  const refusals: readonly (readonly [name: string, body: unknown, code: number, message: string])[] = [
    ['not JSON', '{', -32700, 'parse error'],
    ['jsonrpc', { ...rpc('tasks/send', params()), jsonrpc: '1.0' }, -32600, 'invalid request: jsonrpc must be "2.0"'],
    ['no method', { jsonrpc: '2.0', id: 1, params: params() }, -32600, 'invalid request: method is required'],
    ['no id', { jsonrpc: '2.0', method: 'tasks/send', params: params() }, -32600, 'invalid request: id is required'],
    ['id null', rpc('tasks/send', params(), null), -32600, 'invalid request: id is required'],
    ['another method', rpc('tasks/frobnicate', params()), -32601, 'method not found: tasks/frobnicate'],
    ['no task id', rpc('tasks/send', params({ id: '' })), -32602, 'invalid params: task id is required'],
    ['another role', rpc('tasks/send', said({ role: 'agent' })), -32602, 'invalid params: message role must be "user"'],
    ['no parts', rpc('tasks/send', said({ parts: [] })), -32602, 'invalid params: message must have at least one part'],
    ['a part without type', rpc('tasks/send', said({ parts: [{ text: 'x' }] })), -32602, 'invalid params: part[0] type is required'],
  ];
  for (const [name, body, code, message] of refusals) {
    it(`refuses ${name}: ${message}`, async () => {
      const answered = await post(body, { path: '/' });
      expect([answered.status, answered.body.error]).toEqual([200, { code, message }]);
    });
  }

  it('refuses a body above 1 MiB', async () => {
    const { body } = await post('x'.repeat(1_048_577), { path: '/' });
    expect(body.error).toEqual({ code: -32700, message: 'request body too large' });
  });

  it('accepts POST only', async () => {
    const response = await serveJsonRpc(new Request('http://agent.example/'), memoryService());
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('Cortex', () => {
  const headers = { 'A2A-Version': '1.0' };
  const message = (text: string): object => ({
    message: { messageId: 'm', role: 'user', parts: [{ text }], metadata: { contextId: 'c' } },
  });

  for (const path of ['/a2a', '/api/a2a', '/api/a2a/']) {
    it(`gets a bare task on ${path}`, async () => {
      const answered = await post(rpc('SendMessage', message('hi'), 'u-1'), { path, headers });
      expect(answered.body).toMatchObject({ id: 'u-1', result: { status: { state: 'TASK_STATE_COMPLETED' } } });
      expect(answered.headers.get('a2a-version')).toBe('1.0');
    });
  }

  it('gets null for an unknown task, and 404 for an unknown method', async () => {
    for (const method of ['GetTask', 'CancelTask']) {
      const { body } = await post(rpc(method, { id: 'nobody' }), { path: '/api/a2a', headers });
      expect([body.error, body.result]).toEqual([undefined, null]);
    }
    const unknown = await post(rpc('Frobnicate', {}), { path: '/api/a2a', headers });
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, -32601]);
  });

  it('gets its task again at the end of a stream, then [DONE]', async () => {
    const body = JSON.stringify(rpc('SendStreamingMessage', message('chunks=2'), 'u-1'));
    const frames = (await (await postRaw(body, { path: '/api/a2a', headers })).text())
      .split('\n')
      .filter((line) => line.startsWith('data: '));
    expect(frames.at(-1)).toBe('data: [DONE]');
    const [first, last] = [frames[0], frames.at(-2)].map((line) => JSON.parse((line ?? '').slice(6)));
    expect(first).toMatchObject({ jsonrpc: '2.0', id: 'u-1', result: { task: {} } });
    expect(last).toMatchObject({ id: 'u-1', result: { task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{}] } } });
  });
});

describe('0.3 on /a2a/jsonrpc', () => {
  it('gets a 400 for bad JSON in its own form; 1.0 is detected by its header', async () => {
    const old = await post('{', { path: '/a2a/jsonrpc' });
    expect([old.status, old.body]).toEqual([400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Invalid JSON payload' } }]);
    const official = await post('{', { path: '/a2a/jsonrpc', headers: { 'A2A-Version': '1.0' } });
    expect([official.status, official.body.error?.code]).toEqual([200, -32700]);
    expect(official.body.error?.data).toMatchObject([{ reason: 'PARSE_ERROR' }]);
  });
});

describe('one server on /a2a', () => {
  it('answers get and cancel in the dialect that the task was made in', async () => {
    const service = memoryService();
    const plain = { message: { messageId: '', role: 'user', parts: [{ text: 'hi' }] } };
    const kinds = { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] } };
    const made = async (method: string, params: object): Promise<string> => {
      const { body } = await post(rpc(method, params), { service });
      const result = body.result as { id?: string; task?: { id: string } };
      return result.id ?? result.task?.id ?? '';
    };
    const promptkit = await made('message/send', { ...plain, configuration: { blocking: true } });
    const v03 = await made('message/send', kinds);
    const v10 = await made('SendMessage', v10Message('hi'));
    const seen = async (method: string, id: string): Promise<object> =>
      (await post(rpc(method, { id }), { service })).body.result as object;
    expect(await seen('tasks/get', v03)).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    expect(await seen('tasks/get', promptkit)).not.toHaveProperty('kind');
    expect(await seen('GetTask', v10)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    // The method wins over the task's dialect: names with slashes are not 1.0's.
    expect(await seen('GetTask', v03)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await seen('tasks/get', v10)).toMatchObject({ status: { state: 'completed' } });
  });
});
