import { parentPort, workerData } from 'node:worker_threads';
import type { SeedRange } from './seeds.ts';
import { simulate } from './world.ts';

await work(workerData);

async function work({ from, to, by }: SeedRange): Promise<void> {
  for (let seed = from; seed < to; seed += by) parentPort?.postMessage(await simulate(seed));
}
