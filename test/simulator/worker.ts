import { parentPort, workerData } from 'node:worker_threads';
import type { SeedRange } from './seeds.ts';
import type { SeedResult } from './world.ts';
import { simulate } from './world.ts';

await work(workerData);

async function work({ from, to, by }: SeedRange): Promise<void> {
  const results: SeedResult[] = [];
  for (let seed = from; seed < to; seed += by) results.push(await simulate(seed));
  parentPort?.postMessage(results);
}
