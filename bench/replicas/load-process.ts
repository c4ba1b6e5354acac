import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Load, Loaded } from '../load.ts';

const PROGRAM = fileURLToPath(new URL('load-child.ts', import.meta.url));

/** What a client process does. Each one counts its ids from another number. */
export type ChildLoad = Load & { readonly firstId: number };

let firstId = 0;

/** Runs each load in a process of its own, at the same time: one client process can't saturate several servers. */
export async function loadsAtOnce(loads: readonly Load[]): Promise<readonly Loaded[]> {
  const children = await Promise.all(loads.map(startChild));
  try {
    return await Promise.all(
      loads.map((load, at) => {
        firstId += 1_000_000_000;
        return ask(children[at] as ChildProcess, { ...load, firstId });
      }),
    );
  } finally {
    for (const child of children) child.kill();
  }
}

const WARM_UP_MS = 2000;

/** Sends at least this many requests by these loads, so that V8 has compiled what the servers run. */
export async function warmUpAtOnce(loads: readonly Load[], requests: number): Promise<void> {
  for (let left = requests; left > 0; )
    left -= (await loadsAtOnce(loads.map((load) => ({ ...load, ms: WARM_UP_MS })))).reduce((sum, { count }) => sum + count, 0);
}

/** Resolves when the program is loaded. */
async function startChild(): Promise<ChildProcess> {
  const child = fork(PROGRAM);
  await once(child, 'message');
  return child;
}

async function ask(child: ChildProcess, load: ChildLoad): Promise<Loaded> {
  child.send(load);
  const [answer] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('a client process ended'))),
  ]);
  if ('error' in answer) throw new Error(String(answer.error));
  return answer;
}
