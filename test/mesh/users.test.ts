import { afterEach, expect, it } from 'vitest';
import { ask, defineAgent, text } from '#agents';
import { isArtifactName, joinMesh, openGateway } from '#mesh';
import type { Task } from '#protocol';
import { createHandler } from '#server';
import { defaultMeshUser } from '../../src/mesh/gateway.ts';
import { eventually } from '../support/eventually.ts';
import { NAMESPACE, onEveryBroker, serveOn } from './support.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).reverse()) await stop();
});

const SCOPES = ['tasks:read', 'tasks:write', 'tasks:cancel'];
const mirror = defineAgent({
  name: 'mirror',
  description: 'Says who is calling.',
  run: async function* (turn) {
    yield turn.text === 'wait' ? ask('for what?') : text(turn.principal.id);
  },
});

onEveryBroker('a caller over HTTP', (start) => {
  const opened = async () => {
    const ground = await start();
    open.push(() => ground.stop());
    const node = await serveOn(await ground.connect(), [], { agents: { mirror } });
    open.push(() => node.close());
    const mesh = joinMesh({ broker: await ground.connect(), namespace: NAMESPACE });
    open.push(() => mesh.close());
    const handler = createHandler({
      agents: defineAgent({ name: 'root', description: 'the first', run: () => '' }),
      authenticate: (asked) => ({ principal: { id: asked.header('x-user') ?? '', scopes: SCOPES } }),
    });
    open.push(() => handler.close());
    const caller = await mesh.call({ kind: 'gateway', id: 'gw' });
    const registry = await mesh.discover({ known: [{ name: 'mirror', card: mirror.card }] });
    openGateway({ registry, caller, offering: handler });
    const call = async (user: string, path: string, body: unknown): Promise<Task> => {
      const headers = { 'Content-Type': 'application/json', 'X-User': user };
      const request = new Request(`http://127.0.0.1/agents/mirror${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const answer = (await (await handler.fetch(request)).json()) as { task?: Task } & Task;
      return answer.task ?? answer;
    };
    const send = (user: string, text: string): Promise<Task> =>
      call(user, '/message:send', { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } });
    return { node, call, send };
  };

  it('has a user of its own on the mesh, different from all mesh users', async () => {
    const { send } = await opened();
    const said = await Promise.all(['ann', 'key:k1', 'https://idp.example/bob'].map((user) => send(user, 'who?')));
    expect(said.map((task) => task.artifacts?.[0]?.parts[0]?.text)).toEqual(
      ['ann', 'key:k1', 'https:~2F~2Fidp.example~2Fbob'].map((user) => `mesh:${NAMESPACE}:http:${user}`),
    );
  });

  it('cancels its task on the mesh, also one that waits for input', async () => {
    const { node, send, call } = await opened();
    const waiting = await send('ann', 'wait');
    expect(waiting.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await call('ann', `/tasks/${waiting.id}:cancel`, {});
    await eventually(async () => {
      const { tasks } = await node.engine.admin.tasks({});
      expect(tasks.map(({ state }) => state)).toEqual(['TASK_STATE_CANCELED']);
    });
  });
});

it('default mesh users are unique and can own artifacts', () => {
  const ids = ['local', '~2F', '/', '..', '.~2E', 'a/../b', '%2F', 'ü@x.example', 'http:local', '\ud800'];
  const users = ['', 'local', 'a', '+'].flatMap((tenant) => ids.map((id) => defaultMeshUser(id, tenant)));
  expect(new Set(users).size).toBe(ids.length * 4);
  expect(users.filter((user) => !isArtifactName(user))).toEqual([]);
});
