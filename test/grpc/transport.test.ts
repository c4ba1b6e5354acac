import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageId, taskId } from '#protocol';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import type { GrpcClient } from '../support/grpc.ts';
import { grpcClient } from '../support/grpc.ts';
import { metric, startServer } from '../support/server.ts';

const SEND = '/lf.a2a.v1.A2AService/SendMessage';
let server: NodeServer;
let client: GrpcClient;

const bytesOf = (text: string, id: string): Uint8Array =>
  CODEC_V10.encodeRequest('send', { message: { messageId: messageId(id), role: 'ROLE_USER', parts: [{ text }] } });

beforeAll(async () => {
  server = await startServer({ limits: { requestMsMax: 400, headerMsMax: 400 } });
  client = grpcClient(server.port);
});

afterAll(async () => {
  client.close();
  await server.close();
});

interface RawAnswer {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /** `grpc-status`, of the trailers or of a response without messages. */
  readonly status: unknown;
}

/** One stream of HTTP/2 with these bytes as its body. `keepOpen`: the client does not say that it is done. */
async function post(bytes: Uint8Array, headers: Record<string, string> = {}, keepOpen = false): Promise<RawAnswer> {
  const session = connect(server.url);
  session.on('error', () => undefined);
  try {
    const stream = session.request({ ':method': 'POST', ':path': SEND, 'content-type': 'application/grpc', te: 'trailers', ...headers });
    const body: Buffer[] = [];
    let head: Record<string, unknown> = {};
    let trailers: Record<string, unknown> = {};
    stream.on('response', (received) => {
      head = received;
    });
    stream.on('trailers', (received) => {
      trailers = received;
    });
    stream.on('data', (piece: Buffer) => body.push(piece));
    stream.on('error', () => undefined);
    if (keepOpen) stream.write(bytes);
    else stream.end(bytes);
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    return { headers: head, trailers, body: Buffer.concat(body), status: trailers['grpc-status'] ?? head['grpc-status'] };
  } finally {
    session.close();
  }
}

describe('the frames of gRPC', () => {
  it('a call is answered with headers, a message and trailers', async () => {
    const { status, headers, body } = await post(framed([bytesOf('chunks=1', 't1')]));
    expect([status, headers['content-type'], body[0]]).toEqual(['0', 'application/grpc', 0]);
  });

  it.each([
    ['no message', new Uint8Array(0), '12'],
    ['two messages', framed([bytesOf('a', 't2'), bytesOf('b', 't3')]), '12'],
    ['a cut-off frame', framed([bytesOf('a', 't4')]).subarray(0, 9), '3'],
    ['an unknown flag', Uint8Array.from([7, 0, 0, 0, 0]), '3'],
    ['bytes that are no protobuf', framed([Uint8Array.from([0xff, 0xff, 0xff])]), '3'],
    ['a message that is too large', Uint8Array.from([0, 0x7f, 0xff, 0xff, 0xff, 1]), '8'],
    ['a compressed message without an encoding', framed([gzipSync(bytesOf('a', 't5'))], true), '3'],
  ])('%s has a status of its own', async (_, bytes, status) => {
    expect((await post(bytes)).status).toBe(status);
  });

  it('another HTTP method than POST is no call', async () => {
    const { status, body } = await post(framed([bytesOf('chunks=1', 't0')]), { ':method': 'DELETE' });
    expect([status, body.length]).toEqual(['12', 0]);
  });

  it('gzip is read, answered unless the caller does not read it, and a bomb is refused', async () => {
    const zipped = await post(framed([gzipSync(bytesOf('chunks=1', 't6'))], true), { 'grpc-encoding': 'gzip' });
    expect([zipped.status, zipped.headers['grpc-encoding'], zipped.body[0]]).toEqual(['0', 'gzip', 1]);
    const head = { 'grpc-encoding': 'gzip', 'grpc-accept-encoding': 'identity' };
    const plain = await post(framed([gzipSync(bytesOf('chunks=1', 't6-plain'))], true), head);
    expect([plain.status, plain.headers['grpc-encoding'], plain.body[0]]).toEqual(['0', undefined, 0]);
    const bomb = await post(framed([gzipSync(Buffer.alloc(64_000_000))], true), { 'grpc-encoding': 'gzip' });
    expect(bomb.status).toBe('8');
    const broken = await post(framed([Uint8Array.from([1, 2, 3])], true), { 'grpc-encoding': 'gzip' });
    expect(broken.status).toBe('3');
    const unknown = await post(framed([bytesOf('a', 't7')]), { 'grpc-encoding': 'snappy' });
    expect([unknown.status, unknown.headers['grpc-accept-encoding']]).toEqual(['12', 'identity,gzip']);
  });

  it('a body over the limit gets its status while the client still sends', async () => {
    const { status, headers } = await post(new Uint8Array(1_100_000), {}, true);
    expect([status, headers[':status']]).toEqual(['8', 200]);
    expect(headers['grpc-message']).toContain('more than 1048576 bytes');
  });

  it('a request that never ends is answered after the request timeout', async () => {
    expect((await post(framed([bytesOf('a', 't8')]), {}, true)).status).toBe('3');
  });

  it('official clients read compressed answers', async () => {
    const zipping = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure(), { 'grpc.default_compression_algorithm': 2 });
    const size = await new Promise<number>((resolve, reject) => {
      const take = (error: unknown, answer?: Buffer): void => (answer === undefined ? reject(error) : resolve(answer.length));
      zipping.makeUnaryRequest(
        SEND,
        (bytes: Buffer) => bytes,
        (bytes) => bytes,
        Buffer.from(bytesOf('chunks=50', 't9')),
        new Metadata(),
        take,
      );
    });
    expect(size).toBeGreaterThan(100);
    zipping.close();
  });
});

