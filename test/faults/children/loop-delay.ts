import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Loaded into the server by `--import`: SIGUSR2 begins to measure how late its event loop is, and ends it with a line. */
const RESOLUTION = 1;
if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  let isOn = false;
  process.on('SIGUSR2', () => {
    isOn = !isOn;
    if (isOn) {
      delay.enable();
      return;
    }
    delay.disable();
    // What Node counts is from one look to the next: the time between two looks is no delay.
    const ms = (nanoseconds: number): number => Math.max(0, Math.round(nanoseconds / 1e4) / 100 - RESOLUTION);
    const [p50, p99, max] = [delay.percentile(50), delay.percentile(99), delay.max].map(ms);
    process.stdout.write(`loop ${JSON.stringify({ p50, p99, max })}\n`);
  });
}
