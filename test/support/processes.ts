import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export interface Child {
  readonly process: ChildProcess;
  /** Whole lines of its standard output so far. */
  readonly lines: () => readonly string[];
  readonly errors: () => string;
  /** Resolves when it has ended and all that it wrote has been read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when it has printed a line that begins so. */
  said(start: string): Promise<void>;
}

/** None of them outlives the tests, also when a test fails before it has stopped its own: a worker that is ended hears of no exit. */
const alive = new Set<ChildProcess>();
const killAll = (): void => {
  for (const child of alive) child.kill('SIGKILL');
};
afterAll(killAll);
process.on('exit', killAll);

export interface Surroundings {
  /** Put in front: a tracer, a limit, another user. */
  readonly before?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Rooms are found in `dist/`, and not in their sources. */
  readonly isBuilt?: boolean;
}

const KEEP_COMPILED = new URL('keep-compiled.ts', import.meta.url).href;

/** Node with these arguments: its options, a file, and what that gets. */
export function startNode(args: readonly string[], { before = [], cwd, env = {}, isBuilt = false }: Surroundings = {}): Child {
  const fromSource = isBuilt ? [] : ['--conditions=our-src', '--import', KEEP_COMPILED];
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...fromSource];
  const [command = '', ...rest] = [...before, ...node, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Compiling takes half of the time that a child needs to start, so children share what they compiled.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'parley-compiled'), ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  alive.add(child);
  let out = '';
  let errors = '';
  let wakes: (() => void)[] = [];
  const wake = (): void => {
    for (const each of wakes) each();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const lines = (): readonly string[] => out.split('\n').slice(0, -1);
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => {
      alive.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    process: child,
    lines,
    errors: () => errors,
    ended,
    said: (start) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!lines().some((line) => line.startsWith(start))) return;
          wakes = wakes.filter((each) => each !== look);
          resolve();
        };
        wakes.push(look);
        look();
        void ended.then(() => reject(new Error(`it ended before it said ${start}: ${errors}`)));
      }),
  };
}
