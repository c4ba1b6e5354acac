import { A2AError } from '#protocol';
import type { Broker } from '../../broker.ts';
import type { SamInbox, SamResponse } from './inbox.ts';

/** Options of `readResponses`. */
export interface ResponseOptions {
  readonly inbox: SamInbox;
  readonly task: string;
  /** The agent's name, for errors. */
  readonly agent: string;
  readonly signal: AbortSignal;
  /**
   * Publishes the request, and returns whether anybody may have received it. Called again every `retryMs`
   * until a response comes, for at most `acceptMsMax`. Absent: nothing to publish.
   */
  readonly publish?: () => Promise<boolean>;
  /**
   * Whether the agent recognises a repeated request. Other agents get it once: an agent that works
   * without a word would work twice.
   */
  readonly repeats?: boolean;
  readonly retryMs?: number;
  readonly acceptMsMax?: number;
  readonly idleMsMax: number;
  readonly broker: Pick<Broker, 'onConnectionChange'>;
  /**
   * Asks for responses that were lost while the broker was unreachable. Returns a response that is
   * available at once.
   */
  readonly recover: () => Promise<SamResponse | undefined>;
}

/**
 * Yields the responses for one task. A request without a response is repeated: brokers lose messages on
 * their way to a replica that is killed, and another replica recognises the repeat by its id. Every
 * response restarts the idle timeout.
 */
export async function* readResponses(options: ResponseOptions): AsyncGenerator<SamResponse> {
  const { inbox, task, signal } = options;
  const queue: SamResponse[] = [];
  let wake: (() => void) | undefined;
  const notify = (): void => {
    const waiting = wake;
    wake = undefined;
    waiting?.();
  };
  const receive = (response: SamResponse): void => {
    queue.push(response);
    notify();
  };
  const stopListening = inbox.listen(task, receive);
  const recover = async (): Promise<void> => {
    const response = await options.recover().catch(() => undefined); // the broker is unreachable again; the next reconnect retries
    if (response !== undefined) receive(response);
  };
  const stopWatching = options.broker.onConnectionChange((isConnected) => {
    if (isConnected && timeouts.hasResponse) void recover();
  });
  signal.addEventListener('abort', notify, { once: true });
  const timeouts = new ResponseTimeouts(options, notify);
  try {
    await timeouts.start();
    for (;;) {
      const response = queue.shift();
      if (response !== undefined) {
        timeouts.onResponse();
        yield response;
        continue;
      }
      if (signal.aborted) throw new A2AError('UNAVAILABLE', 'the call was aborted', { cause: signal.reason });
      timeouts.check();
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (queue.length > 0 || signal.aborted || timeouts.isExpired) notify();
      });
    }
  } finally {
    timeouts.stop();
    stopListening();
    stopWatching();
    signal.removeEventListener('abort', notify);
  }
}

/** Repeats the request until the first response, then limits the time between responses. */
class ResponseTimeouts {
  readonly #options: ResponseOptions;
  readonly #onExpired: () => void;
  readonly #startedAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #problem: string | undefined;
  #isDelivered = false;
  hasResponse = false;

  constructor(options: ResponseOptions, onExpired: () => void) {
    this.#options = options;
    this.#onExpired = onExpired;
  }

  get isExpired(): boolean {
    return this.#problem !== undefined;
  }

  async start(): Promise<void> {
    const { publish, retryMs = 0 } = this.#options;
    if (publish === undefined) {
      this.onResponse();
      return;
    }
    this.#timer = setTimeout(() => this.#retry(), retryMs);
    this.#isDelivered = await publish();
  }

  onResponse(): void {
    this.hasResponse = true;
    this.#waitForResponse();
  }

  #waitForResponse(): void {
    const { idleMsMax, agent } = this.#options;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(`${agent} has sent nothing for ${Math.round(idleMsMax / 1000)} s`), idleMsMax);
  }

  check(): void {
    if (this.#problem !== undefined) throw new A2AError('UNAVAILABLE', this.#problem, { data: { details: this.#problem } });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #retry(): void {
    const { publish, repeats, retryMs = 0, acceptMsMax = 0, agent } = this.#options;
    if (this.hasResponse || publish === undefined) return;
    if (this.#isDelivered && repeats !== true) {
      this.#waitForResponse();
      return;
    }
    if (performance.now() - this.#startedAt >= acceptMsMax) {
      this.#fail(`no agent ${agent} on the mesh has accepted the request within ${Math.round(acceptMsMax / 1000)} s`);
      return;
    }
    this.#timer = setTimeout(() => this.#retry(), retryMs);
    publish().then(
      (isDelivered) => {
        this.#isDelivered ||= isDelivered;
      },
      () => undefined, // the broker is unreachable; the next attempt may succeed
    );
  }

  #fail(problem: string): void {
    this.#problem = problem;
    this.#onExpired();
  }
}