describe('deadlines and cancellation', () => {
  it('a deadline ends the call with DEADLINE_EXCEEDED and not the task', async () => {
    const { status, headers } = await post(framed([bytesOf('sleep=600', 'd1')]), { 'grpc-timeout': '50m' });
    expect([status, headers['grpc-message']]).toEqual(['4', 'the deadline of the call has passed']);
    await eventually(async () => expect((await client.call('list', {})).tasks[0]?.status.state).toBe('TASK_STATE_COMPLETED'));
    expect((await post(framed([bytesOf('a', 'd2')]), { 'grpc-timeout': 'soon' })).status).toBe('3');
    const stream = client.stream(
      'stream',
      { message: { messageId: messageId('d3'), role: 'ROLE_USER', parts: [{ text: 'sleep=5000' }] } },
      { timeoutMs: 200 },
    );
    expect(await stream.ended).toMatchObject({ code: 4 });
  });

  it('a cancelled stream ends its subscription and not the task', async () => {
    const stream = client.stream('stream', {
      message: { messageId: messageId('d4'), role: 'ROLE_USER', parts: [{ text: 'chunks=3 delay=200' }] },
    });
    await eventually(() => expect(stream.events.length).toBeGreaterThan(0));
    const id = taskId(stream.events[0]?.event.task?.id ?? '');
    stream.cancel();
    expect(await stream.ended).toMatchObject({ code: 1 });
    await eventually(async () => expect(await metric(server.url, 'parley_streams_open')).toBe(0));
    await eventually(async () => expect((await client.call('get', { id })).status.state).toBe('TASK_STATE_COMPLETED'));
  });
});

describe('sizes', () => {
  it('an answer that gRPC clients refuse is RESOURCE_EXHAUSTED with a hint, and a stream has it all', async () => {
    const small = await startServer({ limits: { grpcAnswerBytesMax: 20_000 } });
    const caller = grpcClient(small.port);
    const request = (id: string) => ({
      message: { messageId: messageId(id), role: 'ROLE_USER' as const, parts: [{ text: 'chunks=30 size=1000' }] },
    });
    const refused = await caller.refusal('send', request('s1'));
    expect([refused.code, refused.message]).toEqual([8, expect.stringContaining('read the task as a stream')]);
    const stream = caller.stream('stream', request('s2'));
    expect(await stream.ended).toMatchObject({ code: 0 });
    expect(stream.events.length).toBeGreaterThan(30);
    caller.close();
    await small.close();
  });

  it('messages with characters outside of ASCII are escaped as gRPC demands', async () => {
    const { message } = await client.refusal('get', { id: taskId('50 % ü: a/b') });
    expect(message).toBe('there is no task 50 % ü: a/b');
  });
});

