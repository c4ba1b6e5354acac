import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { freePort } from '../support/free-port.ts';

export interface ServedPeer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a peer's server and waits until it prints `ready`. */
export async function servePeer(command: (port: number) => readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServedPeer> {
  const port = await freePort();
  const [program = '', ...args] = command(port);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4000);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
    });
    void ended.then(() => reject(new Error(`the peer's server ended: ${errors}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
