import { describe, expect, it } from 'vitest';
import type { Store } from '#engine';
import { seq } from '#protocol';
import { agent, ask, ctx, request, taskOf, toTask, world } from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';

/** The cost of a run with this many chunks, in entries written to the store and read from it. Counted, not timed. */
async function costOf(chunks: number) {
  const kept = memoryStore();
  const counts = { rows: 0, written: 0, read: 0, largest: 0 };
  const store: Store = {
    ...kept,
    commit: (batch) => {
      for (const write of batch) {
        if (write.kind !== 'task') continue;
        counts.rows += 1;
        counts.written += write.entries.length;
        counts.largest = Math.max(counts.largest, write.entries.length);
      }
      return kept.commit(batch);
    },
    entries: async (key, range) => {
      const found = await kept.entries(key, range);
      counts.read += found.length;
      return found;
    },
  };
  const run = agent(async function* ({ history }) {
    if (history.length === 0) for (let at = 0; at < chunks; at += 1) yield { kind: 'text', text: 'x' };
    yield ask('more?');
  });
  const { service, engine } = await world(run, { store, limits: { windowEvents: 100, tailEvents: 100 } });
  const taking = (what: () => Promise<unknown>) => async () => {
    const before = { ...counts };
    await what();
    return { rows: counts.rows - before.rows, written: counts.written - before.written, read: counts.read - before.read };
  };
  let seen = 0;
  const streaming = await taking(async () => {
    for await (const batch of service.stream(request('go'), ctx())) seen += batch.length;
  })();
  const [task] = (await service.list({}, ctx())).tasks;
  if (task === undefined) throw new Error('no task');
  const resuming = await taking(async () => {
    for await (const batch of service.subscribe({ id: task.id, after: seq(chunks - 100) }, ctx())) {
      if (batch.at(-1)?.seq === chunks + 2) break;
    }
  })();
  const listing = await taking(() => service.list({}, ctx()))();
  const getting = await taking(() => service.get({ id: task.id }, ctx()))();
  const answering = await taking(async () => taskOf(await service.send(toTask(task, 'more'), ctx())))();
  return { seen, streaming, resuming, listing, getting, answering, largest: counts.largest, events: engine.stats().events };
}

describe('the cost of a chunk', () => {
  it('is the same at ten thousand as at a thousand', async () => {
    const [small, large] = [await costOf(1000), await costOf(10_000)];
    for (const [cost, chunks] of [
      [small, 1000],
      [large, 10_000],
    ] as const) {
      expect(cost.seen).toBe(chunks + 2);
      // Every entry is written once. None is read again by a reader that keeps up.
      expect(cost.streaming).toMatchObject({ written: chunks + 2, read: 0 });
      expect(cost.streaming.rows).toBeLessThanOrEqual(chunks / 100 + 3);
      expect(cost.largest).toBeLessThanOrEqual(100);
      // A whole task is one pass over its log, at any position.
      expect(cost.getting.read).toBe(chunks + 2);
      expect(cost.resuming.read).toBe(chunks + 2);
      // A list reads the messages, however large the artifacts are.
      expect(cost.listing.read).toBe(2);
      // The next turn adds two events, and the agent gets the task as its caller does.
      expect(cost.answering.written).toBe(2);
      expect(cost.answering.read).toBeLessThanOrEqual(2 * (chunks + 4));
    }
    expect(large.streaming.rows / small.streaming.rows).toBeLessThanOrEqual(10);
  });
});
