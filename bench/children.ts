import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A server under test, in a process of its own. */
export interface Server {
  readonly url: string;
  /** From the start of the process to its `ready` line. */
  readonly readyMs: number;
  residentBytes(): number;
  /** Processor time that it has taken so far. */
  cpuMs(): number;
  stop(): Promise<void>;
}

const BUILT = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** `parley serve` from the built package. */
export function startParley(
  agents: readonly string[],
  store: '--memory' | readonly ['--data', string],
  more: readonly string[] = [],
): Promise<Server> {
  const where = store === '--memory' ? [store] : store;
  const flags = ['--port', '0', '--json', '--log', 'error', ...where, ...more];
  return start([BUILT, 'serve', ...agents, ...flags]);
}

export function startBeside(name: 'bare' | 'sdk'): Promise<Server> {
  return start([fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url))]);
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'parley-bench-'));
}

async function start(args: readonly string[]): Promise<Server> {
  const began = performance.now();
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await readyUrl(child);
  return {
    url,
    readyMs: performance.now() - began,
    residentBytes: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) * 1024,
    cpuMs: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10; // clock ticks are hundredths of a second on Linux
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const line = said.split('\n').find((text) => text.includes('"ready"'));
      if (line !== undefined && said.includes('\n')) resolve(String(JSON.parse(line).url));
    });
    child.once('exit', (code) => reject(new Error(`a server ended with ${code} before it was ready`)));
  });
}