describe('services for operators', () => {
  it('health checks answer, and watches stay open until the node stops', async () => {
    const node = await startServer();
    const watcher = new Client(`127.0.0.1:${node.port}`, credentials.createInsecure());
    const seen: string[] = [];
    const watch = watcher.makeServerStreamRequest(
      '/grpc.health.v1.Health/Watch',
      (bytes: Buffer) => bytes,
      (bytes) => bytes,
      Buffer.alloc(0),
      new Metadata(),
    );
    watch.on('data', (bytes: Buffer) => seen.push(bytes.toString('hex'))).on('error', () => undefined);
    const ended = new Promise<number>((resolve) => watch.on('status', ({ code }) => resolve(code)));
    await eventually(() => expect(seen).toEqual(['0801']));
    const caller = grpcClient(node.port);
    const service = Buffer.from([0x0a, 0x03, 0x61, 0x62, 0x63]); // service: "abc"
    expect(await caller.raw('/grpc.health.v1.Health/Check', new Uint8Array(0))).toMatchObject({ code: 0, bytes: Uint8Array.from([8, 1]) });
    expect(await caller.raw('/grpc.health.v1.Health/Check', service)).toMatchObject({ code: 5 });
    expect(await caller.raw('/grpc.health.v1.Health/Check', Uint8Array.from([0xff]))).toMatchObject({ code: 3 });
    caller.close();
    await node.close();
    expect(await ended).toBe(14);
    watcher.close();
  });

  it.each(['v1', 'v1alpha'])('reflection %s lists the services and describes their files', async (version) => {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    const list = await client.raw(path, Uint8Array.from([0x3a, 0])); // list_services: ""
    expect([list.code, Buffer.from(list.bytes ?? []).toString('latin1')]).toEqual([0, expect.stringContaining('lf.a2a.v1.A2AService')]);
    const symbol = Buffer.from('lf.a2a.v1.A2AService.SendMessage');
    const file = await client.raw(path, Buffer.concat([Buffer.from([0x22, symbol.length]), symbol]));
    expect(Buffer.from(file.bytes ?? []).toString('latin1')).toContain('google/protobuf/struct.proto');
    const unknown = Buffer.from('no.such.Type');
    const missing = await client.raw(path, Buffer.concat([Buffer.from([0x22, unknown.length]), unknown]));
    expect([missing.code, Buffer.from(missing.bytes ?? []).toString('latin1')]).toEqual([0, expect.stringContaining('not found')]);
  });

  it('reflection knows that our messages have no extensions, and refuses a request that asks for nothing', async () => {
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    const field = (number: number, text: string) => Buffer.from([(number << 3) | 2, text.length, ...Buffer.from(text)]);
    const numbers = await client.raw(path, field(6, 'lf.a2a.v1.Task')); // all_extension_numbers_of_type
    // The request again, and then the response in field 5: the name of the type, and no number.
    expect(numbers.code).toBe(0);
    expect(Buffer.from(numbers.bytes ?? []).subarray(-18)).toEqual(Buffer.concat([Buffer.from([0x2a, 16]), field(1, 'lf.a2a.v1.Task')]));
    const unknown = await client.raw(path, field(6, 'no.such.Type'));
    expect(Buffer.from(unknown.bytes ?? []).toString('latin1')).toContain('not found: no.such.Type');
    expect(await client.raw(path, new Uint8Array(0))).toMatchObject({ code: 3, message: 'the request asks for nothing' });
  });

  it('an unknown method or service is UNIMPLEMENTED', async () => {
    expect(await client.raw('/lf.a2a.v1.A2AService/Nope', new Uint8Array(0))).toMatchObject({ code: 12 });
    expect(await client.raw('/no.such.Service/Nope', new Uint8Array(0))).toMatchObject({ code: 12 });
  });

  it.each(['/', '/a2a', '/message:send', '/mcp', '/agents/script', '/readyz'])(
    'a call at the path %s of HTTP is UNIMPLEMENTED',
    async (path) => {
      expect(await client.raw(path, new Uint8Array(0))).toMatchObject({ code: 12, message: expect.stringContaining('is served at') });
    },
  );
});
