import { describe, expect, it } from 'vitest';
import type { MetricFamily } from '#server';
import { createMetrics, metricsText } from '#server';
import { joinMetrics } from './worker-metrics.ts';

function familiesOf(calls: number): readonly MetricFamily[] {
  const metrics = createMetrics();
  metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['agent'] }).add(['echo'], calls);
  metrics.histogram({ name: 'call_seconds', help: 'Time.', buckets: [1] }).observe(0.5);
  return metrics.families();
}

describe('the metrics of workers', () => {
  it('are one family each, with a label for the worker', () => {
    const text = metricsText(
      joinMetrics([
        { slot: 1, families: familiesOf(3) },
        { slot: 2, families: familiesOf(4) },
      ]),
    );
    expect(text.split('\n').slice(0, 4)).toEqual([
      '# HELP calls_total Calls.',
      '# TYPE calls_total counter',
      'calls_total{worker="1",agent="echo"} 3',
      'calls_total{worker="2",agent="echo"} 4',
    ]);
    expect(text).toContain('call_seconds_bucket{worker="2",le="1"} 1\n');
    expect(text.match(/# TYPE calls_total/g)).toHaveLength(1);
  });

  it('say which worker has not answered', () => {
    const text = metricsText(
      joinMetrics([
        { slot: 1, families: familiesOf(1) },
        { slot: 2, families: undefined },
      ]),
    );
    expect(text).toContain('parley_worker_up{worker="1"} 1\nparley_worker_up{worker="2"} 0\n');
    expect(text).not.toContain('calls_total{worker="2"');
  });
});
