import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { METRICS } from '../../observability/metric-table.ts';
import type { Metrics } from '../../observability/metrics.ts';

/** Event loop delay and memory of the process. */
export interface ProcessStats {
  /** Whether little memory is left. */
  isOverloaded(): boolean;
  stop(): void;
}

const LOOK_MS = 50;
/** The sampling interval of the event loop delay. Node's figures include it, so it is subtracted. */
const BEAT_MS = 10;
const OVERLOADED = 0.8;
const PERCENTILES = [50, 90, 99] as const;

/** Adds gauges of the process to the metrics, and watches its memory. */
export function watchProcess(metrics: Metrics): ProcessStats {
  const delay = monitorEventLoopDelay({ resolution: BEAT_MS });
  delay.enable();
  const oldMax = heapMax();
  const memoryMax = process.constrainedMemory();
  let isOverloaded = false;
  let lookedAt = 0;
  metrics.gauge(METRICS.eventLoopDelay, () => {
    const late = PERCENTILES.map((percentile) => Math.max(0, delay.percentile(percentile) / 1e9 - BEAT_MS / 1000));
    delay.reset();
    return PERCENTILES.map((percentile, at) => [[String(percentile)], late[at] ?? 0]);
  });
  metrics.gauge(METRICS.residentMemory, () => process.memoryUsage.rss());
  metrics.gauge(METRICS.heapUsed, () => process.memoryUsage().heapUsed);
  return {
    isOverloaded: () => {
      const now = performance.now();
      if (now - lookedAt < LOOK_MS) return isOverloaded;
      lookedAt = now;
      isOverloaded = oldSpaceUsed() > oldMax * OVERLOADED || (memoryMax > 0 && process.memoryUsage.rss() > memoryMax * OVERLOADED);
      return isOverloaded;
    },
    stop: () => delay.disable(),
  };
}

/** The heap without the young generation. V8 aborts the process when this reaches its limit. */
function oldSpaceUsed(): number {
  let used = 0;
  for (const { space_name, space_used_size } of getHeapSpaceStatistics()) if (!space_name.startsWith('new_')) used += space_used_size;
  return used;
}

/** The configured limit of the old generation, if there is one. V8's own limit includes the young generation, which distorts small limits. */
export function heapMax(): number {
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  const given = /--max[-_]old[-_]space[-_]size[= ](\d+)/.exec(flags)?.[1];
  return given === undefined ? getHeapStatistics().heap_size_limit : Number(given) * 2 ** 20;
}

/** File descriptors reserved for other things than connections: store, log, standard streams, files that agents open. */
const RESERVE = 64;
const FALLBACK = 10_000;

/** The maximum number of connections, from the system's limit of open files. */
export function connectionsRoom(): number {
  const limit = openFilesLimit();
  return limit === undefined ? FALLBACK : Math.max(16, limit - RESERVE);
}

/** How many files and sockets this process may open (`ulimit -n`). Undefined where the system does not say, which is outside Linux. */
export function openFilesLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
