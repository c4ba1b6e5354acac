import type { Mutable } from './json.ts';

/** A signal that combines several reasons to stop. */
export interface Linked {
  readonly signal: AbortSignal;
  /** Whether the timeout caused the abort, and none of the given signals. */
  readonly isLate: boolean;
  /**
   * Removes the listeners and the timer. Call it when the work is done, if one of the given signals
   * lives longer than the work.
   */
  release(): void;
}

/** Node fires a timer with a longer delay at once. */
const TIMER_MS_MAX = 0x7fffffff;

/**
 * A signal that aborts with the first of the others, or after `ms` milliseconds. Replaces
 * `AbortSignal.any`: Node loses its abort when the sources are garbage-collected (nodejs/node#57736,
 * #65995), and the call then never ends.
 */
export function linkSignals(others: readonly (AbortSignal | undefined)[], ms?: number): Linked {
  const controller = new AbortController();
  const sources = others.filter((each) => each !== undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const release = (): void => {
    clearTimeout(timer);
    for (const source of sources) source.removeEventListener('abort', stop);
  };
  function stop(this: AbortSignal): void {
    release();
    controller.abort(this.reason);
  }
  const linked: Mutable<Linked> = { signal: controller.signal, isLate: false, release };
  const first = sources.find(({ aborted }) => aborted);
  if (first !== undefined) {
    controller.abort(first.reason);
    return linked;
  }
  for (const source of sources) source.addEventListener('abort', stop, { once: true });
  if (ms !== undefined && ms <= TIMER_MS_MAX) {
    timer = setTimeout(() => {
      linked.isLate = true;
      release();
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    }, ms);
    // Does not keep the process alive, like the timer of `AbortSignal.timeout`.
    letExit(timer);
  }
  return linked;
}

/** By their own signals. */
const KEPT = new WeakMap<AbortSignal, Request>();
/** By the signals that they were made with. */
const MADE_WITH = new WeakMap<AbortSignal, Request>();

/**
 * Keeps a request in memory as long as its signal. `fetch` holds only the signal, and in Node a
 * garbage-collected request no longer forwards the signal it was made with, so an abort would have no
 * effect (nodejs/node#55428, nodejs/undici#4068).
 *
 * `source` is the signal that the request was made with, if it is for this request only: the signal of
 * a timeout, or of the request that this one is a copy of. The request then lives as long as that one,
 * too: a `fetch` of the user may hold nothing but a listener.
 */
export function kept(request: Request, source?: AbortSignal): Request {
  KEPT.set(request.signal, request);
  if (source !== undefined) MADE_WITH.set(source, request);
  return request;
}

/**
 * Lets the process exit although the timer is pending. Does nothing in browsers, where timers are
 * numbers.
 */
export function letExit(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') timer.unref();
}
