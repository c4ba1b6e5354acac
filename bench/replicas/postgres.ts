import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { newFolder } from '../children.ts';
import { cpuMicros } from '../measure.ts';

/** A Postgres server of the run, with its default durability: every commit is synced. */
export interface BenchPostgres {
  /** Creates an empty database and returns its URL. */
  database(): Promise<string>;
  /** Processor time of the server and all of its backends so far. */
  cpuMicros(): number;
  stop(): Promise<void>;
}

const READY_MS_MAX = 20_000;

/** `PARLEY_BENCH_PG_BIN` names the folder of `initdb` and `postgres`. Default: the newest of Debian's packages. */
function programs(): string {
  const named = process.env['PARLEY_BENCH_PG_BIN'];
  if (named !== undefined) return named;
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((left, right) => Number(right) - Number(left)) : [];
  const found = versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb')));
  if (found === undefined) throw new Error('Postgres was not found. Install postgresql, or name its programs: PARLEY_BENCH_PG_BIN=FOLDER');
  return found;
}

/** `initdb` refuses root: then the server runs as `postgres` or `nobody`. */
function userOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'));
  const [, , uid = '65534', gid = '65534'] = line?.split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

export async function startPostgres(): Promise<BenchPostgres> {
  const bin = programs();
  const [folder, user, port] = [newFolder(), userOf(), await freePort()];
  const data = join(folder, 'data');
  mkdirSync(data);
  if (user !== undefined) {
    chmodSync(folder, 0o755);
    chownSync(data, user.uid, user.gid);
  }
  const libraries = process.env['PARLEY_BENCH_PG_LIB'];
  const env = { ...process.env, LC_ALL: 'C', ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) };
  const around = { ...user, cwd: data, env };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'parley', '-A', 'trust', '-E', 'UTF8', '--no-sync'], { ...around, stdio: 'pipe' });
  const flags = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${data}`, '-c', 'max_connections=300'];
  const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], { ...around, stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  const url = `postgres://parley@127.0.0.1:${port}/postgres`;
  await untilReady(url, child);
  let databases = 0;
  return {
    database: async () => {
      databases += 1;
      const name = `bench_${databases}`;
      await queried(url, `CREATE DATABASE ${name}`);
      return url.replace(/postgres$/, name);
    },
    cpuMicros: () => [child.pid ?? 0, ...childrenOf(child.pid ?? 0)].reduce((sum, pid) => sum + cpuOrNone(pid), 0),
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGINT');
      await ended;
    },
  };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    const isReady = await queried(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
    if (isReady) return;
    if (child.exitCode !== null) throw new Error(`Postgres ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`Postgres was not ready after ${READY_MS_MAX / 1000} s`);
    await sleep(50);
  }
}

async function queried(connectionString: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Processes that this one has started and that still run. A backend that has ended counts no more. */
function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function cpuOrNone(pid: number): number {
  try {
    return cpuMicros(pid);
  } catch {
    return 0; // it has ended since it was listed
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
