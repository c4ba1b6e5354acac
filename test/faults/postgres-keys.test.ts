import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jsonOf, linesOf, run } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendInit } from './client.ts';
import type { NodePair } from './node-pair.ts';
import { pair } from './node-pair.ts';

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

suiteNeeding('Postgres', hasPostgres, 'API keys of several nodes', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  let server: PostgresServer | undefined;
  let nodes: NodePair | undefined;
  const old: MadeKey[] = [];
  const homeOf = (at: number): Readonly<Record<string, string>> => ({ XDG_CONFIG_HOME: join(folder, `home-${at}`) });
  const keys = async (...args: readonly string[]): Promise<MadeKey> =>
    jsonOf<MadeKey>(await run(['keys', ...args, '--json', '--store', server?.url ?? ''], { env: homeOf(9) }));
  const call = (url: string, key: string, path = '/tasks', init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } });

  beforeAll(async () => {
    server = await startPostgres(place);
    for (const at of [0, 1]) old.push(jsonOf<MadeKey>(await run(['keys', 'create', `old-${at}`, '--json'], { env: homeOf(at) })));
    nodes = await pair({ folder, store: server.url, args: ['--require-auth'], env: homeOf });
  }, 120_000);
  afterAll(async () => {
    await nodes?.stop();
    await server?.stop();
  });

  it('are imported from the folder of each node, and count at all of them', { timeout: 120_000 }, async () => {
    for (const url of nodes?.urls ?? [])
      for (const { key } of old) await eventually(async () => expect((await call(url, key)).status).toBe(200));
    expect(nodes?.children.map((child) => child.errors())).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('1 API keys of')),
    );
    const names = linesOf<{ name: string }[]>(await run(['keys', 'list', '--json', '--store', server?.url ?? ''], { env: homeOf(9) }))[0];
    expect(names?.map(({ name }) => name).toSorted()).toEqual(['old-0', 'old-1']);
  });

  it('are created and revoked for all nodes, and streams of a revoked key end on every node', { timeout: 120_000 }, async () => {
    const ann = await keys('create', 'ann');
    const streams = [];
    for (const url of nodes?.urls ?? []) {
      await eventually(async () => expect((await call(url, ann.key)).status).toBe(200));
      const stream = await call(url, ann.key, '/message:stream', sendInit('chunks=10000 delay=100'));
      expect(stream.status).toBe(200);
      streams.push(stream.text());
    }
    expect(await keys('revoke', ann.id)).toMatchObject({ id: ann.id, revokedAt: expect.any(String) });
    for (const text of streams) expect(await text).toContain('the credential is not valid any more');
    for (const url of nodes?.urls ?? []) await eventually(async () => expect((await call(url, ann.key)).status).toBe(401));
    for (const url of nodes?.urls ?? []) expect((await call(url, old[0]?.key ?? '')).status).toBe(200);
  });

  it('stay revoked when a node with an older file starts', { timeout: 120_000 }, async () => {
    await keys('revoke', old[0]?.id ?? '');
    await nodes?.restart(0);
    for (const url of nodes?.urls ?? []) await eventually(async () => expect((await call(url, old[0]?.key ?? '')).status).toBe(401));
    for (const url of nodes?.urls ?? []) expect((await call(url, old[1]?.key ?? '')).status).toBe(200);
  });

  it('are files if a folder is named', { timeout: 120_000 }, async () => {
    const env = { PARLEY_AUTH_FOLDER: join(folder, 'named'), PARLEY_STORE: server?.url ?? '' };
    expect(jsonOf(await run(['keys', 'list', '--json'], { env }))).toEqual([]);
    expect(jsonOf<unknown[]>(await run(['keys', 'list', '--json'], { env: { ...homeOf(9), PARLEY_STORE: env.PARLEY_STORE } })).length).toBe(
      3,
    );
    const both = await run(['keys', 'list', '--store', env.PARLEY_STORE, '--auth-folder', join(folder, 'named')], { env });
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('exclude each other')]);
    const wrong = await run(['keys', 'list', '--store', 'mysql://x'], { env: homeOf(9) });
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('starts with postgres://')]);
  });
});
