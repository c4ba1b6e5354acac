import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { fromJson, toJson } from '@bufbuild/protobuf';
import type { Client as ConnectClient, Transport } from '@connectrpc/connect';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { createConnectTransport as createWebTransport } from '@connectrpc/connect-web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AService, SendMessageRequestSchema, TaskSchema } from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';
import { ErrorInfoSchema } from '../../src/bindings/grpc/adapters/generated/google_rpc_pb.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { keysOf } from '../support/key-ring.ts';
import { metric, sendBody, startServer } from '../support/server.ts';

const say = (text: string) => fromJson(SendMessageRequestSchema, JSON.parse(JSON.stringify(sendBody(text))));
let server: NodeServer;

beforeAll(async () => {
  server = await startServer({ allowedOrigins: ['https://app.example.org'] });
});

afterAll(() => server.close());

type MakeTransport = (baseUrl: string) => Transport;

const TRANSPORTS: readonly (readonly [string, MakeTransport])[] = [
  ['Connect over HTTP/1.1', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' })],
  ['Connect over HTTP/2', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2' })],
  ['Connect in protobuf', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true })],
  ['Connect as browsers use it', (baseUrl) => createWebTransport({ baseUrl })],
  ['gRPC-Web over HTTP/1.1', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' })],
  ['gRPC-Web over HTTP/2', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '2' })],
  ['gRPC with JSON', (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false })],
  ['gRPC', (baseUrl) => createGrpcTransport({ baseUrl })],
];

describe.each(TRANSPORTS)('%s', (_, transport) => {
  let client: ConnectClient<typeof A2AService>;
  beforeAll(() => {
    client = createClient(A2AService, transport(server.url));
  });

  it('sends and reads', async () => {
    const { payload } = await client.sendMessage(say('chunks=2'));
    expect(payload.case).toBe('task');
    const task = await client.getTask({ id: payload.case === 'task' ? payload.value.id : '' });
    expect(toJson(TaskSchema, task)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('streams', async () => {
    const kinds: (string | undefined)[] = [];
    for await (const { payload } of client.sendStreamingMessage(say('chunks=3'))) kinds.push(payload.case);
    expect([kinds[0], kinds.at(-1), kinds.length]).toEqual(['task', 'statusUpdate', 5]);
  });

  it('has the errors of A2A, with details', async () => {
    const error = await client.getTask({ id: 'nope' }).then(() => undefined, ConnectError.from);
    expect([error?.code, error?.rawMessage]).toEqual([Code.NotFound, 'there is no task nope']);
    expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }]);
  });

  it('a deadline ends the call', async () => {
    const error = await client.sendMessage(say('sleep=3000'), { timeoutMs: 100 }).then(() => undefined, ConnectError.from);
    expect(error?.code).toBe(Code.DeadlineExceeded);
    const late = (async () => {
      for await (const _event of client.sendStreamingMessage(say('sleep=3000'), { timeoutMs: 100 }));
    })();
    expect((await late.then(() => undefined, ConnectError.from))?.code).toBe(Code.DeadlineExceeded);
    await eventually(async () => expect(await metric(server.url, 'parley_streams_open')).toBe(0));
  });

  it('a message over the limit is refused, and the next call works', async () => {
    const error = await client.sendMessage(say('x'.repeat(1_200_000))).then(() => undefined, ConnectError.from);
    expect([error?.code, error?.rawMessage]).toEqual([Code.ResourceExhausted, expect.stringContaining('more than 1048576 bytes')]);
    expect((await client.sendMessage(say('chunks=1'), { timeoutMs: 5000 })).payload.case).toBe('task');
  });
});

describe('answers over the limit', () => {
  let small: NodeServer;
  beforeAll(async () => {
    small = await startServer({ limits: { grpcAnswerBytesMax: 20_000 } });
  });
  afterAll(() => small.close());

  it.each(TRANSPORTS)('say how to read them (%s)', async (_, transport) => {
    const client = createClient(A2AService, transport(small.url));
    const error = await client.sendMessage(say('chunks=1 size=30000')).then(() => undefined, ConnectError.from);
    expect([error?.code, error?.rawMessage]).toEqual([Code.ResourceExhausted, expect.stringContaining('read the task as a stream')]);
    expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([{ domain: 'a2a-protocol.org' }]);
    const late = (async () => {
      for await (const _event of client.sendStreamingMessage(say('chunks=1 size=30000')));
    })();
    expect((await late.then(() => undefined, ConnectError.from))?.rawMessage).toContain('read the task as a stream');
  });
});

