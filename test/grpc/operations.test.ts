import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Requests } from '#protocol';
import { contextId, messageId, pushConfigId, seq, taskId, tenantId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import type { GrpcClient } from '../support/grpc.ts';
import { grpcClient } from '../support/grpc.ts';
import { builtIn, metric, sendBody, startServer } from '../support/server.ts';

let server: NodeServer;
let client: GrpcClient;
let old: GrpcClient;
let count = 0;

const say = (text: string, more: Partial<Requests['send']['message']> = {}): Requests['send'] => {
  count += 1;
  return { message: { messageId: messageId(`g-${count}`), role: 'ROLE_USER', parts: [{ text }], ...more } };
};

beforeAll(async () => {
  server = await startServer({ agents: [builtIn('script'), builtIn('echo')], allowLoopbackTargets: true });
  client = grpcClient(server.port);
  old = grpcClient(server.port, CODEC_V03);
});

afterAll(async () => {
  client.close();
  old.close();
  await server.close();
});

describe('the operations of 1.0 over gRPC', () => {
  it('sends, gets, lists and cancels', async () => {
    const { task } = await client.call('send', say('chunks=2'));
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'chunk 1chunk 2' }] }] });
    const id = taskId(task?.id ?? '');
    expect(await client.call('get', { id })).toMatchObject({ id });
    const page = await client.call('list', { contextId: contextId(task?.contextId ?? '') });
    expect(page).toMatchObject({ totalSize: 1, nextPageToken: '', tasks: [{ id }] });
    expect(await client.refusal('cancel', { id })).toMatchObject({ code: 9, error: { kind: 'TASK_NOT_CANCELABLE' } });
    expect(await client.refusal('get', { id: taskId('nope') })).toMatchObject({
      code: 5,
      message: 'there is no task nope',
      error: { kind: 'TASK_NOT_FOUND', details: { info: { taskId: 'nope' } } },
    });
  });

  it('lists with the default page size if a client sends 0, and refuses others', async () => {
    const { pageSize } = await client.call('list', { pageSize: 0 });
    expect(pageSize).toBe((await client.call('list', {})).pageSize);
    expect(pageSize).toBeGreaterThan(1);
    for (const wrong of [-1, 101]) expect(await client.refusal('list', { pageSize: wrong })).toMatchObject({ code: 3 });
  });

  it('returns a direct message', async () => {
    expect(await client.call('send', say('message'))).toMatchObject({ message: { role: 'ROLE_AGENT' } });
  });

  it('streams, numbers events on request, and resumes after one', async () => {
    const plain = client.stream('stream', say('chunks=3'));
    expect(await plain.ended).toMatchObject({ code: 0 });
    expect(plain.events.map((logged) => logged.seq)).toEqual(plain.events.map(() => undefined));

    const seen: unknown[] = [];
    const metadata = { 'a2a-extensions': 'urn:parley:a2a:seq:v1' };
    const stream = client.stream('stream', say('ask'), { metadata, onMetadata: (map) => seen.push(map['a2a-extensions']) });
    expect(await stream.ended).toMatchObject({ code: 0 });
    const numbers = stream.events.map((logged) => logged.seq);
    expect(numbers).toEqual(numbers.map((_, at) => at + (numbers[0] ?? 0)));
    expect(seen).toEqual(['urn:parley:a2a:seq:v1']);

    const id = taskId(stream.events[0]?.event.task?.id ?? '');
    const last = seq((numbers.at(-1) ?? 1) - 1);
    const resumed = client.stream('subscribe', { id }, { metadata: { ...metadata, 'last-event-id': String(last) } });
    await eventually(() => expect(resumed.events.map((logged) => logged.seq)).toEqual([last, last + 1]));
    resumed.cancel();
    const snapshot = client.stream('subscribe', { id });
    await eventually(() => expect(snapshot.events[0]?.event.task).toMatchObject({ id }));
    snapshot.cancel();
  });

  it('has the webhooks and the extended card', async () => {
    const { task } = await client.call('send', say('ask'));
    const id = taskId(task?.id ?? '');
    const made = await client.call('push.create', { taskId: id, id: pushConfigId('c'), url: 'http://127.0.0.1:9/hook' });
    expect(made).toMatchObject({ taskId: id, id: 'c' });
    expect(await client.call('push.get', { taskId: id, id: pushConfigId('c') })).toMatchObject({ url: 'http://127.0.0.1:9/hook' });
    expect(await client.call('push.list', { taskId: id })).toMatchObject({ configs: [{ id: 'c' }] });
    expect(await client.call('push.delete', { taskId: id, id: pushConfigId('c') })).toBeNull();
    expect(await client.refusal('extendedCard', {})).toMatchObject({ code: 9 });
  });
});

