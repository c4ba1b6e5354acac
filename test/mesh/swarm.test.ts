import { afterEach, describe, expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import { createEngine } from '#engine';
import type { Directive, SwarmKind, SwarmOptions } from '#mesh';
import { createSwarmNodes, openSwarm, registerSwarmHandler, SWARM_KINDS, swarmAgent, writeDirective } from '#mesh';
import type { A2AService, JsonObject, SendRequest, Task } from '#protocol';
import { createUserMessage } from '#protocol';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { eventually } from '../support/eventually.ts';
import { callContext } from './support.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const echo = () => builtInAgents.get('echo')?.create() as never;

async function node(self: string, more: Partial<SwarmOptions> = {}) {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => new Date(now) };
  const nodes = createSwarmNodes({ self, clock });
  const swarm = swarmAgent({ nodes, resources: () => ({ cpu: 4, load: 0.5 }), clock, ...more });
  const engine = createEngine({ store: memoryStore(), agents: { main: echo(), swarm } });
  await engine.start();
  open.push(() => engine.stop({ ms: 100 }));
  const service = registerSwarmHandler(engine.serviceOf('swarm'))(engine.serviceOf('main'));
  return {
    service,
    engine,
    nodes,
    clock,
    pass: (ms: number): void => {
      now += ms;
    },
    peer: { id: self, service },
  };
}

const ran: Directive[] = [];
const handlers: SwarmOptions['handlers'] = Object.fromEntries(
  (['spawn_agent', 'execute_task', 'forward_message'] as const).map((kind) => [
    kind,
    (directive: Directive) => {
      ran.push(directive);
      return `${kind} done`;
    },
  ]),
);
const PAYLOADS: Readonly<Record<SwarmKind, JsonObject>> = {
  spawn_agent: { instruction: 'look', agentType: 'coder' },
  execute_task: { command: 'ls' },
  query_resources: {},
  forward_message: { message: 'hi', targetSessionId: 's' },
  sync_state: { state: { resources: [{ nodeId: 'c', at: 1, resources: { cpu: 1 } }] } },
};

function asSent(kind: string, body: unknown, metadata: Record<string, unknown> = {}): SendRequest {
  const message = createUserMessage(typeof body === 'string' ? body : JSON.stringify(body));
  return { message: { ...message, metadata: { swarmKind: kind, swarmSourceNodeId: 'a', ...metadata } as never } };
}
async function answerOf(service: A2AService, request: SendRequest): Promise<{ task: Task; said: Record<string, unknown> }> {
  const { task } = await service.send(request, callContext());
  if (task === undefined) throw new Error('no task');
  const text = task.artifacts?.[0]?.parts[0]?.text ?? '{}';
  expect(task.status.message?.parts[0]?.text).toBe(text);
  return { task, said: JSON.parse(text) as Record<string, unknown> };
}

