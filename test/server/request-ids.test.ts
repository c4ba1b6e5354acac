import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#server';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { raw, rpcSend, sendBody, startServer } from '../support/server.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const traced = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, 'X-Request-Id': 'req-1' };
const MADE = /^[\w-]{36}-\d+$/;

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}
const lines: Line[] = [];
const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line) as Line) });

let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ log });
});
afterAll(() => server.close());

const posted = (path: string, body: unknown, headers: object = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** The headers of a response over HTTP/2. */
async function overHttp2(headers: Record<string, string>, body: Uint8Array = new Uint8Array()): Promise<Record<string, unknown>> {
  const session = connectHttp2(server.url);
  const stream = session.request(headers);
  const head = new Promise<Record<string, unknown>>((resolve, reject) => stream.once('response', resolve).once('error', reject));
  if (body.length > 0) stream.end(body);
  stream.resume();
  const found = await head;
  session.close();
  return found;
}

describe('X-Request-Id', () => {
  const cases: readonly [string, () => Promise<Response>][] = [
    ['HTTP+JSON', () => posted('/message:send', sendBody('chunks=1'))],
    ['a stream', () => posted('/message:stream', sendBody('chunks=1'))],
    ['JSON-RPC', () => posted('/a2a', rpcSend('chunks=1'))],
    ['an error of JSON-RPC', () => posted('/a2a', { jsonrpc: '2.0', id: 1, method: 'nothing' })],
    ['0.3', () => posted('/a2a', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'none' } })],
    ['AG-UI', () => posted('/ag-ui', {})],
    ['OpenAI', () => posted('/v1/chat/completions', {})],
    ['Connect', () => posted('/lf.a2a.v1.A2AService/SendMessage', sendBody('chunks=1'), { 'Connect-Protocol-Version': '1' })],
    ['an unknown method of Connect', () => posted('/lf.a2a.v1.A2AService/Nothing', {}, { 'Connect-Protocol-Version': '1' })],
    ['a task that is not there', () => fetch(`${server.url}/tasks/none`)],
    ['a wrong path', () => fetch(`${server.url}/nothing/here`)],
    ['a wrong method', () => fetch(`${server.url}/healthz`, { method: 'DELETE' })],
    ['a wrong type', () => fetch(`${server.url}/a2a`, { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' })],
    ['a card', () => fetch(`${server.url}/.well-known/agent-card.json`)],
    ['metrics', () => fetch(`${server.url}/metrics`)],
  ];
  it.each(cases)('is in the response: %s', async (_, call) => {
    const response = await call();
    await response.text();
    expect(response.headers.get('x-request-id')).toMatch(MADE);
  });

  it('is in the metadata of gRPC, of calls and of errors, and in responses over HTTP/2', async () => {
    const grpc = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers', 'x-request-id': 'grpc.1' };
    const frame = Uint8Array.of(0, 0, 0, 0, 0);
    expect((await overHttp2({ ...grpc, ':path': '/lf.a2a.v1.A2AService/ListTasks' }, frame))['x-request-id']).toBe('grpc.1');
    expect((await overHttp2({ ...grpc, ':path': '/lf.a2a.v1.A2AService/GetTask' }, frame))['x-request-id']).toBe('grpc.1');
    expect((await overHttp2({ ...grpc, ':path': '/lf.a2a.v1.A2AService/Nothing' }, frame))['x-request-id']).toBe('grpc.1');
    expect((await overHttp2({ ':path': '/healthz' }))['x-request-id']).toMatch(MADE);
  });

  it('is in the response to a head that is refused, and to bytes that are no request', async () => {
    expect((await raw(server.port, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')).text).toMatch(/\r\nX-Request-Id: \S+\r\n/i);
    expect((await raw(server.port, 'GET / HTTP/9.9\r\n\r\n')).text).toMatch(/\r\nX-Request-Id: \S+\r\n/i);
  });

  it('is the caller’s if that is valid', async () => {
    const idFor = async (id: string): Promise<string | null> =>
      (await fetch(`${server.url}/healthz`, { headers: { 'X-Request-Id': id } })).headers.get('x-request-id');
    expect(await idFor('a1:b2/c3=')).toBe('a1:b2/c3=');
    for (const wrong of ['with space', '<script>', 'x'.repeat(129)]) expect(await idFor(wrong)).toMatch(MADE);
  });
});

describe('log lines', () => {
  const find = async (message: string, request: string): Promise<Line> => {
    await eventually(() => lines.some((line) => line.message === message && line['request'] === request));
    return lines.find((line) => line.message === message && line['request'] === request) as Line;
  };

  it('about requests, calls and tasks name request, task, context, caller, agent and trace', async () => {
    const response = await posted('/message:send', sendBody('fail'), traced);
    const { task } = (await response.json()) as { task: { id: string; contextId: string } };
    const about = { request: 'req-1', caller: 'local', agent: 'script', trace: TRACE };
    expect(await find('request', 'req-1')).toMatchObject({ ...about, method: 'POST', path: '/message:send', status: 200 });
    expect(await find('call', 'req-1')).toMatchObject({
      ...about,
      task: task.id,
      context: task.contextId,
      operation: 'send',
      state: 'TASK_STATE_FAILED',
    });
    const failed = await find('a task failed', 'req-1');
    expect(failed).toMatchObject({ ...about, level: 'warn', task: task.id, context: task.contextId });
    expect(failed['reason']).toEqual(expect.any(String));
  });

  it('about calls over gRPC have the same members', async () => {
    const path = '/lf.a2a.v1.A2AService/ListTasks';
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', 'x-request-id': 'grpc.2' };
    await overHttp2({ ...head, traceparent: traced.traceparent }, Uint8Array.of(0, 0, 0, 0, 0));
    const about = { request: 'grpc.2', caller: 'local', agent: 'script', trace: TRACE };
    expect(await find('request', 'grpc.2')).toMatchObject({ ...about, method: 'POST', path, status: 'grpc OK' });
    expect(await find('call', 'grpc.2')).toMatchObject({ ...about, operation: 'list' });
  });

  it('about an agent that throws have the cause', async () => {
    await (await posted('/message:send', sendBody('crash'), { ...traced, 'X-Request-Id': 'req-2' })).text();
    const line = await find('agent script failed', 'req-2');
    expect(line).toMatchObject({ level: 'error', task: expect.any(String), context: expect.any(String), trace: TRACE });
    expect(line['cause']).toMatchObject({ stack: expect.stringContaining('script') });
  });

  it('tell of start, ready, drain and stop, with the counts of recovery', async () => {
    const own: Line[] = [];
    const node = await startServer({ log: createLog({ write: (line) => void own.push(JSON.parse(line) as Line) }) });
    await node.close();
    expect(own.map(({ level, message }) => `${level} ${message.split(':')[0]}`)).toEqual([
      'info the node starts',
      'info the node is ready',
      'info the node drains',
      'info the node has stopped',
    ]);
    expect(own[1]).toMatchObject({ url: node.url, ms: expect.any(Number), waiting: 0, started: 0, ended: 0 });
  });
});
