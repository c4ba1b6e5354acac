import type { AdminHealth, AdminSample } from '#protocol';
import type { Metrics } from './metrics.ts';

/** Samples of the node's metrics for the last hour. The host takes one every five seconds. */
export interface Health {
  /** Takes a sample and stores it. */
  sample(): void;
  /** The newest samples, all of them by default. The last one is of this moment. */
  shown(newest?: number): AdminHealth;
}

/** One hour with a sample every five seconds. */
const SAMPLES_MAX = 720;
/** Reading takes a sample of this moment only if the last one is older than this. */
const FRESH_MS = 900;
/** Such a sample is stored only where no host takes any, so that the samples still cover an hour while a console reads them. */
const STORED_APART_MS = 5500;

/** Starts without samples. */
export function createHealth(metrics: Metrics, about: Pick<AdminHealth, 'version' | 'docs' | 'traceUrl'>): Health {
  const startedAt = new Date().toISOString();
  const samples: AdminSample[] = [];
  let now: AdminSample | undefined;
  let [takenMs, storedMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const take = (): AdminSample => {
    takenMs = performance.now();
    now = sampleOf(metrics.text((name) => NAMES.has(name)));
    return now;
  };
  const store = (sample: AdminSample): void => {
    storedMs = takenMs;
    samples.push(sample);
    if (samples.length > SAMPLES_MAX) samples.shift();
  };
  return {
    sample: () => store(take()),
    shown: (newest = SAMPLES_MAX + 1) => {
      if (performance.now() - takenMs > FRESH_MS) take();
      if (now !== undefined && takenMs - storedMs > STORED_APART_MS) store(now);
      const all = now === undefined || samples.at(-1) === now ? samples : [...samples, now];
      return { startedAt, ...about, samples: all.slice(-Math.max(1, newest)) };
    },
  };
}

const NAMES: ReadonlySet<string> = new Set([
  ...['parley_calls_total', 'parley_call_seconds', 'parley_events_total', 'parley_commits_total', 'parley_streams_open'],
  ...['parley_tasks_finished_total', 'parley_tasks_running', 'parley_tasks_queued', 'parley_tasks_asking', 'parley_tasks_live'],
  ...['process_resident_memory_bytes', 'parley_store_bytes'],
]);

/** A read of a task that is not there. It is an answer and no failure: `parley doctor` and the page of an agent check interfaces with it. */
const MISSED_READ = /operation="get",outcome="TASK_NOT_FOUND"/;

/** Reads the figures from the Prometheus text, so that the console and monitoring show the same. */
function sampleOf(text: string): AdminSample {
  const lines = text.split('\n');
  const sum = (name: string, isMeant: (line: string) => boolean = () => true): number | undefined => {
    const found = lines.filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && isMeant(line));
    return found.length === 0 ? undefined : found.reduce((all, line) => all + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  };
  const storeBytes = sum('parley_store_bytes');
  return {
    at: new Date().toISOString(),
    calls: sum('parley_calls_total') ?? 0,
    errors: sum('parley_calls_total', (line) => !line.includes('outcome="ok"') && !MISSED_READ.test(line)) ?? 0,
    failed: sum('parley_tasks_finished_total', (line) => /state="(?:failed|rejected)"/.test(line)) ?? 0,
    callSeconds: sum('parley_call_seconds_sum') ?? 0,
    events: sum('parley_events_total') ?? 0,
    commits: sum('parley_commits_total') ?? 0,
    running: sum('parley_tasks_running') ?? 0,
    queued: sum('parley_tasks_queued') ?? 0,
    asking: sum('parley_tasks_asking') ?? 0,
    streams: sum('parley_streams_open') ?? 0,
    tasks: sum('parley_tasks_live') ?? 0,
    memoryBytes: sum('process_resident_memory_bytes') ?? 0,
    ...(storeBytes === undefined ? {} : { storeBytes }),
  };
}
