import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHealth } from './health.ts';
import { METRICS } from './metric-table.ts';
import { createMetrics } from './metrics.ts';

describe('the samples of a node', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('count no read of a task that is not there as a failed call', () => {
    const metrics = createMetrics();
    const calls = metrics.counter(METRICS.calls);
    const health = createHealth(metrics, { version: '1' });
    calls.add(['echo', 'v10', 'get', 'TASK_NOT_FOUND']);
    calls.add(['echo', 'v10', 'send', 'TASK_FAILED']);
    calls.add(['echo', 'v10', 'cancel', 'TASK_NOT_FOUND']);
    calls.add(['echo', 'v10', 'send', 'ok']);
    expect(health.shown().samples).toMatchObject([{ calls: 4, errors: 2 }]);
  });

  it('cover an hour, however often somebody reads them', () => {
    const health = createHealth(createMetrics(), { version: '1' });
    for (let seconds = 0; seconds < 4000; seconds += 1) {
      if (seconds % 5 === 0) health.sample();
      health.shown();
      vi.advanceTimersByTime(1000);
    }
    const { samples } = health.shown();
    expect(samples).toHaveLength(721); // the last one is of this moment
    expect(Date.parse(samples.at(-1)?.at ?? '') - Date.parse(samples[0]?.at ?? '')).toBe(3600 * 1000);
    expect(health.shown(1).samples).toEqual(samples.slice(-1));
  });

  it('are stored when they are read, where no host takes any', () => {
    const health = createHealth(createMetrics(), { version: '1' });
    for (let minutes = 0; minutes < 3; minutes += 1) {
      health.shown();
      vi.advanceTimersByTime(60_000);
    }
    expect(health.shown().samples).toHaveLength(4);
  });
});
