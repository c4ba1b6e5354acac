import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * V8's young generation grows to 2 × 32 MiB under load and never shrinks. That is the memory of five thousand waiting streams. The cost of the
 * limit is in docs/benchmarks.md.
 */
const YOUNG_BYTES = 16 * 2 ** 20;

/** Stops the growth at YOUNG_BYTES. V8 can't set the size at run time, but it can set the growth factor. */
export function boundYoungHeap(): void {
  if (/--(?:max|min)[-_]semi[-_]space/.test([...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '))) return; // the user has set it
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young !== undefined && young.space_size < YOUNG_BYTES) return;
    observer.disconnect();
    setFlagsFromString('--semi-space-growth-factor=1');
  });
  observer.observe({ entryTypes: ['gc'] });
}
