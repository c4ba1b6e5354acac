import type { HttpRequest } from './http.ts';

/** One signal for a call whose answer is a stream: it fires when the request is aborted or the answer is cancelled. */
export interface DisconnectSignal {
  readonly signal: AbortSignal;
  abort(): void;
  release(): void;
}

export function disconnectSignal(request: HttpRequest): DisconnectSignal {
  const { signal } = request;
  // A signal costs as much as the rest of a stream that waits: where the request's own may be ended by us, one is enough.
  if (request.abort !== undefined) return new OwnDisconnectSignal(request);
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, abort, release: () => signal.removeEventListener('abort', abort) };
}

class OwnDisconnectSignal implements DisconnectSignal {
  readonly #request: HttpRequest;

  constructor(request: HttpRequest) {
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  abort(): void {
    this.#request.abort?.();
  }

  release(): void {}
}
