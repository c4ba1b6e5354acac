import type { EventStream, Logged } from '#protocol';

type Batches = AsyncIterator<readonly Logged[], unknown>;

/** A stream whose first batch has come: nobody refuses it any more. */
export interface Begun {
  readonly events: Batches;
  readonly head: IteratorResult<readonly Logged[], unknown>;
}

export async function begun(stream: EventStream): Promise<Begun> {
  const events = stream[Symbol.asyncIterator]();
  return { events, head: await events.next() };
}

/** One batch, and nothing after it. */
export function only(batch: readonly Logged[]): Begun {
  return { events: { next: () => Promise.resolve({ done: true, value: undefined }) }, head: { done: false, value: batch } };
}

/** A stream that is begun when it is first read. From its second batch on it is what was begun, with nothing in between. */
export function beginning(begin: () => Promise<Begun>): EventStream {
  return { [Symbol.asyncIterator]: () => new Beginning(begin) };
}

class Beginning implements AsyncIterator<readonly Logged[], unknown> {
  readonly #begin: () => Promise<Begun>;
  #begun: Promise<Begun> | undefined;
  #events: Batches | undefined;

  constructor(begin: () => Promise<Begun>) {
    this.#begin = begin;
  }

  next(): Promise<IteratorResult<readonly Logged[], unknown>> {
    return this.#events === undefined ? this.#first() : this.#events.next();
  }

  /** Whoever leaves while it begins has to leave what comes of that. */
  async return(): Promise<IteratorResult<readonly Logged[], unknown>> {
    const { events } = (await this.#begun?.catch(() => undefined)) ?? {};
    await events?.return?.();
    return { done: true, value: undefined };
  }

  async #first(): Promise<IteratorResult<readonly Logged[], unknown>> {
    this.#begun = this.#begin();
    const { events, head } = await this.#begun;
    this.#events = events;
    return head;
  }
}