describe('Connect', () => {
  it('reaches an agent by its path', async () => {
    const client = createClient(A2AService, createConnectTransport({ baseUrl: `${server.url}/agents/echo`, httpVersion: '1.1' }));
    const { payload } = await client.sendMessage(say('hello'));
    expect(payload.case === 'task' && payload.value.artifacts[0]?.parts[0]?.content.value).toBe('hello');
  });

  const path = '/lf.a2a.v1.A2AService/SendMessage';
  const post = (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>, at = path) =>
    fetch(`${server.url}${at}`, { method: 'POST', headers, body });

  it.each([
    ['JSON that is none', 'application/json', '{'],
    ['protobuf that is none', 'application/proto', Uint8Array.from([0xff, 0xff])],
    [
      'a deep value',
      'application/json',
      `{"message":{"messageId":"x","role":"ROLE_USER","parts":[{"data":${'['.repeat(500)}${']'.repeat(500)}}]}}`,
    ],
  ])('%s is invalid_argument', async (_, type, body) => {
    const answer = await post({ 'Content-Type': type }, body);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'invalid_argument']);
  });

  it('bad bytes of gRPC-Web are INVALID_ARGUMENT', async () => {
    const answer = await post({ 'Content-Type': 'application/grpc-web+proto' }, Uint8Array.from([0, 0, 0, 0, 2, 0xff, 0xff]));
    expect(await answer.text()).toMatch(/grpc-status: ?3\r\n/);
  });

  it('pages of allowed origins may call, and others may not', async () => {
    const preflight = await fetch(`${server.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://app.example.org',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,x-grpc-web',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'content-type,x-grpc-web']);
    const headers = { 'Content-Type': 'application/json', Origin: 'https://app.example.org' };
    const allowed = await post(headers, JSON.stringify(sendBody('chunks=1')));
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example.org']);
    expect(allowed.headers.get('access-control-expose-headers')).toContain('Grpc-Status');
    const refused = await post({ ...headers, Origin: 'https://evil.example.org' }, JSON.stringify(sendBody('chunks=1')));
    expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ code: 'permission_denied' })]);
  });

  it.each([
    ['application/json', 'connect-timeout-ms', '9999999999'],
    ['application/grpc-web+json', 'grpc-timeout', '99999999H'],
  ])('a deadline that no timer can wait for is none (%s)', async (type, name, value) => {
    const message = Buffer.from(JSON.stringify(sendBody('sleep=100')));
    const answer = await post({ 'Content-Type': type, [name]: value }, type.includes('grpc') ? framed([message]).slice() : message);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('TASK_STATE_COMPLETED')]);
  });

  it('a host name that can be no part of a URL is refused like others', async () => {
    const headers = { Host: 'a[b', 'Content-Type': 'application/json' };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${server.url}${path}`, { method: 'POST', headers }, resolve).on('error', reject).end('{}');
    });
    expect([answer.statusCode, await json(answer)]).toEqual([403, expect.objectContaining({ code: 'permission_denied' })]);
  });

  it('an unknown method is 404, and another content type 415', async () => {
    expect((await post({ 'Content-Type': 'application/json' }, '{}', '/lf.a2a.v1.A2AService/Nope')).status).toBe(404);
    expect((await post({ 'Content-Type': 'text/plain' }, '{}')).status).toBe(415);
    expect((await fetch(`${server.url}${path}`)).status).toBe(405);
  });

  it('a type that the method does not have is 415, after the access checks', async () => {
    const keys = keysOf([{}]);
    const node = await startServer({ auth: [keys.auth] });
    const wrong = async (headers: Record<string, string>): Promise<number> => {
      const streaming = `${node.url}${path.replace('SendMessage', 'SendStreamingMessage')}`;
      return (await fetch(streaming, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: '{}' })).status;
    };
    expect([await wrong({}), await wrong({ Authorization: `Bearer ${keys.key(0)}` })]).toEqual([401, 415]);
    await node.close();
  });

  it.each([
    ['gRPC over HTTP/1.1', 'application/grpc', path, 'gRPC needs HTTP/2'],
    ['a health check of gRPC-Web', 'application/grpc-web+proto', '/grpc.health.v1.Health/Check', 'served over gRPC only'],
    ['a health check of Connect', 'application/json', '/grpc.health.v1.Health/Check', 'served over gRPC only'],
  ])('%s is refused with the reason', async (_, type, at, reason) => {
    const answer = await post({ 'Content-Type': type }, '{}', at);
    expect([answer.status, await answer.text()]).toEqual([415, expect.stringContaining(reason)]);
  });
});
