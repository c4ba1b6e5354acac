import type { AuthMethod } from '../access/authentication/auth-method.ts';
import type { Log } from '../observability/log.ts';
import { METRICS } from '../observability/metric-table.ts';
import type { Metrics } from '../observability/metrics.ts';

/** Whether the token issuer of a node can be reached, in its log and its metrics. */
export interface IssuerWatch {
  /** To be called after each fetch of the issuer's keys, with the cause if it failed. */
  fetched(cause: unknown): void;
  /** Fetches the keys, and again after each failure until it is successful. Does not wait. */
  start(methods: readonly Pick<AuthMethod, 'connect'>[] | undefined): void;
  /** Ends the attempts. */
  stop(): void;
}

/** The first pause between two attempts, and the longest. `remoteKeys` itself makes no attempt within 5 seconds after a failure. */
const PAUSE_MS = 5100;
const PAUSE_MS_MAX = 60_000;

const NO_ISSUER: IssuerWatch = { fetched: () => {}, start: () => {}, stop: () => {} };

/** Logs only changes: that the issuer can't be reached, and that it can be reached again. Without an issuer it does nothing. */
export function watchIssuer(issuer: string | undefined, { log, metrics }: { readonly log: Log; readonly metrics: Metrics }): IssuerWatch {
  if (issuer === undefined) return NO_ISSUER;
  const fetches = metrics.counter(METRICS.issuerFetches);
  let isReachable: boolean | undefined;
  let timer: NodeJS.Timeout | undefined;
  let connect: (() => Promise<void>) | undefined;
  metrics.gauge(METRICS.issuerReachable, () => [[[issuer], Number(isReachable === true)]]);
  const retry = (ms: number): void => {
    if (connect === undefined || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      connect?.().catch(() => retry(Math.min(ms * 2, PAUSE_MS_MAX)));
    }, ms).unref();
  };
  return {
    fetched: (cause) => {
      fetches.add([issuer, cause === undefined ? 'ok' : 'failed']);
      const wasReachable = isReachable;
      isReachable = cause === undefined;
      if (isReachable === wasReachable) return;
      if (isReachable) log.info('the token issuer can be reached', { issuer });
      else {
        const reason = cause instanceof Error ? cause.message : String(cause);
        log.warn('the token issuer can’t be reached; it is tried again, and until then its tokens are answered with 503', {
          issuer,
          reason,
        });
        retry(PAUSE_MS);
      }
    },
    start: (methods = []) => {
      connect = methods.find((method) => method.connect !== undefined)?.connect;
      connect?.().catch(() => retry(PAUSE_MS));
    },
    stop: () => {
      connect = undefined;
      clearTimeout(timer);
    },
  };
}
