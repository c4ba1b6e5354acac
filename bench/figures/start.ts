import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import type { Server } from '../children.ts';
import { newFolder, removeFolder, runToEnd, startBeside, startParley } from '../children.ts';
import { within } from '../deadline.ts';
import { fill } from '../filled.ts';
import { inTurns, quartiles } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

const FILL_MS_MAX = 120_000;

/** Measures the time from the start of the process to its `ready` line, which it prints when it accepts requests. */
export async function benchStart({ rounds, kept }: Sizes): Promise<readonly Figure[]> {
  const folder = newFolder();
  const store = openSqliteStore(join(folder, 'tasks.db'));
  await within(FILL_MS_MAX, `writing ${kept.tasks} tasks`, fill(store, kept.tasks, kept.events));
  await store.close();
  const times = await inTurns(['empty', 'sdk', 'kept', 'node', 'version'], { rounds }, async (side) => {
    if (side === 'node' || side === 'version') return await runToEnd(side);
    if (side === 'sdk') return startAndStop(startBeside('sdk'));
    if (side === 'kept') return startAndStop(startParley('echo', ['--data', folder]));
    const fresh = newFolder();
    const ms = await startAndStop(startParley('echo', ['--data', fresh]));
    removeFolder(fresh);
    return ms;
  });
  removeFolder(folder);
  return [
    {
      what: 'built package, start to ready, empty store',
      value: `${quartiles(times.empty, 0)} ms`,
      beside: `the SDK’s start ${quartiles(times.sdk, 0)} ms`,
      goal: '≤ 150 ms',
    },
    {
      what: `with ${count(kept.tasks)} tasks and ${count(kept.tasks * kept.events)} events`,
      value: `${quartiles(times.kept, 0)} ms`,
      beside: '',
      goal: '≤ 2 s',
    },
    {
      what: '`parley --version`',
      value: `${quartiles(times.version, 0)} ms`,
      beside: `\`node -e 0\` ${quartiles(times.node, 0)} ms: ${quartiles(times.version.map((ms, round) => ms / (times.node[round] ?? ms)))} ×`,
      goal: '≤ 1.5 ×',
    },
  ];
}

async function startAndStop(starting: Promise<Server>): Promise<number> {
  const server = await starting;
  await server.stop();
  return server.readyMs;
}
