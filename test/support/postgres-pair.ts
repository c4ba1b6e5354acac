import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { partition } from './partition.ts';
import type { PostgresServer } from './postgres.ts';
import { postgresPrograms, postgresUser, runPostgres, startPostgres } from './postgres.ts';

/** A server and its standby, by streaming replication on loopback. */
export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standbyPort: number;
  /** Stops the replication, as a broken network does. */
  cutReplication(): void;
  /** Ends the primary at once, and makes the standby the new primary. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** `synchronous`: the primary answers a commit when the standby has it on disk. */
export type Replication = 'synchronous' | 'asynchronous';

const COPY_MS_MAX = 60_000;
const PROMOTE_S_MAX = 30;

/** Asks a server as its operator. A server that does not answer makes it fail. */
async function ask(port: number, text: string): Promise<readonly Record<string, unknown>[]> {
  const connectionString = `postgres://parley@127.0.0.1:${port}/postgres`;
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000, query_timeout: 40_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    void client.end().catch(() => {});
  }
}

/** Copies the primary into `data`. The copy follows the server at `source`. */
async function copyPrimary(data: string, primary: PostgresServer, source: string): Promise<void> {
  mkdirSync(data, { recursive: true });
  chmodSync(data, 0o700);
  const user = postgresUser();
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  const from = `host=127.0.0.1 port=${primary.port} user=parley`;
  const child = spawn(join(postgresPrograms(), 'pg_basebackup'), ['-D', data, '-d', from, '-X', 'stream', '-c', 'fast', '--no-sync'], {
    ...user,
    cwd: data,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: COPY_MS_MAX,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`pg_basebackup failed: ${errors}`);
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\nwal_retrieve_retry_interval = '500ms'\n`);
  writeFileSync(join(data, 'standby.signal'), '');
}

export async function startPostgresPair(folder: string, replication: Replication): Promise<PostgresPair> {
  const primary = await startPostgres(folder);
  const link = await partition(primary.port);
  const data = join(folder, 'standby');
  await copyPrimary(data, primary, `host=127.0.0.1 port=${link.port} user=parley application_name=standby`);
  const standbyPort = await freePort();
  const standby = await runPostgres(data, standbyPort);
  if (replication === 'synchronous') {
    await ask(primary.port, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
    await ask(primary.port, 'SELECT pg_reload_conf()');
  }
  const state = replication === 'synchronous' ? 'sync' : 'async';
  await eventually(async () => {
    const [row] = await ask(primary.port, 'SELECT state, sync_state FROM pg_stat_replication');
    return row?.['state'] === 'streaming' && row['sync_state'] === state;
  });
  return {
    primary,
    standbyPort,
    cutReplication: link.cut,
    failOver: async () => {
      await primary.kill();
      const [row] = await ask(standbyPort, `SELECT pg_promote(true, ${PROMOTE_S_MAX}) AS done`);
      if (row?.['done'] !== true) throw new Error(`the standby was not promoted within ${PROMOTE_S_MAX} s`);
    },
    stop: async () => {
      await primary.kill();
      await standby.end('SIGQUIT');
      link.close();
    },
  };
}
