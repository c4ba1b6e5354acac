import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export interface Child {
  readonly process: ChildProcess;
  /** The complete lines of its standard output so far. */
  readonly lines: () => readonly string[];
  readonly errors: () => string;
  /** Resolves when it has ended and all of its output has been read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when it has printed a line that begins so. */
  said(start: string): Promise<void>;
}

/** Kills all children at the end of the tests, also if a test failed before it stopped its own. Killed workers get no exit event. */
const alive = new Set<ChildProcess>();
const killAll = (): void => {
  for (const child of alive) child.kill('SIGKILL');
};
afterAll(killAll);
process.on('exit', killAll);

export interface Surroundings {
  /** A command in front, such as a tracer, prlimit or setpriv. */
  readonly before?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Rooms are found in `dist/`, and not in their sources. */
  readonly isBuilt?: boolean;
}

const KEEP_COMPILED = new URL('keep-compiled.ts', import.meta.url).href;

/** Starts Node with these arguments: options, a file, and the file's arguments. */
export function startNode(args: readonly string[], { before = [], cwd, env = {}, isBuilt = false }: Surroundings = {}): Child {
  const fromSource = isBuilt ? [] : ['--conditions=our-src', '--import', KEEP_COMPILED];
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...fromSource];
  const [command = '', ...rest] = [...before, ...node, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Compiling takes most of a child's time, so children share a compile cache.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'parley-compiled'), PARLEY_LAME_DUCK_MS: '0', ...env },
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
