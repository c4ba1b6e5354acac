import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface Running {
  readonly url: string;
  readonly port: number;
  readonly agents: readonly string[];
  readonly process: ChildProcess;
  readonly errors: () => string;
  readonly lines: () => readonly string[];
  /** Resolves with its exit code when it has ended. */
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Put in front: another limit, a tracer. */
  readonly before?: readonly string[];
  /** Instead of `serve`: another command that serves. */
  readonly command?: readonly string[];
  /** Options of Node itself. */
  readonly node?: readonly string[];
}

/** The real `parley serve` in a process of its own, ready to be called. */
export async function parleyServe(options: RunOptions = {}): Promise<Running> {
  const { args = [], env = {}, cwd, before = [], node = [], command: words = ['serve'] } = options;
  const all = [...before, process.execPath, '--conditions=our-src', '--disable-warning=ExperimentalWarning', ...node];
  const [command = '', ...rest] = [...all, MAIN, ...words, '--json', ...(args.includes('--port') ? [] : ['--port', '0']), ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  // A test that fails leaves nothing running.
  const atExit = (): void => void child.kill('SIGKILL');
  process.once('exit', atExit);
  child.once('close', () => process.off('exit', atExit));
  let out = '';
  let errors = '';
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const first = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const end = out.indexOf('\n');
      if (end !== -1) resolve(out.slice(0, end));
    });
    void ended.then((code) => reject(new Error(`it ended with ${code} before it was ready: ${errors}`)));
  });
  const { url, agents } = JSON.parse(first) as { url: string; agents: readonly string[] };
  return {
    url,
    port: Number(new URL(url).port),
    agents,
    process: child,
    errors: () => errors,
    lines: () => out.split('\n').slice(0, -1),
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      return await ended;
    },
  };
}
