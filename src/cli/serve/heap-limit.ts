import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * V8's young generation grows to 2 × 32 MiB under load. That is the memory of five thousand waiting streams. The cost of the limit is in
 * docs/performance.md.
 */
const YOUNG_BYTES = 16 * 2 ** 20;
const DEFAULT_FACTOR = 2;

/**
 * Stops the growth at YOUNG_BYTES. V8 can't set the size at run time, but it can set the growth factor. V8 shrinks the young generation of a
 * process without work, so the factor is set back then: with 2 MiB each request would take twice its processor time. The limit is not hard:
 * while V8 marks the old generation it may let the young one grow, and takes that back at the end of the marking.
 */
export function boundYoungHeap(): void {
  if (/--(?:max|min)[-_]semi[-_]space/.test([...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '))) return; // the user has set it
  let isBound = false;
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const isLarge = young === undefined || young.space_size >= YOUNG_BYTES;
    if (isLarge === isBound) return;
    isBound = isLarge;
    setFlagsFromString(`--semi-space-growth-factor=${isLarge ? 1 : DEFAULT_FACTOR}`);
  });
  observer.observe({ entryTypes: ['gc'] });
}
