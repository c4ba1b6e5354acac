import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AdminReplica, Task } from '#protocol';
import { eventually } from '../support/eventually.ts';
import { grpcClient } from '../support/grpc.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getJson, getTask, logOf, sendInit, sendTask, tasksWhere } from './client.ts';
import type { ClusterNode, ClusterOptions } from './cluster.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { eventOf, eventsOf } from './frames.ts';
import { childFile } from './parley.ts';

interface RpcAnswer {
  readonly result?: { readonly id: string; readonly status: { readonly state: string }; readonly kind?: string };
  readonly error?: unknown;
}

async function rpc(url: string, method: string, params: object): Promise<RpcAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
  return (await getJson(`${url}/a2a`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })) as RpcAnswer;
}

/** A send of 0.1: the caller names the task, and its message has no id. */
function sendNamed(url: string, id: string, text: string): Promise<RpcAnswer> {
  return rpc(url, 'tasks/send', { id, message: { role: 'user', parts: [{ type: 'text', text }] } });
}

/** The numbers and the text of a stream. Throws if it ends before its task, or is not numbered one after another. */
async function readStream(response: Response): Promise<{ readonly id: string; readonly text: string }> {
  let [last, text, id, state] = [0, '', '', ''];
  for await (const frame of eventsOf(response)) {
    const { task, statusUpdate, artifactUpdate } = eventOf(frame);
    if (last > 0 && Number(frame.id) !== last + 1) throw new Error(`${last}, and then ${frame.raw}`);
    last = Number(frame.id);
    id = task?.id ?? id;
    state = task?.status.state ?? statusUpdate?.status.state ?? state;
    for (const part of artifactUpdate?.artifact.parts ?? []) text += 'text' in part ? part.text : '';
  }
  expect(state).toBe('TASK_STATE_COMPLETED');
  return { id, text };
}

const portOf = ({ url }: ClusterNode): number => Number(new URL(url).port);

