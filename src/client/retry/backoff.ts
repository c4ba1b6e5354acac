import { CutOff, NotA2A, TimedOut } from '#bindings';
import type { A2AError } from '#protocol';
import type { RetryPolicy } from './retry.ts';
import { DEFAULT_RETRY, delayOf, isTransient, wasRefused } from './retry.ts';

/**
 * Decides whether to ask for a task again, and after which delay. A server that can't be reached, for example while it restarts, is tried
 * until `awayMsMax` has passed. A server that answers without news is asked at most `tries` times.
 *
 * ```ts
 * const backoff = new Backoff();
 * const delayMs = backoff.next(undefined); // undefined: give up
 * ```
 */
export class Backoff {
  readonly #policy: RetryPolicy;
  #withoutNews = 0;
  #away = 0;
  #awaySince: number | undefined;

  constructor(policy: RetryPolicy = DEFAULT_RETRY) {
    this.#policy = policy;
  }

  /** Call it after every new event: the counters start again. */
  renew(): void {
    this.#withoutNews = 0;
    this.#away = 0;
    this.#awaySince = undefined;
  }

  /** The delay before the next try, or undefined to give up. `failed` is undefined if a stream ended early without an error. */
  next(failed: A2AError | undefined): number | undefined {
    const { tries, awayMsMax } = this.#policy;
    if (failed !== undefined && isAway(failed)) {
      this.#awaySince ??= performance.now();
      if (performance.now() - this.#awaySince >= awayMsMax) return undefined;
      this.#away += 1;
    } else {
      if (this.#withoutNews >= tries) return undefined;
      this.#awaySince = undefined;
      this.#withoutNews += 1;
    }
    return delayOf(failed, this.#withoutNews + this.#away, this.#policy);
  }
}

/** Nothing answers, or only a proxy in front of the server. A response that was cut off does not count. */
function isAway(error: A2AError): boolean {
  const { cause } = error;
  if (cause instanceof NotA2A) return cause.status === 502 || cause.status === 503 || cause.status === 504;
  if (cause === undefined || cause instanceof CutOff || cause instanceof TimedOut) return wasRefused(error);
  return isTransient(error);
}
