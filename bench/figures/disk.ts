import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder, removeFolder, startParley } from '../children.ts';
import { openCaller, requestsPerSecond } from '../load.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';
import { sendIn } from './sends.ts';

const CONNECTIONS = 32;
/** A page of tasks, over whose JSON the size is averaged. */
const PAGE = 100;

interface Listed {
  readonly tasks: readonly unknown[];
  readonly totalSize: number;
}

/** Measures the files of a data folder: when it is new, and after blocking sends to the echo agent. */
export async function benchDisk({ ms }: Sizes): Promise<readonly Figure[]> {
  const folder = newFolder();
  await (await startParley('echo', ['--data', folder])).stop();
  const [fresh, database] = [bytesIn(folder), statSync(join(folder, 'tasks.db')).size];
  const server = await startParley('echo', ['--data', folder]);
  await requestsPerSecond({ url: `${server.url}/a2a`, ...sendIn('v10'), connections: CONNECTIONS, ms: 4 * ms });
  const caller = await openCaller(server.url);
  const { body } = await caller.get(`/tasks?pageSize=${PAGE}&includeArtifacts=true`);
  caller.close();
  await server.stop();
  const listed = JSON.parse(body) as Listed;
  const json = listed.tasks.reduce<number>((sum, task) => sum + Buffer.byteLength(JSON.stringify(task)), 0) / listed.tasks.length;
  const stored = (statSync(join(folder, 'tasks.db')).size - database) / listed.totalSize;
  removeFolder(folder);
  return [
    {
      what: 'a new data folder',
      value: `${(fresh / 1e6).toFixed(1)} MB`,
      beside: `its database ${count(database / 1000)} kB`,
      goal: '≤ 2 MB',
    },
    {
      what: `a small task in the database, among ${count(listed.totalSize)}`,
      value: `${count(stored)} bytes`,
      beside: `its JSON ${count(json)} bytes: ${(stored / json).toFixed(2)} ×`,
      goal: '≤ 3 ×',
    },
  ];
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
