import { afterEach, describe, expect, it } from 'vitest';
import { ElsewhereError } from '#engine';
import type { ReplicaRow } from '../../src/engine/adapters/postgres.ts';
import { interceptCalls } from '../../src/server/agents/intercept.ts';
import { eventually } from '../support/eventually.ts';
import { grpcClient } from '../support/grpc.ts';
import type { Replica } from '../support/replicas.ts';
import { closeReplicas, closing, replica, replicaPair } from '../support/replicas.ts';
import { serviceMoving } from '../support/services-elsewhere.ts';
import { STREAM_CALLERS } from '../support/stream-callers.ts';

afterEach(closeReplicas);

const rpc = async (url: string, method: string, params: object): Promise<Record<string, Record<string, unknown>>> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return await (await fetch(`${url}/a2a`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).json();
};
const post = (url: string, body: unknown, type = 'application/json'): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) });
const message = (text: string, id = text): Record<string, unknown> => ({ messageId: `m-${id}`, role: 'ROLE_USER', parts: [{ text }] });

describe('a request that belongs to another replica', () => {
  it('is answered by that replica, in every binding', async () => {
    const { entry, owner } = await replicaPair();
    const { url, port } = entry.server;
    const sent = await (await post(`${url}/message:send`, { message: message('chunks=2') })).json();
    expect(sent.task.status.state).toBe('TASK_STATE_COMPLETED');
    const { id } = sent.task;
    expect((await (await fetch(`${owner.server.url}/tasks/${id}`)).json()).id).toBe(id);
    expect((await rpc(url, 'SendMessage', { message: message('a') })).result?.['task']).toMatchObject({ contextId: expect.any(String) });
    const old = { kind: 'message', messageId: 'm-03', role: 'user', parts: [{ kind: 'text', text: 'a' }] };
    expect((await rpc(url, 'message/send', { message: old })).result?.['kind']).toBe('task');
    expect((await rpc(url, 'tasks/get', { id })).result?.['id']).toBe(id);
    expect(await (await post(`${url}/message:stream`, { message: message('chunks=30') })).text()).toContain('chunk 30');
    expect((await post(`${url}/tasks/none:cancel`, {})).status).toBe(404);
    const grpc = grpcClient(port);
    closing.push(() => grpc.close());
    expect((await grpc.call('send', { message: message('b') } as never)).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await grpc.refusal('get', { id: 'none' } as never)).error.kind).toBe('TASK_NOT_FOUND');
    const stream = grpc.stream('stream', { message: message('chunks=20', 'grpc') } as never);
    expect((await stream.ended).code).toBe(0);
    expect(JSON.stringify(stream.events)).toContain('chunk 20');
    const connect = await post(`${url}/lf.a2a.v1.A2AService/SendMessage`, { message: message('c') });
    expect((await connect.json()).task.status.state).toBe('TASK_STATE_COMPLETED');
    const frame = Buffer.from(JSON.stringify({ message: message('chunks=3', 'connect') }));
    const head = Buffer.from([0, 0, 0, 0, frame.length]);
    const body = Buffer.concat([head, frame]).toString('latin1');
    const streamed = await post(`${url}/lf.a2a.v1.A2AService/SendStreamingMessage`, body, 'application/connect+json');
    expect(await streamed.text()).toContain('chunk 3');
  });

  it('may be a DELETE, which has no body', async () => {
    const { entry, owner } = await replicaPair();
    const { task } = await (await post(`${owner.server.url}/message:send`, { message: message('ask') })).json();
    const configs = `/tasks/${task.id}/pushNotificationConfigs`;
    expect((await post(`${owner.server.url}${configs}`, { id: 'hook', url: 'https://receiver.example/hook' })).status).toBe(200);
    for (let at = 0; at < 20; at += 1) {
      const deleted = await fetch(`${entry.server.url}${configs}/hook`, { method: 'DELETE' });
      expect([deleted.status, await deleted.text()]).toEqual([200, '{}']);
    }
  });

  it('is counted once: a send where it arrived, other requests where they are answered', async () => {
    const { entry, owner } = await replicaPair();
    const { url, port } = entry.server;
    const sent = await (await post(`${url}/message:send`, { message: message('chunks=2') })).json();
    await fetch(`${url}/tasks/${sent.task.id}`);
    const grpc = grpcClient(port);
    closing.push(() => grpc.close());
    await grpc.call('send', { message: message('d') } as never);
    const [here, there] = await Promise.all([entry, owner].map(async ({ server }) => (await fetch(`${server.url}/metrics`)).text()));
    const [sends, gets] = ['send', 'get'].map((operation) => `parley_calls_total{agent="script",dialect="v10",operation="${operation}"`);
    expect(here).toContain(`${sends},outcome="ok"} 2`);
    expect(here).not.toContain(gets);
    expect(there).toContain(`${gets},outcome="ok"} 1`);
    expect(there).not.toContain(sends);
  });

  it('waits for an owner of its cell, and follows a replica that knows a better one', async () => {
    const rows: ReplicaRow[] = [];
    const cells = { third: 2 as number | undefined };
    const second = await replica(2, () => rows);
    const third = await replica(
      3,
      () => rows,
      () => cells.third,
    );
    const entry = await replica(
      1,
      () => rows,
      () => 3,
    );
    rows.push(entry.row, second.row, third.row);
    // The third one says that the cell is that of the second.
    const sent = await (await post(`${entry.server.url}/message:send`, { message: message('a') })).json();
    expect((await (await fetch(`${second.server.url}/tasks/${sent.task.id}`)).json()).id).toBe(sent.task.id);
    // Nobody owns the cell for a while.
    rows.splice(0, rows.length, entry.row);
    const waiting = post(`${entry.server.url}/message:send`, { message: message('b') });
    cells.third = undefined;
    await new Promise((resolve) => setTimeout(resolve, 200));
    rows.push(third.row);
    expect((await (await waiting).json()).task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('is continued by another replica if its cell moves while its events are read', async () => {
    const rows: ReplicaRow[] = [];
    const owner = await replica(2, () => rows);
    const entry = await replica(1, () => rows, undefined, { given: serviceMoving(owner.service, 2) });
    rows.push(entry.row, owner.row);
    const text = await (await post(`${entry.server.url}/message:stream`, { message: message('chunks=40 delay=5', 'moves') })).text();
    const numbers = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(numbers.length).toBeGreaterThan(40);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(text).toContain('chunk 40');
    expect(text).not.toContain('another node of this cluster');
    expect((await (await fetch(`${owner.server.url}/tasks`)).json()).totalSize).toBe(1);
  });

  it.each(STREAM_CALLERS)('is continued by the next owner over $name, each piece once', async ({ stream }) => {
    const rows: ReplicaRow[] = [];
    const next = await replica(3, () => rows);
    const moved = { count: 0 };
    const owner: Replica = await replica(2, () => rows, undefined, {
      given: serviceMoving(next.service, 2, () => {
        moved.count += 1;
        rows.splice(1, 2, { ...owner.row, owned: [] }, { ...next.row, owned: [3, 2] });
      }),
    });
    const entry = await replica(
      1,
      () => rows,
      () => 2,
    );
    const said = { text: 'chunks=40 delay=5' };
    const whole = { text: Array.from({ length: 40 }, (_, at) => `chunk ${at + 1}`).join(''), isWhole: true };
    // At the port of another replica, and at that of the owner which loses the cell.
    for (const { server } of [entry, owner]) {
      rows.splice(0, rows.length, entry.row, owner.row, next.row);
      expect(await stream(server.url, said)).toMatchObject(whole);
    }
    expect(moved.count).toBe(2);
    expect((await (await fetch(`${next.server.url}/tasks`)).json()).totalSize).toBe(2);
  });

  it('stops waiting at the owner when the caller of a send leaves', async () => {
    const rows: ReplicaRow[] = [];
    const signals: AbortSignal[] = [];
    const next = await replica(3, () => rows);
    const waiting = interceptCalls(next.service, {
      unary: ({ ctx }, call) => {
        signals.push(ctx.signal);
        return call(ctx);
      },
      stream: ({ ctx }, call) => call(ctx),
    });
    const owner = await replica(2, () => rows, undefined, { given: waiting });
    const entry = await replica(
      1,
      () => rows,
      () => 2,
    );
    rows.push(entry.row, owner.row);
    const caller = new AbortController();
    const body = JSON.stringify({ message: message('chunks=1000 delay=60') });
    const headers = { 'Content-Type': 'application/json' };
    const sent = fetch(`${entry.server.url}/message:send`, { method: 'POST', headers, body, signal: caller.signal });
    await eventually(() => signals.length === 1);
    expect(signals[0]?.aborted).toBe(false);
    caller.abort();
    await expect(sent).rejects.toThrow();
    await eventually(() => signals[0]?.aborted === true);
  });

  it('asks the next owner for the result of a send whose first owner ends', async () => {
    const rows: ReplicaRow[] = [];
    const sends: string[] = [];
    const next = await replica(3, () => rows);
    const dying = interceptCalls(next.service, {
      unary: async ({ ctx }, call) => {
        sends.push(String(ctx.retryKey));
        await call(ctx);
        rows.splice(1, 2, { ...next.row, owned: [2, 3] });
        ctx.onAdmitted?.('t' as never);
        throw new ElsewhereError(2); // its answer is lost: the entry learns only that another replica has the cell
      },
      stream: ({ ctx }, call) => call(ctx),
    });
    const owner = await replica(2, () => rows, undefined, { given: dying });
    const entry = await replica(
      1,
      () => rows,
      () => 2,
    );
    rows.push(entry.row, owner.row, next.row);
    const sent = await (await post(`${entry.server.url}/message:send`, { message: message('chunks=2') })).json();
    expect(sent.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(sends).toHaveLength(1);
    expect((await (await fetch(`${next.server.url}/tasks`)).json()).totalSize).toBe(1);
  });

  it('goes to another replica while this one shuts down', async () => {
    const rows: ReplicaRow[] = [];
    const [entry, other] = [await replica(1, () => rows), await replica(2, () => rows)];
    rows.push(entry.row, other.row);
    const { url } = entry.server;
    const closed = entry.server.handler.close();
    const sent = await (await post(`${url}/message:send`, { message: message('chunks=1') })).json();
    expect(sent.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await (await fetch(`${other.server.url}/tasks/${sent.task.id}`)).json()).id).toBe(sent.task.id);
    const grpc = grpcClient(entry.server.port);
    closing.push(() => grpc.close());
    expect((await grpc.call('send', { message: message('during') } as never)).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    await closed;
  });
});
