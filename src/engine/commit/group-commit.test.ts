import { describe, expect, it } from 'vitest';
import type { EngineLimits, Store } from '#engine';
import type { Logged } from '#protocol';
import {
  ctx,
  echo,
  fakeTime,
  gate,
  historyOf,
  quiet,
  reader,
  request,
  seqsOf,
  taskOf,
  textOf,
  world,
} from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';

describe('the window of a run and the tail of a task', () => {
  const largest = async (limits: Partial<EngineLimits>) => {
    const kept = memoryStore();
    const sizes: number[] = [];
    const reads: number[] = [];
    const store: Store = {
      ...kept,
      commit: (batch) => {
        for (const write of batch) if (write.kind === 'task') sizes.push(write.entries.length);
        return kept.commit(batch);
      },
      entries: async (key, range) => {
        const found = await kept.entries(key, range);
        reads.push(found.length);
        return found;
      },
    };
    const { service } = await world(
      async function* () {
        for (let at = 0; at < 400; at += 1) yield { kind: 'text', text: 'x'.repeat(100) };
      },
      { store, limits },
    );
    // A reader that falls behind by the whole log reads the entries that are no longer in memory from the store.
    const stream = service.stream(request('go'), ctx())[Symbol.asyncIterator]();
    const seen = [...((await stream.next()).value as readonly Logged[])];
    await quiet(100);
    for (let batch = await stream.next(); batch.done !== true; batch = await stream.next()) seen.push(...batch.value);
    expect(seqsOf(seen)).toEqual(seen.map((_, at) => at + 1));
    return { written: Math.max(...sizes), read: reads.reduce((sum, each) => sum + each, 0) };
  };

  it('are bounded in events and in bytes', async () => {
    expect(await largest({})).toEqual({ written: 402, read: 0 });
    expect((await largest({ windowEvents: 50 })).written).toBe(50);
    // The first entry, and ten that count as 164 each.
    expect((await largest({ windowBytes: 1640 })).written).toBe(11);
    const few = await largest({ windowEvents: 50, tailEvents: 20 });
    expect(few.read).toBeGreaterThan(300);
    const light = await largest({ windowEvents: 50, tailBytes: 9000 });
    expect(light.read).toBeGreaterThan(300);
    expect((await largest({ windowEvents: 50 })).read).toBe(0);
  });
});

it('a run fills its window again while a commit is under way, and no more than that', async () => {
  const kept = memoryStore();
  const { wait, open } = gate();
  const sizes: number[] = [];
  const store: Store = {
    ...kept,
    commit: async (batch) => {
      for (const write of batch) if (write.kind === 'task') sizes.push(write.entries.length);
      await wait;
      await kept.commit(batch);
    },
  };
  let made = 0;
  const { service } = await world(
    async function* () {
      for (; made < 100; made += 1) yield { kind: 'text', text: 'x' };
    },
    { store, limits: { windowEvents: 10 } },
  );
  const sent = service.send(request('go'), ctx());
  await quiet(20);
  expect(sizes).toEqual([10]);
  // The first commit also has the message.
  expect(made).toBe(18);
  open();
  await sent;
  expect(made).toBe(100);
});

describe('group commit', () => {
  it('writes the changes of all tasks in one commit, one commit at a time', async () => {
    const kept = memoryStore();
    const batches: number[] = [];
    let under = 0;
    const slow: Store = {
      ...kept,
      commit: async (batch) => {
        under += 1;
        expect(under).toBe(1);
        batches.push(batch.filter((write) => write.kind === 'task').length);
        await new Promise((resolve) => setTimeout(resolve, 2));
        await kept.commit(batch);
        under -= 1;
      },
    };
    const { service } = await world(echo, { store: slow });
    await Promise.all(Array.from({ length: 100 }, (_, at) => service.send(request(`${at}`), ctx())));
    expect(batches).toEqual([100]);
  });

  it('limits the size of a commit without losing or starving a task', async () => {
    const kept = memoryStore();
    const sizes: number[] = [];
    const counting: Store = {
      ...kept,
      commit: async (batch) => {
        sizes.push(batch.reduce((sum, write) => sum + (write.kind === 'task' ? write.entries.length : 0), 0));
        await kept.commit(batch);
      },
    };
    const { service } = await world(
      async function* () {
        for (let at = 0; at < 900; at += 1) yield { kind: 'text', text: 'x' };
      },
      { store: counting },
    );
    const sends = Array.from({ length: 8 }, (_, at) => service.send(request(`go ${at}`), ctx()));
    const first = await Promise.race(sends);
    // A waiter for the current changes does not wait for later changes of others.
    await expect(service.cancel({ id: taskOf(first).id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_CANCELABLE' });
    const tasks = (await Promise.all(sends)).map(taskOf);
    expect(tasks.map((task) => textOf(task).length)).toEqual(Array.from({ length: 8 }, () => 900));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(8 * 902);
  });

  it('shows no event before it is durable', async () => {
    const kept = memoryStore();
    const door = fakeTime();
    let open = gate();
    const held: Store = { ...kept, commit: (batch) => open.wait.then(() => kept.commit(batch)) };
    const { service } = await world(echo, { store: held }, door);
    const stream = reader(service.stream(request('go'), ctx()));
    await quiet(20);
    expect(stream.seen).toEqual([]);
    open.open();
    await stream.done;
    expect(seqsOf(stream.seen)).toEqual([1, 2, 3]);
    open = gate();
    const second = service.send(request('again'), ctx());
    let isAnswered = false;
    void second.then(() => {
      isAnswered = true;
    });
    await quiet(20);
    expect(isAnswered).toBe(false);
    expect((await service.list({}, ctx())).totalSize).toBe(1);
    open.open();
    expect(historyOf(taskOf(await second))).toEqual(['again']);
  });
});
