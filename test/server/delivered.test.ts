import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Handler } from '#server';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { handlerOf, jsonRequest, opened, startServer } from '../support/server.ts';
import { rawStream } from '../support/sse.ts';

/**
 * A client that got no response repeats its send with the same message id, and the send must not run twice. After a delivered response the
 * same message id is a new send. So each host reports whether the response was delivered: by the socket on Node, by reading the body elsewhere.
 */
interface Wire {
  readonly path: string;
  readonly streamPath: string;
  body(id: string, text: string, method: 'send' | 'stream'): unknown;
}

const REST: Wire = {
  path: '/message:send',
  streamPath: '/message:stream',
  body: (messageId, text) => ({ message: { messageId, role: 'ROLE_USER', parts: [{ text }] } }),
};
const RPC_03: Wire = {
  path: '/a2a',
  streamPath: '/a2a',
  body: (messageId, text, method) => ({
    jsonrpc: '2.0',
    id: 1,
    method: `message/${method}`,
    params: { message: { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] } },
  }),
};

let count = 0;
const freshId = (): string => `delivered-${++count}`;

async function tasks(ask: (path: string) => Promise<Response>, id: string): Promise<number> {
  const { tasks: all } = (await (await ask('/tasks?pageSize=100&historyLength=1')).json()) as {
    tasks: { history?: { messageId: string }[] }[];
  };
  return all.filter(({ history }) => history?.[0]?.messageId === id).length;
}

const WIRES: readonly (readonly [string, Wire])[] = [
  ['HTTP+JSON 1.0', REST],
  ['JSON-RPC 0.3', RPC_03],
];

describe.each(WIRES)('on Node, over %s', (_, wire) => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  const ask = (path: string): Promise<Response> => fetch(`${server.url}${path}`);
  const made = (id: string): Promise<number> => tasks(ask, id);
  const whole = async (body: unknown, path = wire.path): Promise<void> => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    await (await fetch(`${server.url}${path}`, init)).text();
  };

  it('attaches a repeated send to the first task if the connection broke before the response, and creates a new task after it', async () => {
    const id = freshId();
    const body = wire.body(id, 'sleep=400', 'send');
    const socket = await opened(server.port);
    const json = JSON.stringify(body);
    socket.write(
      `POST ${wire.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    );
    await eventually(async () => (await made(id)) === 1);
    socket.resetAndDestroy();
    await whole(body);
    expect(await made(id)).toBe(1);
    await whole(body);
    expect(await made(id)).toBe(2);
  });

  it('does the same for a stream that broke off', async () => {
    const id = freshId();
    const body = wire.body(id, 'chunks=4 delay=100', 'stream');
    const stream = await rawStream(server.port, { path: wire.streamPath, body });
    await eventually(() => stream.text().includes('chunk 1'));
    stream.break();
    await whole(body, wire.streamPath);
    expect(await made(id)).toBe(1);
    await whole(body, wire.streamPath);
    expect(await made(id)).toBe(2);
  });
});

describe.each(WIRES)('by fetch, over %s', (_, wire) => {
  let handler: Handler;
  beforeAll(() => {
    handler = handlerOf();
  });
  afterAll(() => handler.close());

  const made = (id: string): Promise<number> => tasks((path) => handler.fetch(new Request(`http://localhost${path}`)), id);
  const post = (body: unknown, path = wire.path, signal?: AbortSignal): Promise<Response> => {
    const request = jsonRequest(`http://localhost${path}`, body);
    return handler.fetch(signal === undefined ? request : new Request(request, { signal }));
  };

  it('counts a response that the host could not send as not delivered', async () => {
    const id = freshId();
    const body = wire.body(id, 'chunks=1', 'send');
    const dropped = await post(body);
    expect(dropped.headers.get('content-length')).toMatch(/^\d+$/);
    await dropped.body?.cancel();
    const text = await (await post(body)).text();
    expect([await made(id), text.length]).toEqual([1, Number(dropped.headers.get('content-length'))]);
    await (await post(body)).text();
    expect(await made(id)).toBe(2);
  });

  it('counts a response to a disconnected caller as not delivered', async () => {
    const id = freshId();
    const body = wire.body(id, 'sleep=300', 'send');
    const leaving = new AbortController();
    const first = post(body, wire.path, leaving.signal);
    await eventually(async () => (await made(id)) === 1);
    leaving.abort();
    await (await first).text();
    await (await post(body)).text();
    expect(await made(id)).toBe(1);
  });

  it('counts a stream as delivered if it was read to its end', async () => {
    const id = freshId();
    const body = wire.body(id, 'chunks=4 delay=50', 'stream');
    const reader = (await post(body, wire.streamPath)).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await (await post(body, wire.streamPath)).text();
    expect(await made(id)).toBe(1);
    await (await post(body, wire.streamPath)).text();
    expect(await made(id)).toBe(2);
  });
});
