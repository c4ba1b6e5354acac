/** One signal for several reasons to stop. */
export interface Linked {
  readonly signal: AbortSignal;
  /** Its own time ran out; nobody stopped it. */
  readonly isLate: boolean;
  /** Lets go of the others and of the clock. Call it when done, if one of the signals outlives the call. */
  release(): void;
}

/** A timer that is set for longer goes off at once. */
const TIMER_MS_MAX = 0x7fffffff;

/**
 * Stops with the first of the others, or after some time. Not `AbortSignal.any`: of that Node loses the stop when nothing else
 * holds its sources and they are collected (nodejs/node#57736, #65995), and a call that should have ended never does.
 */
export function linkSignals(others: readonly (AbortSignal | undefined)[], ms?: number): Linked {
  const controller = new AbortController();
  const sources = others.filter((each) => each !== undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  const release = (): void => {
    clearTimeout(timer);
    for (const source of sources) source.removeEventListener('abort', stop);
  };
  function stop(this: AbortSignal): void {
    release();
    controller.abort(this.reason);
  }
  const linked: Linked = {
    signal: controller.signal,
    get isLate() {
      return isLate;
    },
    release,
  };
  const first = sources.find(({ aborted }) => aborted);
  if (first !== undefined) {
    controller.abort(first.reason);
    return linked;
  }
  for (const source of sources) source.addEventListener('abort', stop, { once: true });
  if (ms !== undefined && ms <= TIMER_MS_MAX) {
    timer = setTimeout(() => {
      isLate = true;
      release();
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    }, ms);
    // Where a timer can hold a process, this one does not, as that of `AbortSignal.timeout` does not.
    letExit(timer);
  }
  return linked;
}

const KEPT = new WeakMap<AbortSignal, Request>();

/**
 * Keeps a request for as long as its signal: `fetch` holds that one only, and in Node a request that is collected no longer hears
 * the signal that it was made with, so that nothing stops the call (nodejs/node#55428, nodejs/undici#4068).
 */
export function kept(request: Request): Request {
  KEPT.set(request.signal, request);
  return request;
}

/** A timer then keeps no process alive. In browsers timers are numbers, and nothing has to be done. */
export function letExit(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') timer.unref();
}
