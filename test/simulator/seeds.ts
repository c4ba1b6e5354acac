import { Worker } from 'node:worker_threads';
import type { SeedResult } from './world.ts';

/** Every `by`-th seed from the first one on, before `to`. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

/** Runs seeds on several cores, each seed on one. */
export async function runSeeds(from: number, seeds: number, workers: number): Promise<readonly SeedResult[]> {
  const parts = Array.from({ length: Math.max(1, workers) }, (_, part) => ({
    from: from + part,
    to: from + seeds,
    by: Math.max(1, workers),
  }));
  const found = await Promise.all(parts.map(runRange));
  return found.flat().sort((left, right) => left.seed - right.seed);
}

function runRange(range: SeedRange): Promise<readonly SeedResult[]> {
  return new Promise((resolve, reject) => {
    const options = { workerData: range, execArgv: ['--conditions=our-src', '--disable-warning=ExperimentalWarning'] };
    const worker = new Worker(new URL('./worker.ts', import.meta.url), options);
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}
