import { describe, expect, it } from 'vitest';
import type { Task } from '#protocol';
import {
  agent,
  ask,
  ctx,
  doing,
  echo,
  fakeTime,
  gate,
  quiet,
  reader,
  request,
  said,
  taskOf,
  toTask,
  user,
  withSemantics,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

const HOUR = 3_600_000;
const limits = { finishedMsMax: HOUR, sweepMs: 60_000 };

describe('retention', () => {
  it('deletes finished tasks by age, with everything that belongs to them', async () => {
    const time = fakeTime();
    const { service, engine } = await world(echo, { limits }, time);
    const first = request('old');
    const old = taskOf(await service.send(first, ctx({ idempotencyKey: 'k' })));
    await time.advance(HOUR / 2);
    const young = taskOf(await service.send(request('young'), ctx()));
    await time.advance(HOUR / 2 + 120_000);
    await expect(service.get({ id: old.id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    expect((await service.get({ id: young.id }, ctx())).id).toBe(young.id);
    expect(engine.stats().forgottenTasks).toBe(1);
    expect(taskOf(await service.send(first, ctx({ idempotencyKey: 'k' }))).id).not.toBe(old.id);
  });

  it('deletes by number, oldest first', async () => {
    const time = fakeTime();
    const { service } = await world(echo, { limits: { ...limits, finishedTasksMax: 3 } }, time);
    const tasks: Task[] = [];
    for (let at = 0; at < 8; at += 1) {
      tasks.push(taskOf(await service.send(request(`${at}`), ctx())));
      await time.advance(1000);
    }
    await time.advance(120_000);
    const { tasks: left } = await service.list({}, ctx());
    expect(left.map(({ id }) => id)).toEqual(
      tasks
        .slice(5)
        .map(({ id }) => id)
        .toReversed(),
    );
  });

  it('deletes many in batches', async () => {
    const time = fakeTime();
    const { service, engine } = await world(echo, { limits }, time);
    await Promise.all(Array.from({ length: 1203 }, (_, at) => service.send(request(`${at}`), ctx())));
    await time.advance(HOUR + 120_000);
    await quiet(20);
    expect((await service.list({}, ctx())).totalSize).toBe(0);
    expect(engine.stats()).toMatchObject({ forgottenTasks: 1203, liveTasks: 0 });
  });

  it('keeps tasks that run, wait or are being read', async () => {
    const time = fakeTime();
    const open = gate();
    const run = agent(async function* ({ message }) {
      const text = message.parts[0]?.text;
      if (text === 'runs') await open.wait;
      if (text === 'waits') yield ask('well?');
    });
    const { service, store } = await world(
      run,
      { limits: { ...limits, runMsMax: 99 * HOUR, runIdleMsMax: 99 * HOUR }, ...withSemantics({ showsFinished: true }) },
      time,
    );
    const now = { configuration: { returnImmediately: true } };
    const [runs, waits, done] = [
      taskOf(await service.send(request('runs', now), ctx())),
      taskOf(await service.send(request('waits'), ctx())),
      taskOf(await service.send(request('done'), ctx())),
    ];
    // A reader that has read the first page and is slow with the next.
    const slow = service.subscribe({ id: done.id, after: 1 as never }, ctx())[Symbol.asyncIterator]();
    await slow.next();
    await time.advance(5 * HOUR);
    for (const { id } of [runs, waits, done]) expect(await store.task('any', id)).toBeDefined();
    expect((await slow.next()).value).toMatchObject([{ seq: 2 }]);
    await slow.next();
    await time.advance(120_000);
    expect(await store.task('any', done.id)).toBeUndefined();
    expect(await store.task('any', runs.id)).toBeDefined();
    open.open();
    await quiet();
  });

  it('fails a task that has waited too long for an answer, and deletes it later', async () => {
    const time = fakeTime();
    const run = agent(async function* () {
      yield ask('well?');
    });
    const { service } = await world(run, { limits: { ...limits, waitingMsMax: 10 * HOUR } }, time);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    await time.advance(9 * HOUR);
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await time.advance(HOUR + 120_000);
    const ended = await service.get({ id }, ctx());
    expect([ended.status.state, wordsOf(ended)]).toEqual(['TASK_STATE_FAILED', 'The question was not answered in time.']);
    await time.advance(2 * HOUR);
    await expect(service.get({ id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });

  it('does not fail a task whose run waits for the answer', async () => {
    const time = fakeTime();
    const run = doing(({ ask: put }) => put(said('well?')));
    const { service } = await world(run, { limits: { ...limits, waitingMsMax: HOUR, runAskMsMax: 99 * HOUR } }, time);
    const task = taskOf(await service.send(request('go'), ctx()));
    await time.advance(5 * HOUR);
    expect(taskOf(await service.send(toTask(task, 'yes'), ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('deletes old records of direct messages', async () => {
    const time = fakeTime();
    let runs = 0;
    const { service } = await world(
      async function* () {
        runs += 1;
        yield { kind: 'message', message: said('hi') };
      },
      { limits },
      time,
    );
    const message = { message: user('go') };
    const keyed = () => ctx({ idempotencyKey: 'k' });
    await service.send(message, keyed());
    await service.send(message, keyed());
    expect(runs).toBe(1);
    await time.advance(HOUR + 120_000);
    await service.send(message, keyed());
    expect(runs).toBe(2);
  });

  it('sweeps as often as the limits say', async () => {
    const time = fakeTime();
    const { service, store } = await world(echo, { limits: { finishedMsMax: 1000, sweepMs: 50_000, tickMs: 100 } }, time);
    const { id } = taskOf(await service.send(request('a'), ctx()));
    await time.advance(49_900);
    expect(await store.task('any', id)).toBeDefined();
    await time.advance(200);
    expect(await store.task('any', id)).toBeUndefined();
  });

  it('continues after a failed sweep, and reports it', async () => {
    const time = fakeTime();
    const first = await world(echo, { limits }, time);
    let isBroken = true;
    const store = {
      ...first.store,
      quiet: (...args: Parameters<typeof first.store.quiet>) => {
        if (isBroken) throw new Error('cannot read');
        return first.store.quiet(...args);
      },
    };
    const { service, reports } = await first.crash({ store });
    const { id } = taskOf(await service.send(request('a'), ctx()));
    await time.advance(HOUR + 120_000);
    expect(reports[0]?.what).toBe('a sweep failed');
    isBroken = false;
    await time.advance(120_000);
    await expect(service.get({ id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });
});

describe('a subscription to a task that an operator deletes', () => {
  it('ends', async () => {
    const { service, engine } = await world(
      agent(async function* () {
        yield ask('well?');
      }),
    );
    const { id } = taskOf(await service.send(request('go'), ctx()));
    const stream = reader(service.subscribe({ id }, ctx()));
    await quiet();
    await engine.admin.delete(id);
    await stream.done;
    await expect(service.get({ id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    expect(engine.stats().liveTasks).toBe(0);
  });
});
