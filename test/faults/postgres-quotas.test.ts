import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jsonOf, run } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendInit } from './client.ts';
import { pair } from './node-pair.ts';

suiteNeeding('Postgres', hasPostgres, 'limits of a caller over two nodes', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  const env = { PARLEY_AUTH_FOLDER: join(folder, 'auth') };
  const keys = new Map<string, string>();
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startPostgres(place);
    for (const who of ['ann', 'bob', 'cid'])
      keys.set(who, jsonOf<{ key: string }>(await run(['keys', 'create', who, '--json'], { env })).key);
  }, 120_000);
  afterAll(() => server?.stop());

  const limits = { callerTasksMax: 3, callerStreamsMax: 2, requestsPerSecondMax: 1, requestsBurstMax: 60 };
  const call = (url: string, who: string, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${keys.get(who)}` } });

  it('hold for both together', { timeout: 300_000 }, async () => {
    const nodes = await pair({ folder, store: server?.url ?? '', env, args: ['--require-auth'], limits });
    const [one = '', two = ''] = nodes.urls;
    const send = (url: string, who: string): Promise<Response> =>
      call(url, who, '/message:send', sendInit('sleep=600000', { returnImmediately: true }));

    // Running tasks: three at one node leave none for the other one.
    for (let at = 0; at < 3; at += 1) expect((await send(one, 'ann')).status).toBe(200);
    await eventually(async () => expect((await send(two, 'ann')).status).toBe(429));
    expect((await send(two, 'bob')).status).toBe(200);

    // Open streams.
    const leaving = new AbortController();
    for (let at = 0; at < 2; at += 1)
      expect((await call(one, 'bob', '/message:stream', { ...sendInit('chunks=100000 delay=500'), signal: leaving.signal })).status).toBe(
        200,
      );
    await eventually(async () => {
      const probing = new AbortController();
      const { status } = await call(two, 'bob', '/message:stream', { ...sendInit('chunks=1'), signal: probing.signal });
      probing.abort();
      expect(status).toBe(429);
    });
    leaving.abort();

    // Requests: a burst of sixty at one node is missing at the other one a second later, and comes back at one each second.
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await call(one, 'cid', '/tasks')).status));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(50);
    await eventually(async () => expect((await call(two, 'cid', '/tasks')).status).toBe(429));
    await nodes.stop();
  });
});
