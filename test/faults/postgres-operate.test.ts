import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AdminErased, AdminExportedTask, AdminStoreStats } from '#protocol';
import { jsonOf, run } from '../cli/run.ts';
import { filesWith } from '../support/find-in-files.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendInit } from './client.ts';
import { startParley } from './parley.ts';

suiteNeeding('Postgres', hasPostgres, 'the commands of an operator on Postgres', () => {
  const folder = scratchFolder();
  const place = postgresFolder();
  const data = join(folder, 'data');
  const env = { PARLEY_AUTH_FOLDER: join(folder, 'auth'), PARLEY_SPILL_BYTES: '1000' };
  const keys = new Map<string, string>();
  let [server, files]: [PostgresServer | undefined, string] = [undefined, ''];
  let node: Parley;
  const secretOf = (who: string): string => `secret-of-${who}-c4d2`;
  const status = async (who: string, text: string): Promise<number> =>
    (await fetch(`${node.url}/message:send`, sendInit(text, { headers: { Authorization: `Bearer ${keys.get(who)}` } }))).status;

  beforeAll(async () => {
    server = await startPostgres(place);
    files = join(place, 'postgres', 'base');
    for (const who of ['ann', 'bob']) {
      const { key } = jsonOf<{ key: string }>(await run(['keys', 'create', who, '--json'], { env }));
      keys.set(who, key);
    }
    node = await startParley({ agent: 'echo', data, args: ['--store', server.url, '--require-auth'], env });
    for (const who of keys.keys())
      for (let at = 0; at < 5; at += 1) expect(await status(who, `${secretOf(who)} ${'x'.repeat(at * 600)}`)).toBe(200);
  });
  afterAll(async () => {
    await node?.stop();
    await server?.stop();
  });

  /** Postgres writes its pages, and removes old files, at a checkpoint. */
  const checkpoint = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: server?.url ?? '' });
    await client.connect();
    await client.query('CHECKPOINT');
    await client.end();
  };

  it('export and store stats tell what the database has', async () => {
    const exported = await run(['export', '--principal', 'key:ann', '--data', data], { env });
    expect(exported).toMatchObject({ code: 0 });
    expect(jsonOf<{ tasks: AdminExportedTask[] }>(exported).tasks).toHaveLength(5);
    expect(exported.out).toContain(secretOf('ann'));
    expect(exported.out).not.toContain(secretOf('bob'));
    const stats = jsonOf<AdminStoreStats>(await run(['store', 'stats', '--data', data, '--json'], { env }));
    expect(stats.tasks).toBe(10);
    for (const kind of ['tasks', 'events', 'blobs', 'idempotency', 'audit'] as const) expect(stats.bytes[kind], kind).toBeGreaterThan(0);
  });

  it('erase removes the content from the files of the database, and nothing of others', async () => {
    await checkpoint();
    expect(filesWith(files, secretOf('ann'))).not.toEqual([]);
    const erased = await run(['erase', '--principal', 'key:ann', '--yes', '--json', '--data', data], { env });
    expect([erased.code, erased.err]).toEqual([0, '']);
    expect(jsonOf<AdminErased>(erased)).toMatchObject({ tasks: 5 });
    await checkpoint();
    expect(filesWith(files, secretOf('ann'))).toEqual([]);
    expect(filesWith(files, secretOf('bob'))).not.toEqual([]);
    expect(await status('bob', 'still there')).toBe(200);
    expect(await run(['store', 'compact', '--data', data], { env })).toMatchObject({ code: 0 });
  });

  it('what does not apply says what to do', async () => {
    const backup = await run(['backup', join(folder, 'backup'), '--data', data], { env });
    expect([backup.code, backup.err]).toEqual([1, expect.stringContaining('pg_dump')]);
    await node.stop();
    for (const command of [
      ['export', '--principal', 'key:bob'],
      ['erase', '--principal', 'key:bob', '--yes'],
      ['store', 'stats'],
    ]) {
      const refused = await run([...command, '--data', data], { env });
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('if its tasks are in Postgres, start the node first')]);
    }
  });
});
