import type { EventStream, Logged } from '#protocol';

type Batches = AsyncIterator<readonly Logged[], unknown>;

/** A stream whose first batch has arrived, so the agent has accepted it. */
export interface StartedStream {
  readonly events: Batches;
  readonly head: IteratorResult<readonly Logged[], unknown>;
}

/** Waits for the first batch. Rejects if the agent refuses the stream. */
export async function startStream(stream: EventStream): Promise<StartedStream> {
  const events = stream[Symbol.asyncIterator]();
  return { events, head: await events.next() };
}

/** A stream of one batch. */
export function singleBatch(batch: readonly Logged[]): StartedStream {
  return { events: { next: () => Promise.resolve({ done: true, value: undefined }) }, head: { done: false, value: batch } };
}

/** A stream that starts when it is first read. From the second batch on, reads go straight to the started stream. */
export function deferredStream(begin: () => Promise<StartedStream>): EventStream {
  return { [Symbol.asyncIterator]: () => new Beginning(begin) };
}

class Beginning implements AsyncIterator<readonly Logged[], unknown> {
  readonly #begin: () => Promise<StartedStream>;
  #startStream: Promise<StartedStream> | undefined;
  #events: Batches | undefined;

  constructor(begin: () => Promise<StartedStream>) {
    this.#begin = begin;
  }

  next(): Promise<IteratorResult<readonly Logged[], unknown>> {
    return this.#events === undefined ? this.#first() : this.#events.next();
  }

  /** A reader that stops while the stream starts must close the stream once it has started. */
  async return(): Promise<IteratorResult<readonly Logged[], unknown>> {
    const { events } = (await this.#startStream?.catch(() => undefined)) ?? {};
    await events?.return?.();
    return { done: true, value: undefined };
  }

  async #first(): Promise<IteratorResult<readonly Logged[], unknown>> {
    this.#startStream = this.#begin();
    const { events, head } = await this.#startStream;
    this.#events = events;
    return head;
  }
}
