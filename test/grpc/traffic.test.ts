import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminExchange, AdminWirePage, Requests } from '#protocol';
import { messageId, taskId } from '#protocol';
import { A2AService } from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import type { GrpcClient } from '../support/grpc.ts';
import { grpcClient } from '../support/grpc.ts';
import { keysOf } from '../support/key-ring.ts';
import { startServer } from '../support/server.ts';

/** Calls over gRPC in the recorder of the console's wire page. */
const keys = keysOf([{ name: 'ann', scopes: ['admin', 'tasks:*'] }]);
const KEY = { authorization: `Bearer ${keys.key(0)}` };
const SECRET = 'canary-of-a-caller';
let server: NodeServer;
let client: GrpcClient;
let last = 0;

beforeAll(async () => {
  server = await startServer({ auth: [keys.auth] });
  client = grpcClient(server.port);
  await fetch(`${server.url}/api/parley/v1/wire:start`, { method: 'POST', headers: KEY });
});

afterAll(async () => {
  client.close();
  await server.close();
});

const say = (text: string): Requests['send'] => ({
  message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text }], metadata: { apiKey: SECRET } },
});

/** What was recorded since the last look, once the calls have ended. */
async function recorded(): Promise<readonly AdminExchange[]> {
  let page: AdminWirePage | undefined;
  await eventually(async () => {
    page = (await (await fetch(`${server.url}/api/parley/v1/wire?after=${last}`, { headers: KEY })).json()) as AdminWirePage;
    expect(page.exchanges.length).toBeGreaterThan(0);
    expect(page.exchanges.filter(({ endedMs }) => endedMs === undefined)).toEqual([]);
  });
  last = page?.last ?? last;
  expect(JSON.stringify(page)).not.toMatch(new RegExp(`${SECRET}|${keys.key(0)}`));
  return page?.exchanges ?? [];
}

describe('the traffic of a node', () => {
  it('has a call with its method, metadata, messages as JSON and status', async () => {
    await client.call('send', say('chunks=1'), { metadata: { ...KEY, 'a2a-version': '1.0', 'x-custom': SECRET } });
    const [call, ...more] = await recorded();
    expect(more).toEqual([]);
    expect(call).toMatchObject({ target: '/lf.a2a.v1.A2AService/SendMessage', grpcStatus: 'OK', isStream: false, isCut: false });
    expect(call?.principal).toContain('ann');
    expect(call?.headers).toEqual(
      expect.arrayContaining([
        ['authorization', '[removed]'],
        ['a2a-version', '1.0'],
        ['content-type', 'application/grpc'],
      ]),
    );
    expect(JSON.parse(call?.body ?? '')).toMatchObject({ message: { role: 'ROLE_USER', parts: [{ text: 'chunks=1' }] } });
    expect(JSON.parse(call?.answer ?? '')).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'chunk 1' }] }] } });
  });

  it('has the messages of a stream, and one that was cancelled', async () => {
    const whole = client.stream('stream', say('chunks=3'), { metadata: KEY });
    await whole.ended;
    const [stream] = await recorded();
    expect(stream).toMatchObject({ target: '/lf.a2a.v1.A2AService/SendStreamingMessage', isStream: true, grpcStatus: 'OK' });
    expect(stream?.frames.map(({ text }) => Object.keys(JSON.parse(text.slice('data: '.length)))[0])).toEqual([
      'task',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    const left = client.stream('stream', say('sleep=5000'), { metadata: KEY });
    await eventually(() => expect(left.events.length).toBeGreaterThan(0));
    left.cancel();
    expect(await recorded()).toMatchObject([{ isStream: true, grpcStatus: 'CANCELLED' }]);
  });

  it('has errors, refusals, and messages that can’t be read', async () => {
    await client.refusal('get', { id: taskId('nope') }, { metadata: KEY });
    const answerHeaders = [
      ['grpc-status', 'NOT_FOUND'],
      ['grpc-message', 'there is no task nope'],
    ];
    expect(await recorded()).toMatchObject([{ grpcStatus: 'NOT_FOUND', body: '{"id":"nope"}', answerHeaders }]);
    await client.refusal('get', { id: taskId('nope') });
    expect(await recorded()).toMatchObject([{ grpcStatus: 'UNAUTHENTICATED', body: '' }]);
    await client.raw('/lf.a2a.v1.A2AService/GetTask', Uint8Array.of(0xff), { metadata: KEY });
    expect(await recorded()).toMatchObject([{ grpcStatus: 'INVALID_ARGUMENT', body: '"1 bytes that are not a GetTaskRequest"' }]);
  });

  it('has calls of Connect, and no probes', async () => {
    const caller = createClient(A2AService, createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' }));
    await caller.listTasks({ pageSize: 1 }, { headers: KEY });
    expect(await recorded()).toMatchObject([{ target: '/lf.a2a.v1.A2AService/ListTasks', grpcStatus: 'OK', body: '{"pageSize":1}' }]);
    await caller.getTask({ id: 'nope' }, { headers: KEY }).catch(() => undefined);
    expect(await recorded()).toMatchObject([{ grpcStatus: 'NOT_FOUND' }]);
    const inProtobuf = createClient(A2AService, createConnectTransport({ baseUrl: server.url, httpVersion: '1.1', useBinaryFormat: true }));
    await inProtobuf.listTasks({ pageSize: 1 }, { headers: KEY });
    expect(JSON.parse((await recorded())[0]?.answer ?? '')).toMatchObject({ pageSize: 1 });
    const broken = { method: 'POST', headers: { ...KEY, 'Content-Type': 'application/proto' }, body: Uint8Array.of(0xff) };
    await (await fetch(`${server.url}/lf.a2a.v1.A2AService/GetTask`, broken)).text();
    expect(await recorded()).toMatchObject([{ grpcStatus: 'INVALID_ARGUMENT' }]);
    await client.raw('/grpc.health.v1.Health/Check', new Uint8Array(0));
    await client.call('list', {}, { metadata: KEY });
    expect(await recorded()).toMatchObject([{ target: '/lf.a2a.v1.A2AService/ListTasks' }]);
  });
});
