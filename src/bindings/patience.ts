import { A2AError } from '#protocol';
import { Silence } from './failures.ts';

/** How long a reader waits for bytes: until its caller leaves, or the sender has been silent for too long. */
export interface Patience {
  readonly signal?: AbortSignal | undefined;
  readonly idleMs?: number | undefined;
}

/** A timer that is set for longer goes off at once. */
const TIMER_MS_MAX = 0x7fffffff;

/** Closes what is read when patience is over. A byte costs one look at the clock; the timer is set anew only when it goes off. */
export class Watch {
  readonly #patience: Patience;
  readonly #close: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastMs = 0;
  #isOver = false;

  constructor(patience: Patience, close: () => void) {
    this.#patience = patience;
    this.#close = close;
    patience.signal?.addEventListener('abort', close, { once: true });
    if (patience.idleMs === undefined || patience.idleMs > TIMER_MS_MAX) return;
    this.#lastMs = performance.now();
    this.#arm(patience.idleMs);
  }

  touch(): void {
    if (this.#timer !== undefined) this.#lastMs = performance.now();
  }

  /** Throws what ended the wait. */
  check(): void {
    this.#patience.signal?.throwIfAborted();
    if (this.#isOver) throw new A2AError('UNAVAILABLE', `nothing came for ${this.#patience.idleMs} ms`, { cause: new Silence() });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#patience.signal?.removeEventListener('abort', this.#close);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      const left = (this.#patience.idleMs ?? 0) - (performance.now() - this.#lastMs);
      if (left > 0) return this.#arm(left);
      this.#isOver = true;
      this.#close();
    }, ms);
  }
}
