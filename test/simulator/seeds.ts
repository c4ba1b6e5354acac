import { Worker } from 'node:worker_threads';
import type { Violation } from './invariants.ts';
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

/**
 * Most of what a seed allocates is garbage a moment later: in a larger young generation less of it is copied. A seed holds some 20 MB. One that
 * never ends within a step ends its thread by the second limit.
 */
const HEAP = { maxYoungGenerationSizeMb: 64, maxOldGenerationSizeMb: 512 };

async function runOnThread(take: () => number | undefined, onResult: (result: SeedResult) => void): Promise<void> {
  for (let seed = take(); seed !== undefined; seed = take()) {
    const last = await runUntilThreadEnds(seed, take, onResult);
    if (last !== undefined) onResult(endedItsThread(last.seed, last.error));
  }
}

/** Runs this seed and those that `take` gives. Resolves with the seed that ended the thread, or with nothing when no seed is left. */
function runUntilThreadEnds(
  first: number,
  take: () => number | undefined,
  onResult: (result: SeedResult) => void,
): Promise<{ readonly seed: number; readonly error: Error } | undefined> {
  return new Promise((resolve) => {
    const execArgv = ['--conditions=our-src', '--disable-warning=ExperimentalWarning'];
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { execArgv, resourceLimits: HEAP });
    let seed = first;
    worker.on('message', (result: SeedResult) => {
      onResult(result);
      const next = take();
      if (next === undefined) void worker.terminate();
      else {
        seed = next;
        worker.postMessage(seed);
      }
    });
    worker.once('error', (error: Error) => resolve({ seed, error }));
    worker.once('exit', () => resolve(undefined));
    worker.postMessage(seed);
  });
}

function endedItsThread(seed: number, error: Error): SeedResult {
  const violation: Violation = { invariant: 'nobody-forgotten', what: `the seed ended its thread: ${error.message}` };
  return { seed, violation, steps: 0, requests: 0, faults: 0, hash: '', counts: new Map(), checks: new Map() };
}
