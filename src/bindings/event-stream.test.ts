import { describe, expect, it } from 'vitest';
import type { BatchIterator, Logged, TaskEvent, Waiter } from '#protocol';
import { seq } from '#protocol';
import { eventAnswer } from './event-stream.ts';
import type { EventWire } from './event-wire.ts';
import type { ResponseStream } from './http.ts';

/** Batches that come later. Counts how often `next` was called. */
class Later implements BatchIterator {
  calls = 0;
  returned = 0;
  #ready: Logged | undefined;
  #waiter: Waiter | undefined;

  say(at: number): void {
    this.#ready = { seq: seq(at), event: {} as TaskEvent };
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.wake();
  }

  waitsFor(waiter: Waiter): boolean {
    if (this.#ready === undefined) this.#waiter = waiter;
    return this.#ready === undefined;
  }

  next(): Promise<IteratorResult<readonly Logged[]>> {
    this.calls += 1;
    const ready = this.#ready;
    this.#ready = undefined;
    return Promise.resolve(ready === undefined ? { done: true, value: undefined } : { done: false, value: [ready] });
  }

  return(): Promise<IteratorResult<readonly Logged[]>> {
    this.returned += 1;
    return Promise.resolve({ done: true, value: undefined });
  }
}

function open(rest: BatchIterator): ResponseStream {
  const wire: EventWire = {
    writer: { frames: (batch) => batch.map(({ seq: id }) => ({ ...(id === undefined ? {} : { id }), data: '{}' })), end: () => [] },
    keepAliveMs: 0,
    retryMs: undefined,
    isReset: false,
    errorFrame: () => ({ data: 'failed' }),
    taskAtEnd: async () => undefined,
    left: () => undefined,
    ended: () => undefined,
  };
  const { body } = eventAnswer({ first: { done: false, value: [{ seq: seq(1), event: {} as TaskEvent }] }, rest }, wire, {});
  return body as ResponseStream;
}

/** Reads as `Pump` does: keeps no promise while there is nothing to read. */
function follow(flow: ResponseStream): { readonly texts: (string | undefined)[] } {
  const texts: (string | undefined)[] = [];
  const run = (): void => {
    if (flow.waitsFor?.({ wake: run }) === true) return;
    void flow.next().then((text) => {
      texts.push(text);
      if (text !== undefined) run();
    });
  };
  run();
  return { texts };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a reader that waits without a promise', () => {
  it('gets each event when it comes, and `next` is called only when there is one', async () => {
    const later = new Later();
    const { texts } = follow(open(later));
    await turn();
    expect([texts.length, later.calls]).toEqual([1, 0]);
    for (const at of [2, 3]) {
      later.say(at);
      await turn();
    }
    expect(texts).toEqual(['id: 1\ndata: {}\n\n', 'id: 2\ndata: {}\n\n', 'id: 3\ndata: {}\n\n']);
    expect(later.calls).toBe(2);
  });

  it('gets the last text of a server that shuts down, and then the end', async () => {
    const later = new Later();
    const flow = open(later);
    const { texts } = follow(flow);
    await turn();
    flow.finish('retry: 1\n\n');
    await turn();
    expect(texts.slice(1)).toEqual(['retry: 1\n\n', undefined]);
    expect(later.returned).toBe(1);
  });

  it('gets the end when it is cancelled, and no event afterwards', async () => {
    const later = new Later();
    const flow = open(later);
    const { texts } = follow(flow);
    await turn();
    flow.cancel();
    later.say(2);
    await turn();
    expect(texts.slice(1)).toEqual([undefined]);
    expect([later.calls, later.returned, flow.isWhole]).toEqual([0, 1, false]);
  });
});

it('a pending `next` gets the next event, and the end when it is cancelled', async () => {
  const later = new Later();
  const flow = open(later);
  await flow.next();
  const second = flow.next();
  later.say(2);
  expect(await second).toBe('id: 2\ndata: {}\n\n');
  const third = flow.next();
  flow.cancel();
  expect(await third).toBeUndefined();
});
