import { A2AError } from '#protocol';
import type { MqttResponse } from './inbox.ts';

/** Responses in the order of their arrival, and a way to wait for the next one. */
export class ResponseQueue {
  readonly #responses: MqttResponse[] = [];
  readonly #signal: AbortSignal;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  push(response: MqttResponse): void {
    this.#responses.push(response);
    this.#wake?.();
  }

  shift(): MqttResponse | undefined {
    return this.#responses.shift();
  }

  /** Returns whether a response is available within the given time. Throws when the call is aborted. */
  async waitFor(ms: number): Promise<boolean> {
    if (this.#responses.length === 0 && !this.#signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, ms);
      this.#signal.addEventListener('abort', this.#wake, { once: true });
      await promise;
      clearTimeout(timer);
      this.#signal.removeEventListener('abort', this.#wake);
      this.#wake = undefined;
    }
    if (this.#responses.length > 0) return true;
    if (this.#signal.aborted) throw new A2AError('UNAVAILABLE', 'the call was aborted', { cause: this.#signal.reason });
    return false;
  }
}
