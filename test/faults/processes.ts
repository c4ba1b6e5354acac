import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** None of them outlives the tests. */
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** A program of `children/`, under this Node. `before` is put in front: a tracer, another user. */
export function startChild(name: string, args: readonly string[], before: readonly string[] = []): Child {
  return startNode([fileURLToPath(new URL(`children/${name}.ts`, import.meta.url)), ...args], { before });
}

export interface Surroundings {
  readonly before?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Rooms are found in `dist/`, and not in their sources. */
  readonly isBuilt?: boolean;
}

/** Node with these arguments: its options, a file, and what that gets. */
export function startNode(args: readonly string[], { before = [], env = {}, isBuilt = false }: Surroundings = {}): Child {
  const node = [process.execPath, ...(isBuilt ? [] : ['--conditions=our-src']), '--disable-warning=ExperimentalWarning'];
  const [command = '', ...rest] = [...before, ...node, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Compiling takes most of a child's life. A child that ends by itself leaves what it compiled to the next.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'parley-compiled'), ...env },
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
