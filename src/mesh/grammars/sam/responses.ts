import { A2AError } from '#protocol';
import type { Broker } from '../../broker.ts';
import type { SamInbox, SamResponse } from './inbox.ts';

export interface ResponseOptions {
  readonly inbox: SamInbox;
  readonly task: string;
  /** Whose answers they are. */
  readonly name: string;
  readonly signal: AbortSignal;
  /** Given: the request goes out, and again every `retryMs` until something is heard, for `acceptMsMax`. */
  readonly publish?: () => Promise<void>;
  readonly retryMs?: number;
  readonly acceptMsMax?: number;
  readonly idleMsMax: number;
  readonly broker: Pick<Broker, 'onConnectionChange'>;
  /** The broker was away, and what was said meanwhile is lost: asks for it. A word that it has at once is returned. */
  readonly again: () => Promise<SamResponse | undefined>;
}

/**
 * The words for one task as they come. A request that nobody confirms is repeated: brokers lose what was on its way to a replica that was
 * killed, and the other one knows a repeat by its id. Every word begins the patience anew.
 */
export async function* listening(options: ResponseOptions): AsyncGenerator<SamResponse> {
  const { inbox, task, signal } = options;
  const words: SamResponse[] = [];
  let wake: (() => void) | undefined;
  const nudge = (): void => {
    const waiting = wake;
    wake = undefined;
    waiting?.();
  };
  const hear = (word: SamResponse): void => {
    words.push(word);
    nudge();
  };
  const stop = inbox.listen(task, hear);
  const askAgain = async (): Promise<void> => {
    const word = await options.again().catch(() => undefined); // the broker is away once more, and will be back once more
    if (word !== undefined) hear(word);
  };
  const stopWatching = options.broker.onConnectionChange((isConnected) => {
    if (isConnected && patience.isHeard) void askAgain();
  });
  signal.addEventListener('abort', nudge, { once: true });
  const patience = new Patience(options, nudge);
  try {
    await patience.begin();
    for (;;) {
      const word = words.shift();
      if (word !== undefined) {
        patience.heard();
        yield word;
        continue;
      }
      if (signal.aborted) throw new A2AError('UNAVAILABLE', 'the call was aborted', { cause: signal.reason });
      patience.check();
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (words.length > 0 || signal.aborted || patience.isOver) nudge();
      });
    }
  } finally {
    patience.end();
    stop();
    stopWatching();
    signal.removeEventListener('abort', nudge);
  }
}

class Patience {
  readonly #options: ResponseOptions;
  readonly #onOver: () => void;
  readonly #begunAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #problem: string | undefined;
  isHeard = false;

  constructor(options: ResponseOptions, onOver: () => void) {
    this.#options = options;
    this.#onOver = onOver;
  }

  get isOver(): boolean {
    return this.#problem !== undefined;
  }

  async begin(): Promise<void> {
    const { publish, retryMs = 0 } = this.#options;
    if (publish === undefined) {
      this.heard();
      return;
    }
    this.#timer = setTimeout(() => this.#again(), retryMs);
    await publish();
  }

  heard(): void {
    const { idleMsMax, name } = this.#options;
    this.isHeard = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(`${name} has said nothing for ${Math.round(idleMsMax / 1000)} s`), idleMsMax);
  }

  check(): void {
    if (this.#problem !== undefined) throw new A2AError('UNAVAILABLE', this.#problem);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #again(): void {
    const { publish, retryMs = 0, acceptMsMax = 0, name } = this.#options;
    if (this.isHeard || publish === undefined) return;
    if (performance.now() - this.#begunAt >= acceptMsMax) {
      this.#fail(`no agent ${name} on the mesh has taken the request within ${Math.round(acceptMsMax / 1000)} s`);
      return;
    }
    this.#timer = setTimeout(() => this.#again(), retryMs);
    publish().catch(() => undefined); // the broker is away: the next attempt may find it
  }

  #fail(problem: string): void {
    this.#problem = problem;
    this.#onOver();
  }
}
