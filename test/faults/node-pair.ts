import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { launchServe } from '../support/parley.ts';
import type { Child } from '../support/processes.ts';

/** Options of `pair`. */
interface PairOptions {
  /** Their data folders are in it. */
  readonly folder: string;
  readonly store: string;
  readonly args?: readonly string[];
  readonly limits?: Readonly<Record<string, number>>;
  /** The environment, for both or for each. */
  readonly env: Readonly<Record<string, string>> | ((at: number) => Readonly<Record<string, string>>);
}

/** Two nodes on one database. */
export interface NodePair {
  readonly urls: readonly string[];
  readonly children: readonly Child[];
  /** Stops a node, and starts it again on the same port. */
  restart(at: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts two nodes with the agent `script`. Resolves when both are ready. */
export async function pair({ folder, store, args = [], limits = {}, env }: PairOptions): Promise<NodePair> {
  const ports = [await freePort(), await freePort()];
  const limited = Object.entries(limits).flatMap(([name, value]) => ['--limit', `${name}=${value}`]);
  const launch = (at: number): Child =>
    launchServe({
      args: [
        'script',
        '--data',
        join(folder, `data-${at}`),
        '--store',
        store,
        '--store-lease-ms',
        '3000',
        '--port',
        String(ports[at]),
        ...limited,
        ...args,
      ],
      env: typeof env === 'function' ? env(at) : env,
    });
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const children = [launch(0), launch(1)];
  const ready = async (url: string): Promise<void> => {
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), 60_000);
  };
  const end = async (child: Child | undefined): Promise<void> => {
    child?.process.kill('SIGTERM');
    await child?.ended;
  };
  for (const url of urls) await ready(url);
  return {
    urls,
    children,
    restart: async (at) => {
      await end(children[at]);
      children[at] = launch(at);
      await ready(urls[at] ?? '');
    },
    stop: async () => {
      for (const child of children) await end(child);
    },
  };
}
