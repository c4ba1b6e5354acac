import { fileURLToPath } from 'node:url';
import type { Child, Surroundings } from './processes.ts';
import { startNode } from './processes.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
/** The built package, for measurements: running from source takes more memory. */
const BUILT = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A `parley serve` in its own process. */
export interface Parley extends Child {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly agents: readonly string[];
  kill(): Promise<void>;
  /** Stops it with SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>;
}

export interface RunOptions extends Surroundings {
  readonly args?: readonly string[];
  /** Instead of `serve`: another command that serves. */
  readonly command?: readonly string[];
  /** Options of Node itself. */
  readonly node?: readonly string[];
  /** Starts this program instead of the command line, with the same arguments. */
  readonly entry?: string;
  /** The command line of another release. */
  readonly cli?: string | undefined;
}

/** Resolves when it accepts requests. */
export async function parleyServe(options: RunOptions = {}): Promise<Parley> {
  const child = launchServe(options);
  await child.said('{"event":"ready"');
  const { url, agents } = JSON.parse(child.lines()[0] ?? '') as { readonly url: string; readonly agents: readonly string[] };
  return {
    ...child,
    url,
    port: Number(new URL(url).port),
    pid: child.process.pid ?? 0,
    agents,
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

/** The same without waiting, for starts that must fail. */
export function launchServe({ args = [], node = [], command = ['serve'], entry, cli, ...around }: RunOptions = {}): Child {
  const program = entry === undefined ? [cli ?? (around.isBuilt === true ? BUILT : CLI), ...command] : [entry];
  const port = args.includes('--port') ? [] : ['--port', '0'];
  return startNode([...node, ...program, ...args, '--json', ...port], around);
}
