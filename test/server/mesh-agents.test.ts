import { afterEach, expect, it } from 'vitest';
import type { AdminMesh } from '#protocol';
import type { Handler, MeshPort } from '#server';
import { tokenAuth } from '#server';
import { builtIn, handlerOf, jsonRequest, rpcSend, sendBody } from '../support/server.ts';

const TOKEN = 'the-token-of-the-operator-0123456789';
const AT = 'http://localhost';
const FAR = `${AT}/api/parley/v1/mesh/agents/far`;
const open: Handler[] = [];
afterEach(async () => {
  for (const handler of open.splice(0)) await handler.close();
});

const peer = (name: string): AdminMesh['peers'][number] => ({
  ...{ kind: 'agent', name, description: 'd', version: '1', state: 'live', seenAt: '2026-01-01T00:00:00Z', silentMs: 1 },
  ...{ replicas: [], isOurs: false },
});
const port: MeshPort = {
  shown: () => ({
    ...{ broker: 'memory', isConnected: true, namespace: 'n', grammar: 'sam', at: '2026-01-01T00:00:00Z', hears: 'own', calls: [] },
    ...{ peers: [peer('echo'), peer('far')], counts: { dropped: 0, refused: 0, ignored: 0 } },
  }),
  agent: (name) => (name === 'far' ? builtIn('script') : undefined),
};
const node = (more: Parameters<typeof handlerOf>[0] = {}): Handler => {
  const handler = handlerOf(more);
  open.push(handler);
  return handler;
};
const json = async (response: Response): Promise<never> => (await response.json()) as never;

it('reports that a node belongs to no mesh', async () => {
  const { fetch } = node();
  expect(await json(await fetch(new Request(`${AT}/api/parley/v1/mesh`)))).toEqual({ mesh: null });
  expect((await fetch(new Request(`${FAR}/.well-known/agent-card.json`))).status).toBe(404);
});

it('serves agents of the mesh to operators, stores their tasks, and leaves them out of the catalog', async () => {
  const { fetch } = node({ mesh: port });
  const { mesh } = (await json(await fetch(new Request(`${AT}/api/parley/v1/mesh`)))) as { mesh: AdminMesh };
  expect(mesh.peers.map(({ path }) => path)).toEqual(['/agents/echo', '/api/parley/v1/mesh/agents/far']);
  const card = JSON.stringify(await json(await fetch(new Request(`${FAR}/.well-known/agent-card.json`))));
  expect(card).toContain(`${FAR}/a2a`);
  const rpc = JSON.stringify(await json(await fetch(jsonRequest(`${FAR}/a2a`, rpcSend('chunks=1')))));
  expect(rpc).toContain('chunk 1');
  const streamed = await (await fetch(jsonRequest(`${FAR}/message:stream`, sendBody('chunks=2')))).text();
  expect(streamed).toContain('chunk 2');
  const { tasks } = (await json(await fetch(new Request(`${AT}/api/parley/v1/tasks?agent=mesh:far`)))) as { tasks: readonly object[] };
  expect(tasks).toHaveLength(2);
  expect(await (await fetch(new Request(`${AT}/.well-known/ai-catalog.json`))).text()).not.toContain('far');
  expect((await fetch(new Request(`${AT}/agents/far/.well-known/agent-card.json`))).status).toBe(404);
  for (const wrong of [`${AT}/api/parley/v1/mesh/agents/nobody/a2a`, `${AT}/api/parley/v1/mesh/agents/%E0%A4%A/a2a`])
    expect((await fetch(jsonRequest(wrong, rpcSend('x')))).status).toBe(404);
});

it('serves agents of the mesh to operators only', async () => {
  const { fetch } = node({ mesh: port, auth: [tokenAuth((given) => given === TOKEN)] });
  expect((await fetch(jsonRequest(`${FAR}/a2a`, rpcSend('x')))).status).toBe(401);
  expect((await fetch(new Request(`${FAR}/.well-known/agent-card.json`))).status).toBe(401);
  const known = await fetch(jsonRequest(`${FAR}/a2a`, rpcSend('chunks=1'), { Authorization: `Bearer ${TOKEN}` }));
  expect(await known.text()).toContain('chunk 1');
});
