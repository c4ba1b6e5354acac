import { expect, it } from 'vitest';
import { tenantId } from '#protocol';
import type { Authenticate } from '#server';
import { eventually } from '../support/eventually.ts';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

const BASE = 'http://localhost';
const authenticate: Authenticate = (asked) => ({ principal: { id: asked.header('authorization') ?? 'local', scopes: ['tasks:*'] } });
const quotaOf = (id: string) => (id === 'local' ? undefined : { runningTasksMax: 2, streamsMax: 1 });
const from = (who: string) => ({ Authorization: who });

it('limits running tasks and streams per principal', async () => {
  const handler = handlerOf({ authenticate, quotaOf, limits: { drainMsMax: 0 } });
  const sleeping = (): object => sendBody('sleep=5000', { configuration: { returnImmediately: true } });
  const start = (who: string): Promise<Response> => handler.fetch(jsonRequest(`${BASE}/message:send`, sleeping(), from(who)));
  const statuses: number[] = [];
  for (const who of ['ann', 'ann', 'ann', 'bob', 'local', 'local', 'local']) statuses.push((await start(who)).status);
  expect(statuses).toEqual([200, 200, 429, 200, 200, 200, 200]);
  const refused = await start('ann');
  expect([refused.headers.get('retry-after'), await refused.text()]).toEqual([
    '1',
    expect.stringContaining('the maximum of 2 running tasks'),
  ]);

  const { task } = (await (await start('cleo')).json()) as { task: { id: string } };
  const read = (): Promise<Response> =>
    handler.fetch(new Request(`${BASE}/tasks/${task.id}:subscribe`, { method: 'POST', headers: from('cleo') }));
  const first = await read();
  expect([first.status, (await read()).status]).toEqual([200, 429]);
  await first.body?.cancel();
  await eventually(async () => {
    const again = await read();
    await again.body?.cancel();
    return again.status === 200;
  });
  await handler.close();
});

it('counts the same name in two tenants as two principals', async () => {
  const inTenant: Authenticate = (asked) => ({
    principal: { id: 'key:ci', scopes: ['tasks:*'] },
    tenant: tenantId(asked.header('authorization') ?? ''),
  });
  const handler = handlerOf({ authenticate: inTenant, quotaOf, limits: { drainMsMax: 0 } });
  const statuses: number[] = [];
  const sleeping = (): object => sendBody('sleep=5000', { configuration: { returnImmediately: true } });
  for (const tenant of ['acme', 'acme', 'acme', 'other', 'other', 'other'])
    statuses.push((await handler.fetch(jsonRequest(`${BASE}/message:send`, sleeping(), from(tenant)))).status);
  expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
  const stream = (tenant: string): Promise<Response> =>
    handler.fetch(new Request(`${BASE}/tasks/none:subscribe`, { method: 'POST', headers: from(tenant) }));
  const open = new Map<string, Response>();
  for (const tenant of ['third', 'fourth']) {
    const { task } = (await (await handler.fetch(jsonRequest(`${BASE}/message:send`, sleeping(), from(tenant)))).json()) as {
      task: { id: string };
    };
    const url = `${BASE}/tasks/${task.id}:subscribe`;
    open.set(tenant, await handler.fetch(new Request(url, { method: 'POST', headers: from(tenant) })));
  }
  expect([...open.values()].map(({ status }) => status)).toEqual([200, 200]);
  expect((await stream('third')).status).toBe(429);
  for (const response of open.values()) await response.body?.cancel();
  await handler.close();
});