suiteNeeding('postgresql', hasPostgres, 'a node that does not own a task', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  interface Pair {
    readonly cluster: Cluster;
    readonly owner: ClusterNode;
    readonly other: ClusterNode;
    /** A conversation in a cell of the owner. */
    readonly contextId: string;
  }

  const started = async (database: string, options: ClusterOptions = {}): Promise<Pair> => {
    const cluster = await startCluster(postgres, { database, data }, options);
    await cluster.divided();
    const [owner, other] = cluster.nodes;
    if (owner === undefined || other === undefined) throw new Error('there is one node only');
    // A new conversation begins in a cell of the node that gets it.
    const { contextId = '' } = await sendTask(owner.url, 'chunks=1');
    return { cluster, owner, other, contextId };
  };

  it('answers every binding as the owner does', { timeout: 300_000 }, async () => {
    const { cluster, other, owner, contextId } = await started('forwards');
    const { url } = other;
    const forwards = async (): Promise<number> =>
      Number(/^parley_replica_forwards_total\{outcome="ok"\} (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1] ?? 0);
    // A send that names neither a task nor a conversation is answered where it arrives.
    await sendTask(url, 'chunks=1');
    expect(await forwards()).toBe(0);
    const task = await sendTask(url, 'chunks=3', { contextId });
    expect(await forwards()).toBe(1);
    expect(await getTask(owner.url, task.id)).toEqual(task);
    expect(await getTask(url, task.id)).toEqual(task);
    expect(await forwards()).toBe(1);
    expect((await readStream(await fetch(`${url}/message:stream`, sendInit('chunks=20', { contextId })))).text).toContain('chunk 20');
    const message = { kind: 'message', messageId: 'm-03', contextId, role: 'user', parts: [{ kind: 'text', text: 'chunks=1' }] };
    expect((await rpc(url, 'message/send', { message })).result?.kind).toBe('task');
    expect((await sendNamed(owner.url, 'named', 'chunks=1')).result?.id).toBe('named');
    expect((await sendNamed(url, 'named', 'chunks=1')).result?.id).toBe('named');
    expect(await forwards()).toBe(4);
    const asking = await sendTask(owner.url, 'ask');
    expect((await sendTask(url, 'yes', { taskId: asking.id })).status.state).toBe('TASK_STATE_COMPLETED');
    const sleeping = await sendTask(owner.url, 'sleep=600000', { returnImmediately: true });
    expect((await fetch(`${url}/tasks/${sleeping.id}:cancel`, { method: 'POST' })).status).toBe(200);
    expect((await getTask(url, sleeping.id)).status.state).toBe('TASK_STATE_CANCELED');
    const grpc = grpcClient(portOf(other));
    // A busy owner may refuse a call. The message id makes a repetition the same send.
    const message10 = { messageId: 'm-grpc', contextId, role: 'ROLE_USER', parts: [{ text: 'chunks=2' }] };
    await eventually(async () => {
      const sent = await grpc.call('send', { message: message10 } as never);
      expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
    });
    grpc.close();
    expect((await tasksWhere(url, `contextId=${task.contextId}`)).map(({ id }) => id)).toContain(task.id);
    // The card names the address that the caller used.
    expect(JSON.stringify(await getJson(`${url}/.well-known/agent-card.json`))).toContain(`${url}/`);
    expect((await fetch(`${url}/tasks/none`)).status).toBe(404);
    expect((await fetch(`${url}/message:send`, { ...sendInit('x'), body: '{' })).status).toBe(400);
    expect((await fetch(`${url}/tasks`, { headers: { Origin: 'https://elsewhere.example' } })).status).toBe(403);
    // Headers of the link mean nothing from the outside.
    expect((await fetch(`${url}/tasks/${task.id}`, { headers: { 'Parley-Link-Facts': 'e30', 'Parley-Link-Proof': 'x' } })).status).toBe(
      200,
    );
    expect(await getJson(`${url}/readyz`)).toEqual({
      status: 'ready',
      replica: { replicas: cluster.nodes.length, cells: expect.any(Number), leaseMs: expect.any(Number) },
    });
    const { replicas } = (await getJson(`${url}/api/parley/v1/replicas`)) as { readonly replicas: readonly AdminReplica[] };
    expect(replicas.reduce((sum, { cells }) => sum + cells, 0)).toBe(128);
    expect(replicas.find(({ isThis }) => isThis)?.url).toBe(url);
    expect(replicas.map((each) => each.url).toSorted()).toEqual(cluster.nodes.map((each) => each.url).toSorted());
    await cluster.stop();
  });

  it('answers pages, webhooks, administrators and the console at a node that does not own the task', { timeout: 300_000 }, async () => {
    const { cluster, other, owner, contextId } = await started('managed');
    const { url } = other;
    const admin = `${url}/api/parley/v1/tasks`;
    const task = await sendTask(owner.url, 'ask', { contextId });
    for (let at = 0; at < 3; at += 1) await sendTask(owner.url, 'chunks=1', { contextId });
    // A page token of one node is valid at all of them.
    const seen: string[] = [];
    let token = '';
    do {
      const from = seen.length % 2 === 0 ? owner.url : url;
      const page = (await getJson(`${from}/tasks?contextId=${contextId}&pageSize=1&pageToken=${encodeURIComponent(token)}`)) as {
        readonly tasks: readonly Task[];
        readonly nextPageToken?: string;
      };
      seen.push(...page.tasks.map(({ id }) => id));
      token = page.nextPageToken ?? '';
    } while (token !== '');
    expect(new Set(seen).size).toBe(5);
    expect(seen).toHaveLength(5);
    // A webhook that is set and deleted at another node.
    const configs = `/tasks/${task.id}/pushNotificationConfigs`;
    const set = await fetch(`${url}${configs}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: 'hook', url: 'https://receiver.example/hook', token: 'secret' }),
    });
    expect(set.status, await set.clone().text()).toBe(200);
    expect(JSON.stringify(await getJson(`${owner.url}${configs}`))).toContain('https://receiver.example/hook');
    const unset = await fetch(`${url}${configs}/hook`, { method: 'DELETE' });
    expect(unset.ok, await unset.text()).toBe(true);
    expect(JSON.stringify(await getJson(`${owner.url}${configs}`))).not.toContain('receiver.example');
    // Administrators: events, cancel, retry, delete. The last one has an empty response.
    const events = (await getJson(`${admin}/${task.id}/events`)) as { readonly events: readonly object[] };
    expect(events.events.length).toBeGreaterThan(1);
    expect((await fetch(`${admin}/${task.id}:cancel`, { method: 'POST' })).status).toBe(200);
    expect((await getTask(url, task.id)).status.state).toBe('TASK_STATE_CANCELED');
    expect((await fetch(`${admin}/${task.id}:retry`, { method: 'POST' })).status).toBe(201);
    const gone = await fetch(`${admin}/${task.id}`, { method: 'DELETE' });
    expect([gone.status, await gone.text()]).toEqual([204, '']);
    expect((await fetch(`${owner.url}/tasks/${task.id}`)).status).toBe(404);
    expect((await fetch(`${url}/console/`)).status).toBe(200);
    await cluster.stop();
  });

  /** What a caller of 0.1 has sent twice is in the log twice. */
  const messagesIn = async (url: string, alias: string): Promise<number> => {
    const { result } = await rpc(url, 'tasks/get', { id: alias });
    expect(result?.status.state).toBe('completed');
    const all = await tasksWhere(url, 'pageSize=100');
    let messages = 0;
    for (const { id } of all) {
      const log = JSON.stringify(await logOf(url, id));
      if (log.includes('sleep=2500')) messages += log.split('sleep=2500').length - 1;
    }
    return messages;
  };

  it.each(['SIGKILL', 'SIGTERM'] as const)('continues requests and streams after %s of the owner', { timeout: 300_000 }, async (signal) => {
    const { cluster, owner, other, contextId } = await started(`owner_${signal.toLowerCase()}`);
    const { url } = other;
    await sendNamed(owner.url, 'named', 'chunks=1');
    const streaming = fetch(`${url}/message:stream`, sendInit('chunks=25 delay=100', { contextId })).then(readStream);
    const blocking = sendTask(url, 'sleep=2000 chunks=2', { contextId });
    const named = sendNamed(url, 'named', 'sleep=2500');
    const begun = async (): Promise<void> => {
      while ((await tasksWhere(url, 'pageSize=10')).length < 5) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await begun();
    owner.child.process.kill(signal);
    const { id, text } = await streaming;
    expect(text).toContain('chunk 25');
    expect((await getTask(url, id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await blocking).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await named).result?.status.state).toBe('completed');
    expect(await messagesIn(url, 'named')).toBe(1);
    await cluster.stop();
  });

  it('sends a message twice in the control, which repeats it under another key', { timeout: 300_000 }, async () => {
    const { cluster, owner, other } = await started('keyless', { entry: childFile('keyless-replica.ts') });
    await sendNamed(owner.url, 'named', 'chunks=1');
    const named = sendNamed(other.url, 'named', 'sleep=2500');
    while ((await tasksWhere(other.url, 'pageSize=10')).length < 3) await new Promise((resolve) => setTimeout(resolve, 50));
    owner.child.process.kill('SIGKILL');
    expect((await named).result?.status.state).toBe('completed');
    expect(await messagesIn(other.url, 'named')).toBe(2);
    await cluster.stop();
  });
});
