import type { A2AError } from '#protocol';
import { isA2AError } from '#protocol';
import type { Log } from '../observability/log.ts';
import { METRICS } from '../observability/metric-table.ts';
import type { Metrics } from '../observability/metrics.ts';

/** What the database says, or why it can't be reached. */
function reasonOf({ cause, message }: A2AError): string {
  return cause instanceof Error ? cause.message : message;
}

/**
 * Returns what is to be called after each attempt to read the API keys, with the cause if it failed. Logs only changes: that they
 * can't be read, and that they can be read again.
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
    else if (isA2AError(cause) && cause.kind === 'UNAVAILABLE')
      log.warn('the API keys can’t be read from the database; those that were read last stay valid', { reason: reasonOf(cause) });
    else log.error('the API keys have changed and can’t be read; the keys that were read last stay valid', cause);
  };
}
