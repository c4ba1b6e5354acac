import { A2AError } from '#protocol';
import { TimedOut } from './failures.ts';

/**
 * When a reader stops waiting for bytes: when `signal` fires, or after `idleMs` milliseconds without a
 * byte.
 */
export interface ReadTimeout {
  readonly signal?: AbortSignal | undefined;
  readonly idleMs?: number | undefined;
}

/** The longest delay of `setTimeout`. With a longer one it fires at once. */
const TIMER_MS_MAX = 0x7fffffff;

/**
 * Calls `close` when the signal fires or no byte has come for `idleMs`. `touch` only reads the clock,
 * because it is called for every chunk: the timer is set again only when it fires too early.
 */
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

  /** No byte has come for `idleMs`. */
  get hasExpired(): boolean {
    return this.#hasExpired;
  }

  /**
   * Starts over with another `idleMs`. When the wait ends, `close` is called besides the earlier one.
   */
  extend(idleMs: number | undefined, close: () => void): void {
    const before = this.#close;
    const both = (): void => {
      before();
      close();
    };
    this.#close = both;
    this.#allow(idleMs);
  }

  touch(): void {
    if (this.#timer !== undefined) this.#lastMs = performance.now();
  }

  /** Throws if the wait has ended: the signal's reason, or UNAVAILABLE. */
  check(): void {
    this.#signal?.throwIfAborted();
    if (this.#hasExpired) throw new A2AError('UNAVAILABLE', `nothing came for ${this.#idleMs} ms`, { cause: new TimedOut(this.#idleMs) });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  /**
   * A timer that fires too early sets itself again for the rest, so a running timer is replaced only if
   * it would fire too late.
   */
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
