import { afterEach, expect, it } from 'vitest';
import { createEngine } from '#engine';
import type { Swarm, SwarmNodes, SwarmOptions, SwarmPeer } from '#mesh';
import { createSwarmNodes, openSwarm, registerSwarmHandler, swarmAgent } from '#mesh';
import { reachAgent } from '#tools';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { builtIn, startServer } from '../support/server.ts';

const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface HttpNode {
  readonly url: string;
  readonly nodes: SwarmNodes;
  /** The node as others reach it, over HTTP. */
  peer(): Promise<SwarmPeer>;
  swarm(peers: readonly SwarmPeer[]): Swarm;
}

/** A node over HTTP whose directives go to the swarm agent (docs/dialects/cortex.md). */
async function httpNode(self: string, more: Partial<SwarmOptions> = {}): Promise<HttpNode> {
  const nodes = createSwarmNodes({ self });
  const resources = () => ({ cpu: 4, node: self });
  const main = builtIn('echo');
  const engine = createEngine({ store: memoryStore(), agents: { main, swarm: swarmAgent({ nodes, resources, ...more }) } });
  await engine.start();
  open.push(() => engine.stop({ ms: 100 }));
  const service = registerSwarmHandler(engine.serviceOf('swarm'))(engine.serviceOf('main'));
  const server = await startServer({ agents: [{ name: 'main', card: main.card, service }] });
  open.push(() => server.close());
  return {
    url: server.url,
    nodes,
    peer: async () => ({ id: self, service: (await reachAgent({ url: server.url })).service }),
    swarm: (peers) => {
      const swarm = openSwarm({ self, nodes, resources, peers: () => peers, heartbeatMs: 3_600_000 });
      open.push(() => swarm.close());
      return swarm;
    },
  };
}

const rpc = (url: string, text: unknown, metadata: Record<string, string> = {}): Promise<unknown> =>
  fetch(`${url}/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: crypto.randomUUID(),
      method: 'SendMessage',
      params: {
        message: {
          messageId: crypto.randomUUID(),
          role: 'user',
          parts: [{ text: typeof text === 'string' ? text : JSON.stringify(text) }],
          metadata,
        },
        configuration: { blocking: true, acceptedOutputModes: ['text'], historyLength: 0 },
      },
    }),
  }).then((answer) => answer.json());

it('a CortexPrism directive is answered at /a2a with the topology, and other messages by the agent', async () => {
  const { url } = await httpNode('b');
  const directive = { kind: 'query_resources', payload: {}, priority: 'normal', sourceNodeId: 'node_a' };
  const about = { contextId: 'swarm.dir_1', swarmKind: 'query_resources', swarmPriority: 'normal', swarmSourceNodeId: 'node_a' };
  const answer = (await rpc(url, directive, about)) as {
    result: { status: { state: string }; artifacts: { parts: { text: string }[] }[] };
  };
  expect(answer.result.status.state).toBe('TASK_STATE_COMPLETED');
  expect(JSON.parse(answer.result.artifacts[0]?.parts[0]?.text ?? '')).toMatchObject({
    status: 'completed',
    output: { cpu: 4, swarm: { self: 'b', nodes: [] } },
  });
  expect(JSON.stringify(await rpc(url, 'hello'))).toContain('hello');
});

it('directives that run something are refused at /a2a unless the policy allows them', async () => {
  const ran: string[] = [];
  const handlers: SwarmOptions['handlers'] = { execute_task: ({ payload }) => `run ${ran.push(String(payload['command']))}` };
  const about = { swarmKind: 'execute_task', swarmSourceNodeId: 'a' };
  const [closed, opened] = [
    await httpNode('b', { handlers }),
    await httpNode('c', { handlers, allow: ({ sourceNodeId }) => sourceNodeId === 'a' }),
  ];
  expect(JSON.stringify(await rpc(closed.url, { payload: { command: 'ls' } }, about))).toContain('not allowed');
  expect(ran).toEqual([]);
  expect(JSON.stringify(await rpc(opened.url, { payload: { command: 'ls' } }, about))).toContain('TASK_STATE_COMPLETED');
  expect(ran).toEqual(['ls']);
});

it('three nodes send heartbeats over HTTP, and each reports the whole swarm', async () => {
  const all = [await httpNode('a'), await httpNode('b'), await httpNode('c')] as const;
  const [a, b, c] = all;
  const [toA, toB, toC] = [await a.peer(), await b.peer(), await c.peer()];
  await a.swarm([toB]).beat(); // b learns of a
  await b.swarm([toA, toC]).beat(); // c learns of b, and of a through b
  await c.swarm([toA]).beat(); // a learns of c
  expect(c.nodes.topology().nodes.map(({ id, status, via }) => [id, status, via])).toEqual([
    ['a', 'online', 'b'],
    ['b', 'online', undefined],
  ]);
  expect(a.nodes.topology()).toMatchObject({ self: 'a', online: 2, stale: 0 });
  const asked = await a.swarm([toB, toC]).broadcast({ kind: 'query_resources' });
  expect(asked.map((answer) => answer.status === 'fulfilled' && (answer.value.output as { node: string }).node)).toEqual(['b', 'c']);
});
