import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** A real broker in its own process, on loopback. */
export interface RunningBroker {
  readonly url: string;
  /** SIGKILL, like a failing machine. It keeps its port for the restart. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** SIGSTOP and SIGCONT: it accepts connections and does not answer. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Debian installs servers into /usr/sbin, which is not in every PATH. */
export function programOf(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

export async function startMosquitto(extra: readonly string[] = []): Promise<RunningBroker> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'parley-mosquitto-'));
  const config = join(folder, 'mosquitto.conf');
  const anybody = extra.some((line) => line.startsWith('allow_anonymous')) ? [] : ['allow_anonymous true'];
  const lines = [`listener ${port} 127.0.0.1`, ...anybody, 'persistence false', 'max_queued_messages 100000', ...extra];
  writeFileSync(config, `${lines.join('\n')}\n`);
  return await running({ program: 'mosquitto', args: ['-c', config], port, url: `mqtt://127.0.0.1:${port}`, folder });
}

export async function startNats(): Promise<RunningBroker> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'parley-nats-'));
  return await running({
    program: 'nats-server',
    args: ['-a', '127.0.0.1', '-p', String(port)],
    port,
    url: `nats://127.0.0.1:${port}`,
    folder,
  });
}

interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly port: number;
  readonly url: string;
  readonly folder: string;
}

async function running({ program, args, port, url, folder }: Launch): Promise<RunningBroker> {
  const path = programOf(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(path, args, { stdio: 'ignore' });
    await untilOpen(port);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await gone;
  };
  await start();
  return {
    url,
    kill: () => end('SIGKILL'),
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    stop: async () => {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function untilOpen(port: number): Promise<void> {
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
}
