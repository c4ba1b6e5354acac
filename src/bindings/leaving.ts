import type { HttpRequest } from './exchange.ts';

/** One signal for a call whose answer is a stream: it fires when the request is aborted or the answer is cancelled. */
export interface Leaving {
  readonly signal: AbortSignal;
  leave(): void;
  forget(): void;
}

export function leavingOf(request: HttpRequest): Leaving {
  const { signal } = request;
  // A signal costs as much as the rest of a stream that waits: where the request's own may be ended by us, one is enough.
  if (request.leave !== undefined) return new OwnLeaving(request);
  const controller = new AbortController();
  const leave = (): void => controller.abort(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return { signal: controller.signal, leave, forget: () => signal.removeEventListener('abort', leave) };
}

class OwnLeaving implements Leaving {
  readonly #request: HttpRequest;

  constructor(request: HttpRequest) {
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  leave(): void {
    this.#request.leave?.();
  }

  forget(): void {}
}
