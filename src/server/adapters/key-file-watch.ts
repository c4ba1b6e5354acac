import type { Log } from '../observability/log.ts';
import { METRICS } from '../observability/metric-table.ts';
import type { Metrics } from '../observability/metrics.ts';

/**
 * Returns what is to be called after each attempt to read the file of API keys, with the cause if it failed. Logs only changes: that the file
 * can't be read, and that it can be read again.
 */
export function keyFileWatch(log: Log, metrics: Metrics): (cause: unknown) => void {
  let isReadable: boolean | undefined;
  return (cause) => {
    // A node that authenticates nobody reads no keys, and has no such metric.
    if (isReadable === undefined) metrics.gauge(METRICS.keysReadable, () => Number(isReadable));
    const wasReadable = isReadable ?? true;
    isReadable = cause === undefined;
    if (isReadable === wasReadable) return;
    if (isReadable) log.info('the API keys can be read again');
    else log.error('the API keys have changed and can’t be read; the keys that were read last stay valid', cause);
  };
}
