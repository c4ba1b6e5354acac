import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * V8 lets the space of its youngest objects grow to 2 × 32 MiB under load and never gives it back: as much as five thousand streams that
 * wait. docs/benchmarks.md has what was seen of the price.
 */
const YOUNG_BYTES = 16 * 2 ** 20;

/** Lets that space grow so far and no further. There is no setting for it once the process runs; by how much it grows is one. */
export function boundYoungHeap(): void {
  if (/--(?:max|min)[-_]semi[-_]space/.test([...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '))) return; // it was chosen
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young !== undefined && young.space_size < YOUNG_BYTES) return;
    observer.disconnect();
    setFlagsFromString('--semi-space-growth-factor=1');
  });
  observer.observe({ entryTypes: ['gc'] });
}
