import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { freePort } from './brokers.ts';
import { eventually } from './eventually.ts';

/** A Postgres server in a scratch folder, on a port of its own, with every sync that a real one makes. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** Stops as a crash does, without a checkpoint, and starts again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** Where Debian keeps the programs of the newest server. */
function programs(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((left, right) => Number(right) - Number(left)) : [];
  return versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb')));
}

export const hasPostgres: boolean = programs() !== undefined;

/** Postgres refuses to run as root: then it runs as the user that its package made, or as nobody. */
function userOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'));
  const [, , uid = '65534', gid = '65534'] = line?.split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Starts a server whose data is below `folder`. */
export async function startPostgres(folder: string): Promise<PostgresServer> {
  const bin = programs();
  if (bin === undefined) throw new Error('Postgres is not installed');
  const user = userOf();
  const data = join(folder, 'postgres');
  mkdirSync(data, { recursive: true });
  if (user !== undefined) {
    chownSync(data, user.uid, user.gid);
    // Scratch folders belong to root alone, and the server has to pass through.
    chmodSync(folder, 0o755);
  }
  const options = { ...user, cwd: data, encoding: 'utf8' as const, env: { ...process.env, LC_ALL: 'C' } };
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', 'parley', '-A', 'trust', '-E', 'UTF8', '--no-sync'], options);
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.stdout}`);
  const port = await freePort();
  const url = `postgres://parley@127.0.0.1:${port}/postgres`;
  let process_: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const flags = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${data}`];
    const child = spawn(join(bin, 'postgres'), flags, { ...options, stdio: 'ignore' });
    process_ = child;
    await eventually(() => {
      const ready = spawnSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], options);
      if (ready.status !== 0) throw new Error(`the server is not ready: ${ready.stdout}`);
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = process_;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    url,
    port,
    crash: async () => {
      // Immediate shutdown: all backends end at once, and the next start recovers from the log.
      await end('SIGQUIT');
      await start();
    },
    stop: () => end('SIGINT'),
  };
}

/** A folder on disk for a server: a file system in memory is often too small. */
export function postgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
