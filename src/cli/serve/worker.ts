import cluster from 'node:cluster';
import { join } from 'node:path';
import type { Metrics, Settings } from '#server';
import { metricsText } from '#server';
import { dataFolder } from '../../server/adapters/data-folder.ts';
import type { FromWorker, ToWorker, WorkerMetrics } from './worker-messages.ts';
import { SLOT_VARIABLE } from './worker-messages.ts';
import { joinMetrics } from './worker-metrics.ts';

/** This process, if it is one of several workers on a port. */
export interface ThisWorker {
  /** From 1. A worker that replaces another one has its number. */
  readonly slot: number;
  /** The settings with a data folder, and a port of the link to the others, of this worker alone. */
  settings(shared: Settings): Settings;
  /** Tells the parent process that this worker serves. */
  ready(text: string): void;
  /** Answers the parent's questions for metrics. Returns the text for `/metrics`: that of all workers. */
  shareMetrics(metrics: Metrics): () => Promise<string>;
}

/** Reads what the parent process has set, and removes it: agents that run programs hand their environment on. */
export function thisWorker(): ThisWorker {
  const [slot = 1, port = 0] = (process.env[SLOT_VARIABLE] ?? '').split(':').map(Number);
  delete process.env[SLOT_VARIABLE];
  // Without the parent there is no port. Node would exit at once; this drains first.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.on('SIGHUP', () => {}); // one that arrives before the node serves must not end the process
  process.channel?.unref(); // a worker that could not start ends
  return {
    slot,
    settings: (shared) => ({
      ...shared,
      port,
      data: join(dataFolder(shared.data), `worker-${slot}`),
      advertise: shared.advertise === undefined ? undefined : linkOf(shared.advertise, slot),
    }),
    ready: (text) => tell({ kind: 'ready', text }),
    shareMetrics,
  };
}

/** A port for the link is that of the first worker. The others have the next ones. */
export function linkOf(advertise: string, slot: number): string {
  return advertise.replace(/:(\d+)$/, (_, port: string) => `:${Number(port) + slot - 1}`);
}

function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}

function shareMetrics(metrics: Metrics): () => Promise<string> {
  const waiting = new Map<number, (workers: readonly WorkerMetrics[]) => void>();
  let requests = 0;
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'report') tell({ kind: 'metrics', round: message.round, families: metrics.families() });
    if (message.kind !== 'gathered') return;
    waiting.get(message.request)?.(message.workers);
    waiting.delete(message.request);
  });
  return async () => {
    if (!process.connected) return metrics.text();
    requests += 1;
    const request = requests;
    const gathered = new Promise<readonly WorkerMetrics[]>((resolve) => waiting.set(request, resolve));
    tell({ kind: 'gather', request });
    return metricsText(joinMetrics(await gathered));
  };
}
