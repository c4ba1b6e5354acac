import { afterAll, beforeAll, expect, it } from 'vitest';
import { tenantId } from '#protocol';
import type { Authenticate, Handler } from '#server';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

const BASE = 'http://localhost';
/** The header names the tenant and the scopes, as `acme admin tasks:write`. */
const authenticate: Authenticate = (asked) => {
  const [tenant = '', ...scopes] = (asked.header('authorization') ?? '').split(' ');
  return { principal: { id: 'key:ci', scopes }, tenant: tenantId(tenant === '-' ? '' : tenant) };
};
let handler: Handler;
const ids = new Map<string, string>();

const call = (who: string, path: string, method = 'GET', body?: string): Promise<Response> =>
  handler.fetch(
    new Request(`${BASE}${path}`, {
      method,
      headers: { Authorization: who, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    }),
  );
const listed = async (who: string, query = ''): Promise<unknown> => {
  const page = (await (await call(who, `/api/parley/v1/tasks${query}`)).json()) as { tasks: { id: string }[]; totalSize: number };
  return [page.tasks.map(({ id }) => id).toSorted(), page.totalSize];
};

beforeAll(async () => {
  handler = handlerOf({ authenticate, limits: { requestsPerSecondMax: 0 } });
  for (const tenant of ['acme', 'other', '-']) {
    const sent = await handler.fetch(
      jsonRequest(`${BASE}/agents/script/message:send`, sendBody('ask'), { Authorization: `${tenant} tasks:write` }),
    );
    ids.set(tenant, ((await sent.json()) as { task: { id: string } }).task.id);
  }
});
afterAll(() => handler.close());

it.each(['acme admin', 'acme *', 'acme admin node-admin'])('lists only the tenant’s tasks for %s', async (who) => {
  const [acme = ''] = [ids.get('acme')];
  for (const query of ['', '?principal=key:ci', '?tenant=acme', '?agent=script', '?status=TASK_STATE_INPUT_REQUIRED'])
    expect(await listed(who, query)).toEqual([[acme], 1]);
  expect((await call(who, '/api/parley/v1/tasks?tenant=other')).status).toBe(403);
  expect((await call(who, '/api/parley/v1/conversations?agents=script')).status).toBe(400);
  const { approvals } = (await (await call(who, '/api/parley/v1/approvals')).json()) as { approvals: { id: string }[] };
  expect(approvals.map(({ id }) => id)).toEqual([acme]);
  const said = (await (await call(who, '/api/parley/v1/conversations')).json()) as { conversations: { lastTask: string }[] };
  expect(said.conversations.map(({ lastTask }) => lastTask)).toEqual([acme]);
  const words = await call(who, `/api/parley/v1/words?${[...ids.values()].map((id) => `task=${id}`).join('&')}`);
  expect(await words.json()).toMatchObject({ words: [{ id: acme, text: 'ask' }] });
  const found = (await (await call(who, '/api/parley/v1/search?text=ask')).json()) as { tasks: { id: string }[] };
  expect(found.tasks.map(({ id }) => id)).toEqual([acme]);
  expect((await call(who, '/api/parley/v1/search?text=ask&tenant=other')).status).toBe(403);
  expect((await call(who, `/api/parley/v1/tasks/${acme}`)).status).toBe(200);
});

it('finds no task of another tenant, for any method', async () => {
  for (const tenant of ['other', '-']) {
    const id = ids.get(tenant);
    for (const [path, method, body] of [
      [`/tasks/${id}`, 'GET'],
      [`/tasks/${id}`, 'DELETE'],
      [`/tasks/${id}/events`, 'GET'],
      [`/tasks/${id}:cancel`, 'POST'],
      [`/tasks/${id}:retry`, 'POST'],
      [`/approvals/${id}`, 'POST', '{"text":"yes"}'],
    ] as const)
      expect([path, method, (await call('acme admin', `/api/parley/v1${path}`, method, body)).status]).toEqual([path, method, 404]);
  }
  expect(await listed('- node-admin', '?tenant=other')).toEqual([[ids.get('other')], 1]);
});

it('renames conversations of the tenant only', async () => {
  const { conversations } = (await (await call('- node-admin', '/api/parley/v1/conversations')).json()) as {
    conversations: { contextId: string; tenant?: string }[];
  };
  const rename = (who: string, tenant: string | undefined, body: object): Promise<Response> =>
    call(
      who,
      `/api/parley/v1/conversations/${conversations.find((one) => one.tenant === tenant)?.contextId}:rename`,
      'POST',
      JSON.stringify(body),
    );
  expect((await rename('acme admin', 'other', { name: 'x' })).status).toBe(404);
  expect((await rename('acme tasks:write', 'acme', { name: 'x' })).status).toBe(403);
  for (const body of [{}, { name: 1 }, { name: 'x', principal: 2 }, { name: 'x'.repeat(121) }])
    expect((await rename('acme admin', 'acme', body)).status).toBe(400);
  expect(await (await rename('acme admin', 'acme', { name: 'Lunch' })).json()).toMatchObject({
    tenant: 'acme',
    name: 'Lunch',
    words: 'ask',
  });
  const named = async (who: string): Promise<unknown> =>
    ((await (await call(who, '/api/parley/v1/conversations?name=lun')).json()) as { conversations: unknown[] }).conversations.length;
  expect([await named('acme admin'), await named('other admin'), await named('- node-admin')]).toEqual([1, 0, 1]);
});

it('keeps the node’s own routes for operators of the node', async () => {
  for (const path of ['logs', 'health', 'mesh', 'wire', 'audit', 'push/deliveries', 'relay?url=http://127.0.0.1/', 'tasksx'])
    for (const who of ['acme admin', 'acme *', 'acme admin node-admin'])
      expect([path, (await call(who, `/api/parley/v1/${path}`)).status]).toEqual([path, 403]);
  expect((await call('acme admin', '/metrics')).status).toBe(403);
  for (const who of ['- admin', '- node-admin', '- *']) {
    expect((await call(who, '/metrics')).status).toBe(200);
    expect(await listed(who)).toEqual([[...ids.values()].toSorted(), 3]);
  }
  expect((await call('- tasks:read', '/metrics')).status).toBe(403);
});
