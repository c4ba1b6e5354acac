import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** A Postgres server in a scratch folder, on a port of its own, with every sync that a real one makes. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** Stops as a crash does, without a checkpoint, and starts again. */
  crash(): Promise<void>;
  /** Stops as a crash does. */
  kill(): Promise<void>;
  /** Starts the server if it does not run, as a supervisor does. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The folder with the programs of the server: `PARLEY_POSTGRES_BIN`, or Debian's newest. */
export function postgresPrograms(): string {
  const bin = programs();
  if (bin === undefined) throw new Error('Postgres is not installed');
  return bin;
}

function programs(): string | undefined {
  const named = process.env['PARLEY_POSTGRES_BIN'];
  if (named !== undefined) return named;
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((left, right) => Number(right) - Number(left)) : [];
  return versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb')));
}

export const hasPostgres: boolean = programs() !== undefined;

/** Postgres refuses to run as root: then it runs as the user that its package made, or as nobody. */
export function postgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'));
  const [, , uid = '65534', gid = '65534'] = line?.split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** A server process. */
export interface PostgresProcess {
  readonly isRunning: boolean;
  /** `SIGQUIT`: without a checkpoint. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** The packages of npm have no programs of clients. */
function isReadyProgram(bin: string): string {
  const own = join(bin, 'pg_isready');
  return existsSync(own) ? own : 'pg_isready';
}

/** Runs a server on a folder that has its data. Resolves when it answers. */
export async function runPostgres(data: string, port: number): Promise<PostgresProcess> {
  const bin = postgresPrograms();
  const options = { ...postgresUser(), cwd: data, encoding: 'utf8' as const, env: { ...process.env, LC_ALL: 'C' } };
  const flags = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${data}`];
  const child = spawn(join(bin, 'postgres'), flags, { ...options, stdio: 'ignore' });
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  await eventually(() => {
    const ready = spawnSync(isReadyProgram(bin), ['-h', '127.0.0.1', '-p', String(port)], options);
    if (ready.status !== 0 && isRunning()) throw new Error(`the server is not ready: ${ready.stdout}`);
  });
  if (!isRunning()) throw new Error(`the server has ended with ${child.exitCode ?? child.signalCode}`);
  return {
    get isRunning() {
      return isRunning();
    },
    end: async (signal) => {
      if (!isRunning()) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await ended;
    },
  };
}

/** Starts a server whose data is below `folder`. */
export async function startPostgres(folder: string): Promise<PostgresServer> {
  const bin = postgresPrograms();
  const user = postgresUser();
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
  let server = await runPostgres(data, port);
  const start = async (): Promise<void> => {
    if (!server.isRunning) server = await runPostgres(data, port);
  };
  return {
    url,
    port,
    crash: async () => {
      // Immediate shutdown: all backends end at once, and the next start recovers from the log.
      await server.end('SIGQUIT');
      await start();
    },
    kill: () => server.end('SIGQUIT'),
    start,
    stop: () => server.end('SIGINT'),
  };
}

/** A folder on disk for a server: a file system in memory is often too small. */
export function postgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
