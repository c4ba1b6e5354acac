import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runtimesFolder } from '../../runtimes/install.ts';
import type { CortexApi, CortexTask, DirectiveResult, StatusEvent, ToolResult } from './player.ts';
import { requestOf } from './player.ts';

/** A checkout of CortexPrism/cortex in the folder that PARLEY_PEERS names. */
export const CHECKOUT: string = join(process.env['PARLEY_PEERS'] ?? '', 'cortex');

/** Whether its own code can be run: Deno and the checkout are there. */
export function isProgramThere(): boolean {
  return process.env['PARLEY_PEERS'] !== undefined && existsSync(CHECKOUT) && runtimesFolder() !== undefined;
}

/** The command that runs a file of ours with CortexPrism's code under Deno. */
export function denoCommand(file: string): readonly string[] {
  const deno = join(runtimesFolder() ?? '', 'node_modules/.bin/deno');
  const path = fileURLToPath(new URL(file, import.meta.url));
  const flags = ['--no-config', '--no-lock', '--no-remote', `--import-map=${importMap()}`, '--allow-net', '--allow-read', '--allow-env'];
  return [deno, 'run', ...flags, path, CHECKOUT];
}

/** Its swarm looks up nodes in a database. `program-nodes.ts` takes the place of that one file. */
function importMap(): string {
  const registry = pathToFileURL(join(CHECKOUT, 'packages/infra/src/swarm/node-registry.ts')).href;
  const imports = { [registry]: new URL('program-nodes.ts', import.meta.url).href };
  return `data:application/json;base64,${Buffer.from(JSON.stringify({ imports })).toString('base64')}`;
}

interface Streamed {
  readonly steps: readonly { readonly chunk?: string; readonly status?: StatusEvent }[];
  readonly task: CortexTask;
}

export interface ProgramApi extends CortexApi {
  sendDirective(endpoint: string, kind: string, payload: object): Promise<DirectiveResult>;
  close(): void;
}

/** CortexPrism's own client, in a process of its own. */
export function programApi(): ProgramApi {
  const [deno = '', ...args] = denoCommand('program-client.ts');
  const child = spawn(deno, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line) as { id: number; result?: unknown; error?: string };
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error));
    waiting.delete(id);
  });
  const ask = <T>(command: object): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve: resolve as (value: unknown) => void, reject });
      child.stdin.write(`${JSON.stringify({ id: last, params: {}, ...command })}\n`);
    });
  return {
    fetchCard: (url) => ask({ op: 'card', url }),
    call: (card, method, params) => ask({ op: 'call', card, method, params }),
    sendStreaming: async (card, message, on) => {
      const { steps, task } = await ask<Streamed>({ op: 'stream', card, params: requestOf(message) });
      for (const { chunk, status } of steps) {
        if (chunk !== undefined) on.chunk(chunk);
        if (status !== undefined) on.status(status);
      }
      return task;
    },
    createToolWrapper: (url) => (params) => ask<ToolResult>({ op: 'tool', url, params }),
    sendDirective: (url, kind, payload) => ask<DirectiveResult>({ op: 'directive', url, params: { kind, payload } }),
    close: () => child.kill(),
  };
}
