import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { within } from './deadline.ts';

/** A server under test, in a process of its own. */
export interface Server {
  readonly url: string;
  /** From the start of the process to its `ready` line. */
  readonly readyMs: number;
  readonly pid: number;
  residentBytes(): number;
  stop(): Promise<void>;
  /** Kills a server that may be too busy to handle SIGTERM. */
  kill(): void;
}

/** The flag for the store, and other flags of `parley serve`. */
export type StoreFlags = readonly ['--memory', ...string[]] | readonly ['--data', string, ...string[]];

const BUILT = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
/** Preloaded module that ends the child when this process ends, even by kill -9. */
const TIED = fileURLToPath(new URL('servers/tied.mjs', import.meta.url));
/** Below the repository, so that the baselines find their packages. */
const COMPILED = fileURLToPath(new URL('../.cache/bench', import.meta.url));
const READY_MS_MAX = 30_000;
const STOP_MS_MAX = 15_000;

const running = new Set<ChildProcess>();
const folders = new Set<string>();

export interface ServeFlags {
  /** Flags for Node, for example `--cpu-prof`. */
  readonly node?: readonly string[];
  readonly serve?: readonly string[];
}

/** Starts `parley serve` of the built package. */
export function startParley(
  agents: string | readonly string[],
  store: StoreFlags,
  { node = [], serve = [] }: ServeFlags = {},
): Promise<Server> {
  const served = [agents].flat();
  const args = ['serve', ...served, '--port', '0', '--json', '--log', 'error', ...store, ...serve];
  return start([...node, '--import', TIED, BUILT, ...args], keepingCompiled());
}

/** How long a program takes that ends by itself: `parley --version`, or Node alone. */
export async function runToEnd(program: 'node' | 'version'): Promise<number> {
  const began = performance.now();
  const args = program === 'node' ? ['-e', '0'] : [BUILT, '--version'];
  const child = spawn(process.execPath, args, { stdio: 'ignore', env: keepingCompiled() });
  await once(child, 'exit');
  return performance.now() - began;
}

let compiled: string | undefined;

/** As bin/parley starts the installed package: what V8 compiled is kept. */
function keepingCompiled(): NodeJS.ProcessEnv {
  compiled ??= newFolder();
  return { ...process.env, NODE_COMPILE_CACHE: compiled };
}

/** Starts a baseline from bench/servers, as JavaScript: what Node loads to read TypeScript takes time and 20 MB of memory. */
export async function startBeside(name: 'bare' | 'http2' | 'sdk' | 'sdk-grpc' | 'connect'): Promise<Server> {
  const program = join(COMPILED, `${name}.mjs`);
  const entry = fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url));
  await build({ entryPoints: [entry], outfile: program, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
  return await start(['--import', TIED, program]);
}

/** Creates a folder that `cleanUp` removes. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Kills all processes and removes all folders of the run. */
export function cleanUp(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) removeFolder(folder);
}

async function start(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Server> {
  const began = performance.now();
  // The child watches this channel: the system closes it when this process ends.
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], env });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.unref();
  child.channel?.unref();
  const name = args.slice(-6).join(' ');
  const url = await within(READY_MS_MAX, `the start of ${name}`, readyUrl(child, name));
  return {
    url,
    readyMs: performance.now() - began,
    pid: child.pid ?? 0,
    residentBytes: () => residentBytes(child),
    kill: () => void child.kill('SIGKILL'),
    stop: () => within(STOP_MS_MAX, `the end of ${name}`, stop(child)),
  };
}

function residentBytes({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024;
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.ref();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

function readyUrl(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const line = said.split('\n').find((text) => text.includes('"ready"') && text.endsWith('}'));
      if (line !== undefined) resolve(String(JSON.parse(line).url));
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it was ready`)));
  });
}
