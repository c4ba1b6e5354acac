import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageId } from '#protocol';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { grpcClient } from '../support/grpc.ts';
import { CONTINUATION, frame, HEADERS, PING, PREFACE, SETTINGS } from '../support/http2-frames.ts';
import { metric, opened, startServer } from '../support/server.ts';

/** Attacks on HTTP/2 (docs/security.md): each ends its own connection at most, and another client is still served. */
let server: NodeServer;

beforeAll(async () => {
  server = await startServer({ limits: { streamIdleMsMax: 400, headerMsMax: 500, unsentConnectionBytesMax: 4_000_000 } });
});

afterAll(() => server.close());

/** A connection that has sent the preface and its settings, and what the server closes it with. */
async function attacker(): Promise<{ readonly socket: Socket; readonly closed: Promise<void>; readonly received: () => Buffer }> {
  const socket = await opened(server.port);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS)]));
  await eventually(() => expect(Buffer.concat(pieces).length).toBeGreaterThan(9));
  return { socket, closed, received: () => Buffer.concat(pieces) };
}

/** Returns the number of tasks. */
async function expectServed(): Promise<number> {
  const client = grpcClient(server.port);
  const { pageSize, totalSize } = await client.call('list', {});
  expect(pageSize).toBeGreaterThan(0);
  client.close();
  return totalSize;
}

