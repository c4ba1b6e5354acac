import { describe, expect, it } from 'vitest';
import type { Store, Write } from '#engine';
import type { Agent, Logged, SendResult, Task } from '#protocol';
import { A2AError } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  collect,
  ctx,
  doing,
  fold,
  gate,
  hanging,
  quiet,
  reader,
  request,
  seqsOf,
  taskOf,
  textOf,
  toTask,
  world,
} from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';

/** Fails the nth commit without writing it, and all later ones, like a lost disk. */
function failing(store: Store, nth: number, how: 'throws' | 'rejects'): Store {
  let count = 0;
  return {
    ...store,
    commit: (batch) => {
      count += 1;
      if (count < nth) return how === 'throws' ? store.commit(batch) : Promise.resolve().then(() => store.commit(batch));
      if (how === 'throws') throw new Error('EIO');
      return Promise.reject(new Error('EIO'));
    },
  };
}

const talk: Agent = agent(async function* ({ message, history }) {
  yield { kind: 'text', text: `${message.parts[0]?.text}.` };
  await new Promise((resolve) => setImmediate(resolve));
  yield { kind: 'text', text: '.' };
  if (history.length < 6) yield ask('more?');
});

describe('a store that fails for good at the nth write', () => {
  for (const how of ['throws', 'rejects'] as const) {
    for (let nth = 1; nth <= 12; nth += 1) {
      it(`${how} at ${nth}: nothing that a caller has seen is lost or repeated`, async () => {
        const kept = memoryStore();
        const broken: unknown[] = [];
        const first = await world(talk, { store: failing(kept, nth, how), onBroken: (cause) => broken.push(cause) });
        const { told, seen } = await talkUntilItBreaks(first.service);
        expect(broken).toHaveLength(1);
        await expect(first.service.send(request('after'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
        expect(first.engine.stats()).toMatchObject({ isBroken: true });
        const second = await first.crash({ store: kept });
        await second.time.advance(10_000);
        for (const task of told) {
          const rest = await collect(
            second.service.subscribe({ id: task.id, after: task.generation ?? (0 as never) }, ctx({ signal: AbortSignal.timeout(50) })),
          );
          expect(rest[0]?.event.task).toEqual(task);
        }
        const [snapshot, ...events] = seen;
        if (snapshot === undefined) return;
        const { id } = fold(seen);
        const log = await second.engine.admin.events({ id });
        expect(log.slice(0, seen.length).map(({ seq }) => seq)).toEqual(seqsOf(seen));
        expect(log.slice(1, seen.length)).toEqual(events.map(({ seq, event }) => ({ seq, event })));
        expect(seqsOf(log)).toEqual(log.map((_, at) => at + 1));
        for (const { state } of (await second.engine.admin.tasks({})).tasks) expect(state).not.toBe('TASK_STATE_WORKING');
      });
    }
  }
});

interface Told {
  readonly told: readonly Task[];
  readonly seen: readonly Logged[];
}

/** Four turns in one task, each answered before the next, and a second task with a stream, until the store fails. */
async function talkUntilItBreaks(service: Awaited<ReturnType<typeof world>>['service']): Promise<Told> {
  const told: Task[] = [];
  const stream = reader(service.stream(request('stream'), ctx()));
  try {
    for (let at = 0; at < 4; at += 1) {
      const next: SendResult = await service.send(told[0] === undefined ? request('0') : toTask(told[0], `${at}`), ctx());
      told.push(taskOf(next));
    }
    for (;;) told.push(taskOf(await service.send(request('more'), ctx())));
  } catch (thrown) {
    expect(thrown).toMatchObject({ kind: 'UNAVAILABLE' });
  }
  await stream.done;
  return { told, seen: stream.seen };
}

describe('a store that has failed', () => {
  it('stops every run and rejects everyone who waits', async () => {
    const kept = memoryStore();
    const signals: AbortSignal[] = [];
    const run = agent(async function* ({ signal }) {
      signals.push(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield { kind: 'text', text: 'nobody hears this' };
    });
    const { service } = await world(run, { store: failing(kept, 3, 'rejects') });
    const { id } = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const subscription = reader(service.subscribe({ id }, ctx()));
    const waiting = expect(service.send(request('b'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await quiet();
    await expect(service.cancel({ id }, ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await waiting;
    expect(await subscription.done).toMatchObject({ kind: 'UNAVAILABLE' });
    await quiet();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(await kept.task('any', id)).toMatchObject({ state: 'TASK_STATE_WORKING' });
    await expect(service.push.create({ taskId: id, url: 'https://example.com' }, ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
  });
});

describe('a store that is temporarily full', () => {
  const full = () => new A2AError('UNAVAILABLE', 'the disk is full', { retryAfterMs: 5000 });
  const filling = (store: Store) => {
    const disk = { isFull: false, refused: 0 };
    const commit = (batch: readonly Write[]) => {
      if (!disk.isFull) return store.commit(batch);
      disk.refused += 1;
      throw full();
    };
    return { disk, store: { ...store, commit } };
  };

  it('rejects new work with a time to retry, still reads, and recovers by itself', async () => {
    const { disk, store } = filling(memoryStore());
    const open = gate();
    const { service, time } = await world(
      async function* ({ message }) {
        if (message.parts[0]?.text === 'wait') await open.wait;
        yield { kind: 'text', text: 'done' };
      },
      { store },
    );
    const before = taskOf(await service.send(request('a'), ctx()));
    const running = taskOf(await service.send(request('wait', AT_ONCE), ctx()));
    const stream = reader(service.subscribe({ id: running.id }, ctx()));
    disk.isFull = true;
    const caught = request('b');
    await expect(service.send(caught, ctx({ onDelivered: () => {} }))).rejects.toMatchObject({
      kind: 'UNAVAILABLE',
      details: { retryAfterMs: 5000 },
    });
    await expect(service.send(request('c'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    open.open();
    await quiet();
    expect((await service.get({ id: before.id }, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await service.get({ id: running.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    await time.advance(3000);
    expect(disk.refused).toBeGreaterThan(2);
    expect(stream.seen).toHaveLength(1);
    disk.isFull = false;
    await time.advance(1000);
    await stream.done;
    expect(seqsOf(stream.seen)).toEqual([1, 2, 3]);
    const repeated = taskOf(await service.send(caught, ctx()));
    expect(textOf(repeated)).toBe('done');
    expect((await service.list({}, ctx())).totalSize).toBe(3);
  });

  it('makes a run wait at its window and loses nothing', async () => {
    const { disk, store } = filling(memoryStore());
    let said = 0;
    const { service, time } = await world(
      async function* ({ durable }) {
        yield { kind: 'status' };
        await durable();
        disk.isFull = true;
        for (; said < 5000; said += 1) yield { kind: 'text', text: `${said},` };
      },
      { store, limits: { windowEvents: 100 } },
    );
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await time.advance(5000);
    expect(said).toBeLessThan(110);
    disk.isFull = false;
    await time.advance(1000);
    await quiet(200);
    const task = await service.get({ id }, ctx());
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', Array.from({ length: 5000 }, (_, at) => `${at},`).join('')]);
  });

  it('does not let runs time out meanwhile', async () => {
    const { disk, store } = filling(memoryStore());
    const open = gate();
    const { service, time } = await world(
      doing(() => open.wait),
      { store, limits: { runIdleMsMax: 10_000 } },
    );
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    disk.isFull = true;
    await expect(service.send(request('b'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await time.advance(60_000);
    disk.isFull = false;
    open.open();
    await time.advance(1500);
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('accepts a cancel and stops the run', async () => {
    const { disk, store } = filling(memoryStore());
    const { service, engine, time } = await world(hanging, { store });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    disk.isFull = true;
    await expect(service.cancel({ id }, ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    disk.isFull = false;
    await time.advance(1000);
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_CANCELED');
    await time.advance(20_000);
    expect(engine.stats().running).toBe(0);
  });
});