describe('a directive', () => {
  it.each(SWARM_KINDS.flatMap((kind) => ['nested', 'flat'].map((form) => [kind, form] as const)))(
    '%s is carried out, its fields %s',
    async (kind, form) => {
      ran.length = 0;
      const { service, nodes } = await node('b', { handlers, allow: () => true });
      const payload = PAYLOADS[kind];
      const { task, said } = await answerOf(
        service,
        asSent(kind, form === 'nested' ? { kind, payload, priority: 'high' } : { kind, ...payload }),
      );
      expect([task.status.state, said['status']]).toEqual(['TASK_STATE_COMPLETED', 'completed']);
      if (kind === 'query_resources') expect(said['output']).toMatchObject({ cpu: 4, swarm: { self: 'b' } });
      else if (kind === 'sync_state')
        expect(nodes.topology().nodes.map(({ id, via }) => [id, via])).toEqual([
          ['a', undefined],
          ['c', 'a'],
        ]);
      else expect([said['output'], ran[0]?.payload]).toEqual([`${kind} done`, payload]);
    },
  );

  it.each(['spawn_agent', 'execute_task'] as const)('%s is refused unless the policy allows it', async (kind) => {
    ran.length = 0;
    const { service } = await node('b', { handlers });
    const { task, said } = await answerOf(service, asSent(kind, { payload: PAYLOADS[kind] }));
    expect([task.status.state, said['status']]).toEqual(['TASK_STATE_FAILED', 'rejected']);
    expect(String(said['error'])).toContain('not allowed');
    expect(ran).toEqual([]);
  });

  it('is refused when it is expired, malformed, of an unknown kind, or for another node', async () => {
    const { service } = await node('b', { handlers, allow: () => true });
    const late = Date.parse('2025-12-31T00:00:00Z');
    const cases: readonly (readonly [SendRequest, string])[] = [
      [asSent('forward_message', { message: 'x', createdAt: late, ttlMs: 1000 }), 'expired'],
      [asSent('forward_message', { message: 'x', expiresAt: new Date(late).toISOString() }), 'expired'],
      [asSent('forward_message', { message: 'x', ttlMs: 0 }), 'expired'],
      [asSent('forward_message', { payload: {} }), 'rejected'],
      [asSent('explode', {}), 'failed'],
      [asSent('forward_message', 'no json'), 'failed'],
      [asSent('forward_message', { message: 'x', priority: 'now' }), 'failed'],
      [asSent('forward_message', { message: 'x', targetNodeId: 'z' }), 'rejected'],
    ];
    for (const [request, status] of cases) {
      const { task, said } = await answerOf(service, request);
      expect([task.status.state, said['status']]).toEqual(['TASK_STATE_FAILED', status]);
    }
  });

  it('reports an error of its handler', async () => {
    const { service } = await node('b', { handlers: { forward_message: () => Promise.reject(new Error('no such session')) } });
    const { task, said } = await answerOf(service, asSent('forward_message', { message: 'x' }));
    expect([task.status.state, said['error']]).toEqual(['TASK_STATE_FAILED', 'Swarm directive failed: no such session']);
  });

  it('waits while others run, the most urgent first', async () => {
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const forward = async ({ payload }: Directive) => {
      order.push(String(payload['message']));
      await gate.promise;
      return null;
    };
    const { service, engine } = await node('b', { handlers: { forward_message: forward }, atOnce: 1 });
    const sent = [service.send(asSent('forward_message', { message: 'first' }), callContext())];
    await expect.poll(() => order.length).toBe(1);
    for (const priority of ['low', 'normal', 'critical', 'high']) {
      sent.push(service.send(asSent('forward_message', { message: priority, priority }), callContext()));
    }
    // All runs have started, so all directives are in the queue.
    await eventually(async () => {
      const { tasks } = await engine.admin.tasks({});
      expect(tasks.map(({ state }) => state)).toEqual(Array(5).fill('TASK_STATE_WORKING'));
    });
    gate.resolve();
    await Promise.all(sent);
    expect(order).toEqual(['first', 'critical', 'high', 'normal', 'low']);
  });
});

describe('a node with directives', () => {
  it('sends other messages to the agent, and finds each task', async () => {
    const { service } = await node('b');
    const plain = await service.send({ message: createUserMessage('hello') }, callContext());
    const directive = await service.send(asSent('query_resources', {}), callContext());
    for (const { task } of [plain, directive]) {
      const got = await service.get({ id: task?.id as Task['id'] }, callContext());
      expect(got.status.state).toBe('TASK_STATE_COMPLETED');
    }
    expect(JSON.stringify(plain.task ?? plain.message)).toContain('hello');
    await expect(service.get({ id: 'nobody' as never }, callContext())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });

  it('reports the nodes to each other, and silent ones become stale', async () => {
    const [a, b] = [await node('a'), await node('b')];
    const missed: string[] = [];
    const swarm = openSwarm({
      self: 'a',
      nodes: a.nodes,
      clock: a.clock,
      resources: () => ({ cpu: 2 }),
      heartbeatMs: 3_600_000,
      onMissed: (peer) => missed.push(peer),
      peers: () => [b.peer, { id: 'dead', service: { ...b.service, send: () => Promise.reject(new Error('gone')) } }],
    });
    open.push(async () => swarm.close());
    await swarm.beat();
    expect(missed).toEqual(['dead']);
    expect(b.nodes.topology()).toMatchObject({
      self: 'b',
      online: 1,
      stale: 0,
      nodes: [{ id: 'a', status: 'online', resources: { cpu: 2 } }],
    });
    b.pass(119_000);
    expect(b.nodes.topology().online).toBe(1);
    b.pass(2000);
    expect(b.nodes.topology()).toMatchObject({ online: 0, stale: 1, nodes: [{ status: 'offline' }] });
    a.pass(121_000);
    const answers = await swarm.broadcast({ kind: 'query_resources' });
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.status : 'gone'))).toEqual(['completed', 'gone']);
  });

  it('limits snapshots, and writes fields on both levels', () => {
    let now = 0;
    const nodes = createSwarmNodes({ self: 'a', clock: { now: () => new Date(now) }, snapshotsMax: 3 });
    for (now = 1; now <= 10; now += 1) nodes.merge('b', [{ nodeId: 'b', at: now, resources: { now } }]);
    expect(nodes.history('b')).toHaveLength(3);
    const { message } = writeDirective({ kind: 'execute_task', sourceNodeId: 'a', payload: { command: 'ls' } }, 1000);
    expect(JSON.parse(message.parts[0]?.text ?? '')).toMatchObject({ command: 'ls', payload: { command: 'ls' }, expiresAt: 121_000 });
    expect(message.metadata).toEqual({ swarmKind: 'execute_task', swarmPriority: 'normal', swarmSourceNodeId: 'a' });
    expect(message.contextId).toMatch(/^swarm\.dir_/);
  });
});
