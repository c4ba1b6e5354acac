import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Metrics } from '../metrics.ts';

/** How the process itself is doing. */
export interface Pulse {
  /** Little heap is left, and was not a moment ago either. */
  isPressed(): boolean;
  stop(): void;
}

const LOOK_MS = 250;
const PRESSED = 0.85;
const QUANTILES = [50, 90, 99] as const;

export function takePulse(metrics: Metrics): Pulse {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let high = 0;
  const timer = setInterval(() => {
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    high = used_heap_size / heap_size_limit > PRESSED ? high + 1 : 0;
  }, LOOK_MS);
  timer.unref();
  metrics.gauge({ name: 'parley_event_loop_delay_seconds', help: 'How late timers fire.', labels: ['quantile'] }, () =>
    QUANTILES.map((quantile) => [[String(quantile / 100)], delay.percentile(quantile) / 1e9]),
  );
  metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () => process.memoryUsage.rss());
  metrics.gauge({ name: 'process_heap_used_bytes', help: 'Heap in use.' }, () => process.memoryUsage().heapUsed);
  return {
    isPressed: () => high >= 2,
    stop: () => {
      clearInterval(timer);
      delay.disable();
    },
  };
}

/** Files that are not connections: the store, the log, standard streams, what an agent opens. */
const RESERVE = 64;
const FALLBACK = 10_000;

/** How many connections the process may have open, by the limit that the system gives it. */
export function connectionsRoom(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? FALLBACK : Math.max(16, Number(soft) - RESERVE);
  } catch {
    return FALLBACK; // not on Linux
  }
}
