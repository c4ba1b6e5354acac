import { fileURLToPath } from 'node:url';
import type { Child } from './processes.ts';
import { startNode } from './processes.ts';

/** A `parley serve` of its own: the program that people start, in another process. */
export interface Parley extends Child {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  kill(): Promise<void>;
  /** Asks it to stop, and returns its exit code. */
  stop(): Promise<number | null>;
}

export interface ParleyOptions {
  /** What is served. Default `script`. */
  readonly agent?: string;
  /** Absent: tasks are kept in memory. */
  readonly data?: string;
  readonly args?: readonly string[];
  readonly limits?: Readonly<Record<string, number>>;
  /** Options of Node's own. */
  readonly node?: readonly string[];
  /** Put in front: a tracer, a limit. */
  readonly before?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than the command line. */
  readonly entry?: string;
  /** The built package, for what is measured: running from source costs memory of its own. */
  readonly isBuilt?: boolean;
}

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const BUILT = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Resolves when it takes requests. */
export async function startParley(options: ParleyOptions = {}): Promise<Parley> {
  const child = launchParley(options);
  await child.said('{"event":"ready"');
  const ready = JSON.parse(child.lines()[0] ?? '') as { readonly url: string };
  const { pid = 0 } = child.process;
  return {
    ...child,
    url: ready.url,
    port: Number(new URL(ready.url).port),
    pid,
    kill: async () => {
      child.process.kill('SIGKILL');
      await child.ended;
    },
    stop: async () => {
      child.process.kill('SIGTERM');
      return (await child.ended).code;
    },
  };
}

/** The same without waiting for it, for starts that are to fail. */
export function launchParley(options: ParleyOptions = {}): Child {
  const { agent = 'script', data, args = [], limits = {}, node = [], entry } = options;
  const kept = data === undefined ? ['--memory'] : ['--data', data];
  const limited = Object.entries(limits).flatMap(([name, value]) => ['--limit', `${name}=${value}`]);
  const { before = [], env = {}, isBuilt = false } = options;
  const program = entry === undefined ? [isBuilt ? BUILT : CLI, 'serve', agent] : [entry];
  return startNode([...node, ...program, ...kept, '--json', '--port', '0', ...limited, ...args], { before, env, isBuilt });
}

/** The path of a file in `children/`. */
export function childFile(name: string): string {
  return fileURLToPath(new URL(`children/${name}`, import.meta.url));
}
