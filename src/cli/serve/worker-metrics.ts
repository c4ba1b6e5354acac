import type { MetricFamily } from '#server';
import { METRICS } from '#server';
import type { WorkerMetrics } from './worker-messages.ts';

/** The metrics of all workers as those of one node: each value gets the label `worker`, with the number of its worker. */
export function joinMetrics(workers: readonly WorkerMetrics[]): readonly MetricFamily[] {
  const joined = new Map<string, MetricFamily>();
  for (const { slot, families = [] } of workers) {
    for (const family of families) {
      const points = family.points.map((point) => ({ ...point, values: [String(slot), ...point.values] }));
      const known = joined.get(family.name);
      if (known === undefined) joined.set(family.name, { ...family, labels: ['worker', ...family.labels], points });
      else joined.set(family.name, { ...known, points: [...known.points, ...points] });
    }
  }
  const up = workers.map(({ slot, families }) => ({ values: [String(slot)], value: families === undefined ? 0 : 1 }));
  return [...joined.values(), { ...METRICS.workerUp, points: up }];
}
