import { Worker } from 'node:worker_threads';
import type { SeedResult } from './world.ts';

/** Every `by`-th seed from the first one on, before `to`. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

export interface SeedRun {
  readonly from: number;
  readonly seeds: number;
  /** How many threads run seeds at the same time, each seed on one. */
  readonly jobs: number;
  /** Called with each result, in no particular order. */
  readonly onResult: (result: SeedResult) => void;
}

/** Runs seeds on several cores. */
export async function runSeeds({ from, seeds, jobs, onResult }: SeedRun): Promise<void> {
  const by = Math.max(1, jobs);
  await Promise.all(Array.from({ length: by }, (_, job) => runRange({ from: from + job, to: from + seeds, by }, onResult)));
}

function runRange(range: SeedRange, onResult: (result: SeedResult) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { workerData: range, execArgv: ['--conditions=our-src', '--disable-warning=ExperimentalWarning'] };
    const worker = new Worker(new URL('./worker.ts', import.meta.url), options);
    worker.on('message', onResult);
    worker.once('error', reject);
    worker.once('exit', () => resolve());
  });
}
