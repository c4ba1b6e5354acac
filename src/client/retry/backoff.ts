import { CutOff, NotA2A, Silence } from '#bindings';
import type { A2AError } from '#protocol';
import type { RetryPolicy } from './retry.ts';
import { DEFAULT_RETRY, delayOf, isTransient, wasRefused } from './retry.ts';

/**
 * Whether it is worth while to come back to a task, and when. A peer that is away, as one that restarts is, is waited for: looking
 * for it costs nobody anything. One that is there and has nothing new is asked only so often.
 */
export class Patience {
  readonly #policy: RetryPolicy;
  #barren = 0;
  #away = 0;
  #awaySince: number | undefined;

  constructor(policy: RetryPolicy = DEFAULT_RETRY) {
    this.#policy = policy;
  }

  /** Something new has come. */
  renew(): void {
    this.#barren = 0;
    this.#away = 0;
    this.#awaySince = undefined;
  }

  /** How long to wait before the next try. `failed` is undefined where a stream ended too early, and in order. Undefined: it is over. */
  next(failed: A2AError | undefined): number | undefined {
    const { tries, awayMsMax } = this.#policy;
    if (failed !== undefined && isAway(failed)) {
      this.#awaySince ??= performance.now();
      if (performance.now() - this.#awaySince >= awayMsMax) return undefined;
      this.#away += 1;
    } else {
      if (this.#barren >= tries) return undefined;
      this.#awaySince = undefined;
      this.#barren += 1;
    }
    return delayOf(failed, this.#barren + this.#away, this.#policy);
  }
}

/** Nobody answers, or only something that stands in front of it. What was begun and cut off is no sign of that. */
function isAway(error: A2AError): boolean {
  const { cause } = error;
  if (cause instanceof NotA2A) return cause.status === 502 || cause.status === 503 || cause.status === 504;
  if (cause === undefined || cause instanceof CutOff || cause instanceof Silence) return wasRefused(error);
  return isTransient(error);
}
