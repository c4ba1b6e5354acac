import { describe, expect, it } from 'vitest';
import type { EventStream, Logged } from '#protocol';
import { observeStream } from '../../src/server/agents/intercept.ts';

const BATCH: readonly Logged[] = [];

/** A stream of two batches that then waits forever, or throws. */
function streamOf(onReturn: () => void, thrown?: Error): EventStream {
  let left = 2;
  const next = (): Promise<IteratorResult<readonly Logged[]>> => {
    if (left > 0) {
      left -= 1;
      return Promise.resolve({ done: false, value: BATCH });
    }
    return thrown === undefined ? new Promise(() => undefined) : Promise.reject(thrown);
  };
  const leave = async (): Promise<IteratorResult<readonly Logged[]>> => {
    onReturn();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}

describe('observeStream', () => {
  it('ends the inner stream at once when its reader leaves, and reports a normal end once', async () => {
    const ends: unknown[] = [];
    let returned = 0;
    const iterator = observeStream(
      () => streamOf(() => (returned += 1)),
      (thrown, { wasOpened }) => ends.push([thrown, wasOpened]),
    )[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    void iterator.next(); // waits for ever
    await iterator.return?.();
    await iterator.return?.();
    expect([ends, returned]).toEqual([[[undefined, true]], 2]);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('reports what the stream threw', async () => {
    const ends: unknown[] = [];
    const failure = new Error('gone');
    const read = async (): Promise<void> => {
      for await (const _ of observeStream(
        () => streamOf(() => undefined, failure),
        (thrown, { wasOpened }) => ends.push([thrown, wasOpened]),
      ));
    };
    await expect(read()).rejects.toBe(failure);
    expect(ends).toEqual([[failure, true]]);
  });

  it('reports that a stream was not opened if opening failed, and reports nothing if it was never read', async () => {
    const ends: unknown[] = [];
    const refusal = new Error('no room');
    const refused = observeStream(
      () => {
        throw refusal;
      },
      (thrown, { wasOpened }) => ends.push([thrown, wasOpened]),
    )[Symbol.asyncIterator]();
    await expect(refused.next()).rejects.toBe(refusal);
    const unread = observeStream(
      () => streamOf(() => undefined),
      () => ends.push('unread'),
    )[Symbol.asyncIterator]();
    await unread.return?.();
    expect(ends).toEqual([[refusal, false]]);
  });
});
