import { appendFileSync, chmodSync, chownSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { run } from '../cli/run.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, postgresUser, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startParley } from './parley.ts';

suiteNeeding('postgresql and openssl', hasPostgres && hasOpenssl, 'TLS to Postgres', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  const [ours, theirs] = [createAuthority(folder, 'ours'), createAuthority(folder, 'theirs')];
  let server: PostgresServer | undefined;
  /** The name of the certificate is localhost, not 127.0.0.1. */
  const at = (host: string, parameters: string): string => `postgres://parley@${host}:${server?.port}/postgres${parameters}`;

  beforeAll(async () => {
    server = await startPostgres(place);
    const { cert, key } = ours.issue('server', 'DNS:localhost');
    for (const [from, name] of [
      [cert, 'server.crt'],
      [key, 'server.key'],
    ] as const) {
      const to = join(place, 'postgres', name);
      copyFileSync(from, to);
      chmodSync(to, 0o600);
      const user = postgresUser();
      if (user !== undefined) chownSync(to, user.uid, user.gid);
    }
  });
  afterAll(async () => {
    await server?.stop();
  });

  /** Whether the connections of a store are encrypted. */
  const isEncrypted = async (url: string): Promise<readonly boolean[]> => {
    const store = await openPostgresStore(url);
    const client = new pg.Client({ connectionString: at('127.0.0.1', '') });
    await client.connect();
    try {
      const { rows } = await client.query<{ ssl: boolean }>(
        `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'parley'`,
      );
      return rows.map(({ ssl }) => ssl);
    } finally {
      await client.end();
      await store.close();
    }
  };

  it('a server without TLS: prefer works, and require says what to do', async () => {
    expect(await isEncrypted(at('127.0.0.1', '?sslmode=prefer'))).toEqual([false]);
    await expect(openPostgresStore(at('127.0.0.1', '?sslmode=require'))).rejects.toThrow(
      'Remove sslmode from the URL of the store, or switch TLS on at the server.',
    );
  });

  it('a server with TLS', async () => {
    appendFileSync(join(place, 'postgres', 'postgresql.conf'), '\nssl = on\n');
    await server?.crash();
    const root = `&sslrootcert=${ours.ca}`;
    for (const [host, parameters, encrypted] of [
      ['127.0.0.1', '', false],
      ['127.0.0.1', '?sslmode=disable', false],
      ['127.0.0.1', '?sslmode=prefer', true],
      ['127.0.0.1', '?sslmode=require', true],
      ['127.0.0.1', `?sslmode=require${root}`, true],
      ['127.0.0.1', `?sslmode=verify-ca${root}`, true],
      ['localhost', `?sslmode=verify-full${root}`, true],
    ] as const)
      expect([parameters, await isEncrypted(at(host, parameters))]).toEqual([parameters, [encrypted]]);
    const other = `&sslrootcert=${theirs.ca}`;
    for (const [host, parameters, words] of [
      ['127.0.0.1', `?sslmode=verify-full${root}`, 'Use the host name of the certificate'],
      ['localhost', '?sslmode=verify-full', 'Name the certificate of its authority'],
      ['localhost', `?sslmode=verify-full${other}`, 'Name the certificate of its authority'],
      ['127.0.0.1', `?sslmode=verify-ca${other}`, 'Name the certificate of its authority'],
      ['127.0.0.1', `?sslmode=require${other}`, 'Name the certificate of its authority'],
      ['127.0.0.1', '?sslmode=verify-ca', 'needs sslrootcert=FILE'],
    ] as const)
      await expect(openPostgresStore(at(host, parameters)), parameters).rejects.toThrow(words);
  });

  it.each([
    ['require', '', true],
    ['require', `&sslrootcert=${ours.ca}`, false],
  ])('a node warns of a server that is not verified: %s%s', async (mode, more, warns) => {
    const data = join(folder, 'node');
    const node = await startParley({ agent: 'echo', data, args: ['--store', at('localhost', `?sslmode=${mode}${more}`)] });
    await node.stop();
    expect(node.errors().includes('is not verified: write sslmode=verify-full')).toBe(warns);
  });

  it.each(['prefer', 'require', 'verify-ca', 'verify-full'])('prints no warning for sslmode=%s', async (mode) => {
    const { code, out, err } = await run(['replicas', '--store', at('localhost', `?sslmode=${mode}&sslrootcert=${ours.ca}`)]);
    expect([code, out, err]).toEqual([0, expect.stringContaining('No node'), '']);
  });
});
