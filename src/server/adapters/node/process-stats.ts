import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { Metrics } from '../../observability/metrics.ts';

/** How the process itself is doing. */
export interface ProcessStats {
  /** Little memory is left. */
  isOverloaded(): boolean;
  stop(): void;
}

const LOOK_MS = 50;
/** How often the event loop is looked at: Node counts this time in, as if every timer were late by it. */
const BEAT_MS = 10;
const OVERLOADED = 0.8;
const QUANTILES = [50, 90, 99] as const;

export function watchProcess(metrics: Metrics): ProcessStats {
  const delay = monitorEventLoopDelay({ resolution: BEAT_MS });
  delay.enable();
  const heapMax = oldSpaceMax();
  const memoryMax = process.constrainedMemory();
  let isOverloaded = false;
  let lookedAt = 0;
  const help = 'How late timers fire, since it was last asked.';
  metrics.gauge({ name: 'parley_event_loop_delay_seconds', help, labels: ['quantile'] }, () => {
    const late = QUANTILES.map((quantile) => Math.max(0, delay.percentile(quantile) / 1e9 - BEAT_MS / 1000));
    delay.reset();
    return QUANTILES.map((quantile, at) => [[String(quantile / 100)], late[at] ?? 0]);
  });
  metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () => process.memoryUsage.rss());
  metrics.gauge({ name: 'process_heap_used_bytes', help: 'Heap in use.' }, () => process.memoryUsage().heapUsed);
  return {
    isOverloaded: () => {
      const now = performance.now();
      if (now - lookedAt < LOOK_MS) return isOverloaded;
      lookedAt = now;
      isOverloaded = oldSpaceUsed() > heapMax * OVERLOADED || (memoryMax > 0 && process.memoryUsage.rss() > memoryMax * OVERLOADED);
      return isOverloaded;
    },
    stop: () => delay.disable(),
  };
}

/** What lives longer than a moment: where this runs out, V8 gives up. */
function oldSpaceUsed(): number {
  let used = 0;
  for (const { space_name, space_used_size } of getHeapSpaceStatistics()) if (!space_name.startsWith('new_')) used += space_used_size;
  return used;
}

/** V8's own limit counts what is young too, which is a lot beside a small limit: so one that was given is taken as given. */
function oldSpaceMax(): number {
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  const given = /--max[-_]old[-_]space[-_]size[= ](\d+)/.exec(flags)?.[1];
  return given === undefined ? getHeapStatistics().heap_size_limit : Number(given) * 2 ** 20;
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
