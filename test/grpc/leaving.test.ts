import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect, constants } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Requests } from '#protocol';
import { messageId } from '#protocol';
import { createLog } from '#server';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import type { GrpcClient } from '../support/grpc.ts';
import { grpcClient } from '../support/grpc.ts';
import { keysOf } from '../support/key-ring.ts';
import { metric, sendBody, startServer } from '../support/server.ts';

/** Callers that reset a stream of HTTP/2 while the agent works and says nothing. The node notices it by the stream alone. */
const SILENT = 'sleep=600000';
const keys = keysOf([{}, { scopes: ['admin'] }]);
const metadata = { authorization: `Bearer ${keys.key(0)}` };
const admin = { authorization: `Bearer ${keys.key(1)}` };
const say = (text: string): Requests['stream'] => ({
  message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text }] },
});

let node: NodeServer;
let client: GrpcClient;
let session: ClientHttp2Session;
let errors: string[] = [];

beforeEach(async () => {
  errors = [];
  const log = createLog({ level: 'error', write: (line) => errors.push(line) });
  node = await startServer({ auth: [keys.auth], log, limits: { callerStreamsMax: 1, drainMsMax: 100, requestsPerSecondMax: 0 } });
  client = grpcClient(node.port);
  session = connect(node.url);
  session.on('error', () => undefined);
});

afterEach(async () => {
  client.close();
  session.destroy();
  await node.close();
});

function post(path: string, type: string, body: string | Uint8Array): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, 'a2a-version': '1.0', ...metadata });
  stream.on('error', () => undefined).end(body);
  return stream;
}

const CODES = [
  ['with CANCEL', constants.NGHTTP2_CANCEL],
  ['without an error', constants.NGHTTP2_NO_ERROR],
] as const;
const SERVICE = '/lf.a2a.v1.A2AService';

describe.each(CODES)('a caller that resets its stream %s', (_, code) => {
  it.each([
    ['gRPC', `${SERVICE}/SendStreamingMessage`, 'application/grpc'],
    ['gRPC-Web', `${SERVICE}/SendStreamingMessage`, 'application/grpc-web+proto'],
    ['server-sent events', '/message:stream', 'application/json'],
  ])('has left its task at once, not at the next event (%s)', async (_name, path, type) => {
    const isJson = type === 'application/json';
    const stream = post(path, type, isJson ? JSON.stringify(sendBody(SILENT)) : framed([CODEC_V10.encodeRequest('stream', say(SILENT))]));
    await new Promise<void>((resolve) => stream.once('data', () => resolve()));
    expect(await client.stream('stream', say('chunks=1'), { metadata }).ended).toMatchObject({ code: 8 });
    stream.close(code);
    await eventually(async () => expect(await client.stream('stream', say('chunks=1'), { metadata }).ended).toMatchObject({ code: 0 }));
    const text = await (await fetch(`${node.url}/metrics`, { headers: admin })).text();
    const outcomes = [...text.matchAll(/^parley_calls_total\{.*operation="stream",outcome="(\w+)"/gm)].map(([, outcome]) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'RATE_LIMITED']));
  });

  it('cancels the task of a chat completion', async () => {
    const chat = JSON.stringify({ model: 'script', stream: true, messages: [{ role: 'user', content: SILENT }] });
    const stream = post('/v1/chat/completions', 'application/json', chat);
    const states = async () => (await client.call('list', {}, { metadata })).tasks.map(({ status }) => status.state);
    await new Promise<void>((resolve) => stream.once('data', () => resolve()));
    expect(await states()).toEqual(['TASK_STATE_WORKING']);
    stream.close(code);
    await eventually(async () => expect(await states()).toEqual(['TASK_STATE_CANCELED']));
  });

  it.each([
    ['gRPC', `${SERVICE}/SendMessage`, 'application/grpc'],
    ['gRPC-Web', `${SERVICE}/SendMessage`, 'application/grpc-web+proto'],
    ['Connect', `${SERVICE}/SendMessage`, 'application/proto'],
    ['HTTP+JSON', '/message:send', 'application/json'],
  ])('is no error of the node (%s)', async (_name, path, type) => {
    const bytes = CODEC_V10.encodeRequest('send', say(SILENT));
    const body = type === 'application/json' ? JSON.stringify(sendBody(SILENT)) : type === 'application/proto' ? bytes : framed([bytes]);
    const stream = post(path, type, body);
    await eventually(async () => expect((await client.call('list', {}, { metadata })).totalSize).toBe(1));
    const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
    stream.close(code);
    await closed;
    // After a later call on the connection, the server has read the reset.
    await new Promise<void>((resolve, reject) => session.ping((error) => (error === null ? resolve() : reject(error))));
    await node.close();
    expect(errors).toEqual([]);
  });
});

it.each([
  ['a health check', '/grpc.health.v1.Health/Check', Uint8Array.from([0, 0, 0])],
  ['reflection', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', framed([Uint8Array.from([0x3a, 1, 0x2a])])],
])('a caller that disconnects in the middle of %s is no error of the node', async (_name, path, bytes) => {
  const open = await startServer({ log: createLog({ level: 'error', write: (line) => errors.push(line) }) });
  const caller = grpcClient(open.port);
  await caller.call('list', {}); // the first call loads the drivers
  const leaving = connect(open.url).on('error', () => undefined);
  const stream = leaving.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
  stream
    .on('error', () => undefined)
    .resume()
    .write(bytes);
  // After a later call on the connection, the server has read what was sent before.
  await new Promise<void>(
    (resolve) =>
      void leaving
        .request({ ':path': '/healthz' })
        .on('response', () => resolve())
        .resume(),
  );
  leaving.destroy();
  const left = 'parley_http_requests_total{route="grpc-operators",status="grpc CANCELLED"}';
  await eventually(async () => expect(await metric(open.url, left)).toBe(1));
  caller.close();
  await open.close();
  expect(errors).toEqual([]);
});