describe('the operations of 0.3 over gRPC', () => {
  it('sends, streams, gets and cancels', async () => {
    const { task } = await old.call('send', { ...say('chunks=1'), configuration: { returnImmediately: false } });
    const id = taskId(task?.id ?? '');
    expect(await old.call('get', { id })).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
    const stream = old.stream('stream', say('chunks=2'));
    expect(await stream.ended).toMatchObject({ code: 0 });
    expect(stream.events.at(-1)?.event.statusUpdate).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await old.refusal('cancel', { id: taskId('nope') })).toMatchObject({ code: 5 });
  });

  it.each([
    ['GetTask', 'name must have the form tasks/ID'],
    ['CancelTask', 'name must have the form tasks/ID'],
    ['TaskSubscription', 'name must have the form tasks/ID'],
    ['GetTaskPushNotificationConfig', 'name must have the form tasks/ID/pushNotificationConfigs/ID'],
    ['ListTaskPushNotificationConfig', 'parent must have the form tasks/ID'],
  ])('%s says which form a resource name has', async (method, wanted) => {
    for (const bytes of [Buffer.from([0x0a, 2, 0x74, 0x31]), Buffer.alloc(0)]) {
      expect(await old.raw(`/a2a.v1.A2AService/${method}`, bytes)).toMatchObject({ code: 3, message: wanted });
    }
  });

  it('reaches another agent by metadata', async () => {
    const { task } = await old.call('send', say('hello'), { metadata: { 'parley-agent': 'echo' } });
    expect(task).toMatchObject({ artifacts: [{ parts: [{ text: 'hello' }] }] });
    expect(await old.refusal('send', say('x'), { metadata: { 'parley-agent': 'nobody' } })).toMatchObject({ code: 3 });
  });
});

describe('agents and tenants', () => {
  it('the tenant names the agent, the tenant, or both', async () => {
    const { task } = await client.call('send', { ...say('chunks=9'), tenant: tenantId('echo') });
    expect(task).toMatchObject({ artifacts: [{ parts: [{ text: 'chunks=9' }] }] });
    const id = taskId(task?.id ?? '');
    expect(await client.call('get', { id, tenant: tenantId('echo') })).toMatchObject({ id });
    expect(await client.refusal('get', { id })).toMatchObject({ code: 5 });

    const { task: inner } = await client.call('send', { ...say('hi'), tenant: tenantId('echo/t1') });
    const innerId = taskId(inner?.id ?? '');
    expect(await client.call('get', { id: innerId, tenant: tenantId('echo/t1') })).toMatchObject({ id: innerId });
    expect(await client.refusal('get', { id: innerId, tenant: tenantId('echo') })).toMatchObject({ code: 5 });

    const { task: own } = await client.call('send', { ...say('chunks=1'), tenant: tenantId('t2') });
    expect(own).toMatchObject({ artifacts: [{ parts: [{ text: 'chunk 1' }] }] });
    const read = await fetch(`${server.url}/t2/tasks/${own?.id}`, { headers: { 'A2A-Version': '1.0' } });
    expect(await read.json()).toMatchObject({ id: own?.id });
  });

  it('cards name host and port, and the tenant of other agents', async () => {
    const card = async (path: string): Promise<{ supportedInterfaces: readonly Record<string, unknown>[] }> =>
      (await fetch(`${server.url}${path}/.well-known/agent-card.json`)).json();
    const url = `127.0.0.1:${server.port}`;
    const grpc = ({ supportedInterfaces }: Awaited<ReturnType<typeof card>>): unknown =>
      supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === 'GRPC');
    expect(grpc(await card(''))).toEqual([
      { url, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'GRPC', protocolVersion: '0.3' },
    ]);
    expect(grpc(await card('/agents/echo'))).toEqual([{ url, protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: 'echo' }]);
  });
});

describe('across bindings', () => {
  it('a task made over gRPC is read over JSON, and a repeat with the same key is one task', async () => {
    const metadata = { 'idempotency-key': 'once' };
    const request = say('chunks=1');
    const [first, second] = [await client.call('send', request, { metadata }), await client.call('send', request, { metadata })];
    expect(second.task?.id).toBe(first.task?.id);
    const read = await fetch(`${server.url}/tasks/${first.task?.id}`, { headers: { 'A2A-Version': '1.0' } });
    expect(await read.json()).toMatchObject({ id: first.task?.id, status: { state: 'TASK_STATE_COMPLETED' } });
    const made = await fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify(sendBody('chunks=1')),
    });
    const { task } = (await made.json()) as { task: { id: string } };
    expect(await client.call('get', { id: taskId(task.id) })).toMatchObject({ id: task.id });
  });

  it('calls are counted like those of HTTP', async () => {
    await client.call('send', say('chunks=1'));
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toMatch(/parley_calls_total\{agent="script",dialect="v10",operation="send",outcome="ok"\} \d+/);
    expect(text).toMatch(/parley_http_requests_total\{route="grpc",status="grpc OK"\} \d+/);
    expect(await metric(server.url, 'parley_streams_open')).toBe(0);
  });
});
