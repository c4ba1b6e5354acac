import type { HttpRequest } from './http.ts';

/**
 * The signal of a call whose response is a stream. It fires when the request is aborted or the response
 * stream is cancelled.
 */
export interface DisconnectSignal {
  readonly signal: AbortSignal;
  /** False: the host always cancels the response stream when the client disconnects. */
  readonly needsListener: boolean;
  /** The response stream was cancelled. */
  abort(): void;
  /** The stream has ended: removes the listener from the request's signal. */
  release(): void;
}

/** Makes the signal for one call. Call `release` when its stream has ended. */
export function disconnectSignal(request: HttpRequest): DisconnectSignal {
  const { signal } = request;
  // A signal costs as much memory as the rest of a waiting stream. A request that can be aborted from here needs no second one.
  if (request.abort !== undefined) return new OwnDisconnectSignal(request);
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, needsListener: true, abort, release: () => signal.removeEventListener('abort', abort) };
}

/** Uses the request's own signal, so that a waiting stream holds one signal instead of two. */
class OwnDisconnectSignal implements DisconnectSignal {
  readonly #request: HttpRequest;

  constructor(request: HttpRequest) {
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get needsListener(): boolean {
    return false;
  }

  abort(): void {
    this.#request.abort?.();
  }

  release(): void {}
}
