import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('metrics', () => {
  it('count by labels', () => {
    const metrics = createMetrics();
    const calls = metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['agent', 'outcome'] });
    calls.add(['echo', 'ok']);
    calls.add(['echo', 'ok'], 2);
    calls.add(['ec"ho\\\n', 'ok']);
    expect(metrics.text()).toBe(
      '# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{agent="echo",outcome="ok"} 3\ncalls_total{agent="ec\\"ho\\\\\\n",outcome="ok"} 1\n',
    );
  });

  it('sort observations into cumulative buckets', () => {
    const metrics = createMetrics();
    const seconds = metrics.histogram({ name: 's', help: 'Seconds.', labels: ['op'], buckets: [0.1, 1] });
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value, ['send']);
    expect(metrics.text().split('\n').slice(2, -1)).toEqual([
      's_bucket{op="send",le="0.1"} 2',
      's_bucket{op="send",le="1"} 3',
      's_bucket{op="send",le="+Inf"} 4',
      's_sum{op="send"} 7.65',
      's_count{op="send"} 4',
    ]);
  });

  it('read gauges at each scrape', () => {
    const metrics = createMetrics();
    let open = 1;
    metrics.gauge({ name: 'open', help: 'Open.' }, () => open);
    metrics.gauge({ name: 'delay', help: 'Delay.', labels: ['q'] }, () => [
      [['0.5'], 1],
      [['0.9'], 2],
    ]);
    metrics.gauge({ name: 'made_total', help: 'Made.', type: 'counter' }, () => 5);
    open = 3;
    expect(metrics.text()).toContain('# TYPE open gauge\nopen 3\n');
    expect(metrics.text()).toContain('delay{q="0.5"} 1\ndelay{q="0.9"} 2\n');
    expect(metrics.text()).toContain('# TYPE made_total counter\nmade_total 5\n');
  });
});