const call = (session: ClientHttp2Session, text: string, id: string, method = 'SendStreamingMessage') => {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/lf.a2a.v1.A2AService/${method}`,
    'content-type': 'application/grpc',
  });
  stream.on('error', () => undefined);
  const request = { message: { messageId: messageId(id), role: 'ROLE_USER' as const, parts: [{ text }] } };
  stream.end(framed([CODEC_V10.encodeRequest('stream', request)]));
  return stream;
};

describe('H12: floods of HTTP/2', () => {
  it('pings while nothing is sent end the connection', async () => {
    const { socket, closed } = await attacker();
    for (let at = 0; at < 400 && !socket.destroyed; at += 1) {
      socket.write(frame(PING, Buffer.alloc(8)));
      if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    await expectServed();
  });

  it('settings end the connection', async () => {
    const { socket, closed } = await attacker();
    for (let at = 0; at < 200 && !socket.destroyed; at += 1) socket.write(frame(SETTINGS));
    await closed;
    await expectServed();
  });

  it('streams that are reset at once end the connection, and start no task', async () => {
    const session = connect(server.url);
    session.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => session.once('close', () => resolve()));
    let resets = 0;
    while (!session.destroyed && resets < 3000) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/lf.a2a.v1.A2AService/SendMessage',
        'content-type': 'application/grpc',
      });
      stream.on('error', () => undefined);
      stream.close(8);
      resets += 1;
      if (resets % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    expect(resets).toBeLessThan(3000);
    expect(await expectServed()).toBe(0);
  });

  it('CONTINUATION frames without an end close the connection', async () => {
    const { socket, closed } = await attacker();
    socket.write(frame(HEADERS, Buffer.from([0x82]), { stream: 1 })); // HEADERS without END_HEADERS
    for (let at = 0; at < 200 && !socket.destroyed; at += 1) socket.write(frame(CONTINUATION, Buffer.from([0x84]), { stream: 1 }));
    await closed;
    await expectServed();
  });

  it.each([
    ['large headers', { 'x-large': 'x'.repeat(20_000) }],
    ['many headers', Object.fromEntries(Array.from({ length: 103 }, (_, at) => [`x-${at}`, 'x']))],
  ])('%s are refused', async (_, headers) => {
    const session = connect(server.url);
    session.on('error', () => undefined);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/lf.a2a.v1.A2AService/ListTasks',
      'content-type': 'application/grpc',
      ...headers,
    });
    stream.on('error', () => undefined);
    stream.end(framed([new Uint8Array(0)]));
    const status = await new Promise<unknown>((resolve) => {
      stream.once('response', (received) => resolve(received['grpc-status']));
      stream.once('close', () => resolve('closed'));
    });
    expect(['3', 'closed']).toContain(status);
    session.destroy();
    await expectServed();
  });

  it('a reader that opens no window is disconnected, and its stream is closed', async () => {
    const session = connect(server.url, { settings: { initialWindowSize: 0 } });
    session.on('error', () => undefined);
    const streams = [0, 1, 2].map((at) => call(session, 'chunks=400 size=1000', `zero-${at}`));
    await Promise.all(streams.map((stream) => new Promise<void>((resolve) => stream.once('close', () => resolve()))));
    await eventually(async () => expect(await metric(server.url, 'parley_streams_open')).toBe(0));
    expect(await metric(server.url, 'parley_unsent_bytes')).toBe(0);
    expect(await metric(server.url, 'parley_streams_cut_total')).toBe(3);
    session.destroy();
    await expectServed();
  });

  it.each([
    ['small', 'chunks=1', 'unread'],
    ['large', 'chunks=40 size=1000', 'unread-large'],
  ])('a %s answer that nobody reads is given up', async (_, text, id) => {
    const cut = await metric(server.url, 'parley_streams_cut_total');
    const session = connect(server.url, { settings: { initialWindowSize: 0 } });
    session.on('error', () => undefined);
    const stream = call(session, text, id, 'SendMessage');
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    expect(await metric(server.url, 'parley_unsent_bytes')).toBe(0);
    expect(await metric(server.url, 'parley_streams_cut_total')).toBe(cut + 1);
    session.destroy();
  });

  const unread: readonly (readonly [string, (session: ClientHttp2Session) => ClientHttp2Stream])[] = [
    ['a short stream of gRPC', (session) => call(session, 'chunks=1', 'unread-stream')],
    [
      'a description by reflection',
      (session) => {
        const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
        const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
        const symbol = Buffer.from('\x22\x09lf.a2a.v1', 'latin1'); // the member `file_containing_symbol`
        return stream.end(framed([symbol]));
      },
    ],
    ['a card', (session) => session.request({ ':path': '/.well-known/agent-card.json' })],
    ['an error', (session) => session.request({ ':path': '/nothing' })],
  ];
  it.each(unread)('%s that nobody reads is given up', async (_, open) => {
    const cut = await metric(server.url, 'parley_streams_cut_total');
    const session = connect(server.url, { settings: { initialWindowSize: 0 } });
    session.on('error', () => undefined);
    const stream = open(session)
      .on('error', () => undefined)
      .on('response', () => undefined);
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    expect(await metric(server.url, 'parley_streams_cut_total')).toBe(cut + 1);
    expect(await metric(server.url, 'parley_unsent_bytes')).toBe(0);
    session.destroy();
  });
});

describe('one port', () => {
  it.each([
    ['nothing', ''],
    ['the first byte of both protocols', 'P'],
    ['half of a preface', 'PRI * HTTP/2.0\r\n\r\n'],
    ['a preface without settings', PREFACE.toString('latin1')],
    ['half of a request', 'POST /a2a HTTP/1.1\r\nHost: x'],
  ])('disconnects a client that sends %s', async (_, text) => {
    const socket = await opened(server.port);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.resume();
    if (text !== '') socket.write(text);
    await closed;
  });

  it('reads requests and prefaces that arrive byte by byte', async () => {
    const bytewise = async (bytes: Buffer): Promise<Buffer> => {
      const socket = await opened(server.port);
      const pieces: Buffer[] = [];
      socket.on('data', (piece: Buffer) => pieces.push(piece));
      for (const byte of bytes) {
        socket.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await eventually(() => expect(pieces.length).toBeGreaterThan(0));
      socket.destroy();
      return Buffer.concat(pieces);
    };
    const http1 = await bytewise(Buffer.from('PUT /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'));
    expect(http1.toString('latin1')).toMatch(/^HTTP\/1\.1 405 /);
    const http2 = await bytewise(Buffer.concat([PREFACE, frame(SETTINGS)]));
    expect(http2[3]).toBe(SETTINGS);
  });

  it('takes a preface for HTTP/2 only as the first bytes of a connection', async () => {
    const socket = await opened(server.port);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(`GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
    await eventually(() => expect(text).toContain('{"status":"ready"}'));
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS)]));
    await closed;
    expect(text).toContain('HTTP/1.1 400 Bad Request');
  });

  it('keeps a connection of HTTP/2 for longer than the timeouts of HTTP/1.1', async () => {
    const { socket } = await attacker();
    const silent = await opened(server.port);
    await new Promise<void>((resolve) => silent.resume().once('close', () => resolve()));
    expect(socket.destroyed).toBe(false);
    const { length } = await new Promise<Buffer>((resolve) => {
      socket.once('data', resolve);
      socket.write(frame(PING, Buffer.alloc(8)));
    });
    expect(length).toBeGreaterThan(0);
    socket.destroy();
  });

  it('serves everything else over HTTP/2 too, with the checks of HTTP/1.1', async () => {
    const session = connect(server.url);
    const get = (path: string, headers: Record<string, string> = {}): Promise<{ status: unknown; text: string }> =>
      new Promise((resolve) => {
        const stream = session.request({ ':path': path, ...headers });
        let status: unknown;
        let text = '';
        stream.on('response', (received) => {
          status = received[':status'];
        });
        stream.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        stream.on('close', () => resolve({ status, text }));
        stream.end();
      });
    expect(await get('/readyz')).toEqual({ status: 200, text: '{"status":"ready"}' });
    expect((await get('/.well-known/agent-card.json')).text).toContain('"GRPC"');
    expect((await get('/readyz', { ':authority': 'evil.example.org' })).status).toBe(403);
    expect((await get('/readyz', { host: 'evil.example.org' })).status).toBe(403);
    session.close();
  });

  it('closes connections of HTTP/2 and undecided ones at shutdown', async () => {
    const node = await startServer();
    const session = connect(node.url);
    const gone = new Promise<void>((resolve) => session.once('close', () => resolve()));
    session.on('error', () => undefined);
    await new Promise<void>((resolve) => session.once('remoteSettings', () => resolve()));
    const silent = await opened(node.port);
    silent.resume();
    const closed = new Promise<void>((resolve) => silent.once('close', () => resolve()));
    await node.close();
    await Promise.all([gone, closed]);
  });
});
