import type { MetricFamily } from '#server';

/** The environment variable that tells a worker its number and the port, as `2:41242`. */
export const SLOT_VARIABLE = 'PARLEY_SLOT';

/** What a worker sends to the process that started it. */
export type FromWorker =
  /** It serves. `text` is what a node without workers prints then. */
  | { readonly kind: 'ready'; readonly text: string }
  /** It was asked for `/metrics`, and needs those of all workers. */
  | { readonly kind: 'gather'; readonly request: number }
  | { readonly kind: 'metrics'; readonly round: number; readonly families: readonly MetricFamily[] };

/** What a worker is sent. */
export type ToWorker =
  | { readonly kind: 'report'; readonly round: number }
  | { readonly kind: 'gathered'; readonly request: number; readonly workers: readonly WorkerMetrics[] };

/** The metrics of one worker. Undefined: it does not run, or has not answered in time. */
export interface WorkerMetrics {
  readonly slot: number;
  readonly families: readonly MetricFamily[] | undefined;
}
