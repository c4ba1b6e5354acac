import { Worker } from 'node:worker_threads';
import type { SeedResult } from './world.ts';

export interface SeedRun {
  readonly from: number;
  readonly seeds: number;
  /** How many threads run seeds at the same time, each seed on one. */
  readonly jobs: number;
  /** Called with each result, in no particular order. */
  readonly onResult: (result: SeedResult) => void;
  /** Ends the run early. Seeds that have begun are finished, so those that are done have no gaps. */
  readonly signal?: AbortSignal;
}

/** Runs seeds on several cores. */
export async function runSeeds({ from, seeds, jobs, onResult, signal }: SeedRun): Promise<void> {
  let next = from;
  const take = (): number | undefined => {
    if (next >= from + seeds || signal?.aborted === true) return undefined;
    next += 1;
    return next - 1;
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, () => runOnThread(take, onResult)));
}

/** Most of what a seed allocates is garbage a moment later: in a larger young generation less of it is copied. */
const YOUNG_MIB = 64;

function runOnThread(take: () => number | undefined, onResult: (result: SeedResult) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const execArgv = ['--conditions=our-src', '--disable-warning=ExperimentalWarning'];
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      execArgv,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    const give = (): void => {
      const seed = take();
      if (seed === undefined) void worker.terminate();
      else worker.postMessage(seed);
    };
    worker.on('message', (result: SeedResult) => {
      onResult(result);
      give();
    });
    worker.once('error', reject);
    worker.once('exit', () => resolve());
    give();
  });
}
