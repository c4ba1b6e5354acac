import { A2AError } from '#protocol';
import { TimedOut } from './failures.ts';

/** How long a reader waits for bytes: until its caller leaves, or the sender has been silent for too long. */
export interface ReadTimeout {
  readonly signal?: AbortSignal | undefined;
  readonly idleMs?: number | undefined;
}

/** A timer that is set for longer goes off at once. */
const TIMER_MS_MAX = 0x7fffffff;

/** Closes what is read when timeout is over. A byte costs one look at the clock; the timer is set anew only when it goes off. */
export class IdleTimer {
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#close();
  #close: () => void;
  #idleMs: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastMs = 0;
  #hasExpired = false;

  constructor({ signal, idleMs }: ReadTimeout, close: () => void) {
    this.#signal = signal;
    this.#close = close;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#allow(idleMs);
  }

  /** The sender has been silent for too long. */
  get hasExpired(): boolean {
    return this.#hasExpired;
  }

  /** From now on so long, and this is closed as well. */
  extend(idleMs: number | undefined, close: () => void): void {
    const before = this.#close;
    this.#close = () => {
      before();
      close();
    };
    this.#allow(idleMs);
  }

  touch(): void {
    if (this.#timer !== undefined) this.#lastMs = performance.now();
  }

  /** Throws what ended the wait. */
  check(): void {
    this.#signal?.throwIfAborted();
    if (this.#hasExpired) throw new A2AError('UNAVAILABLE', `nothing came for ${this.#idleMs} ms`, { cause: new TimedOut() });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  /** A timer that goes off too early is set again for what is left; so it is touched only if it would go off too late. */
  #allow(idleMs: number | undefined): void {
    const isLonger = this.#timer !== undefined && this.#idleMs !== undefined && idleMs !== undefined && idleMs >= this.#idleMs;
    this.#idleMs = idleMs;
    if (idleMs !== undefined) this.#lastMs = performance.now();
    if (isLonger && idleMs <= TIMER_MS_MAX) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (idleMs !== undefined && idleMs <= TIMER_MS_MAX) this.#arm(idleMs);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      const left = (this.#idleMs ?? 0) - (performance.now() - this.#lastMs);
      if (left > 0) return this.#arm(left);
      this.#hasExpired = true;
      this.#close();
    }, ms);
  }
}
