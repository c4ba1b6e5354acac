import type { Asked } from './exchange.ts';

/** One signal for a call whose answer is a stream: it fires when the request is aborted or the answer is cancelled. */
export interface Leaving {
  readonly signal: AbortSignal;
  leave(): void;
  forget(): void;
}

export function leavingOf(asked: Asked): Leaving {
  const { signal } = asked;
  // A signal costs as much as the rest of a stream that waits: where the request's own may be ended by us, one is enough.
  if (asked.leave !== undefined) return new OwnLeaving(asked);
  const controller = new AbortController();
  const leave = (): void => controller.abort(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return { signal: controller.signal, leave, forget: () => signal.removeEventListener('abort', leave) };
}

class OwnLeaving implements Leaving {
  readonly #asked: Asked;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  leave(): void {
    this.#asked.leave?.();
  }

  forget(): void {}
}
