import { describe, expect, it, vi } from 'vitest';
import type { BatchIterator, Logged, Seq, Task } from '#protocol';
import { seq, startFold, taskId } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  BOB,
  CARD,
  collect,
  ctx,
  echo,
  fold,
  gate,
  hanging,
  quiet,
  reader,
  request,
  said,
  seqsOf,
  shortly,
  taskOf,
  textOf,
  toTask,
  withSemantics,
  world,
} from '../../../test/support/engine.ts';

const CHUNKS = 3000;
const chatty = agent(async function* () {
  yield { kind: 'status', message: said('here goes') };
  for (let at = 0; at < CHUNKS; at += 1) {
    yield { kind: 'text', text: `${at},` };
    if (at % 700 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
});
const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const bare = ({ generation: _, ...task }: Task): Omit<Task, 'generation'> => task;

describe('a stream', () => {
  it('starts with the task, and then has every event once, in order', async () => {
    const { service } = await world(chatty);
    const events = await collect(service.stream(request('go'), ctx()));
    expect(seqsOf(events)).toEqual(upTo(CHUNKS + 3));
    const task = fold(events);
    const stored = await service.get({ id: task.id }, ctx());
    expect(bare(stored)).toEqual(bare({ ...task, history: stored.history ?? [] }));
    expect(textOf(stored)).toBe(
      upTo(CHUNKS)
        .map((at) => `${at - 1},`)
        .join(''),
    );
  });

  it('has no gaps for a slow reader, which slows no one else down', async () => {
    const { service, engine } = await world(chatty, { limits: { tailEvents: 16, windowEvents: 32 } });
    const stream = service.stream(request('go'), ctx())[Symbol.asyncIterator]();
    const first = (await stream.next()).value as readonly Logged[];
    const id = first[0]?.event.task?.id ?? taskId('');
    const quick = await collect(service.subscribe({ id }, ctx()));
    expect(seqsOf(quick).at(-1)).toBe(CHUNKS + 3);
    const rest: Logged[] = [...first];
    for (let batch = await stream.next(); batch.done !== true; batch = await stream.next()) {
      rest.push(...batch.value);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seqsOf(rest)).toEqual(upTo(CHUNKS + 3));
    expect(engine.stats().liveTasks).toBe(0);
  });

  it('ends at a question, and the stream of the next message continues', async () => {
    const run = agent(async function* ({ history }) {
      if (history.length === 0) yield ask('more?');
    });
    const { service } = await world(run);
    const first = await collect(service.stream(request('go'), ctx()));
    expect(shortly(first)).toEqual(['task WORKING', 'INPUT_REQUIRED']);
    const second = await collect(service.stream(toTask(first[0]?.event.task, 'more'), ctx()));
    expect(shortly(second)).toEqual(['task WORKING', 'COMPLETED']);
    expect(seqsOf(second)).toEqual([3, 4]);
  });

  it('stays open at auth-required', async () => {
    const open = gate();
    const { service } = await world(async function* () {
      yield { kind: 'auth', request: said('log in') };
      await open.wait;
      yield { kind: 'complete' };
    });
    const stream = reader(service.stream(request('go'), ctx()));
    await quiet();
    open.open();
    await stream.done;
    expect(shortly(stream.seen)).toEqual(['task WORKING', 'AUTH_REQUIRED', 'COMPLETED']);
  });

  it('fails before its first event if the agent does not stream', async () => {
    const { service } = await world(agent(echo.run, { card: { ...CARD, capabilities: {} } }));
    await expect(collect(service.stream(request('go'), ctx()))).rejects.toMatchObject({ kind: 'STREAMING_NOT_SUPPORTED' });
    await expect(collect(service.subscribe({ id: taskId('t') }, ctx()))).rejects.toMatchObject({ kind: 'STREAMING_NOT_SUPPORTED' });
    expect((await service.list({}, ctx())).totalSize).toBe(0);
  });

  it('releases the task when its reader leaves, and the task continues', async () => {
    const [left, open] = [new AbortController(), gate()];
    const { service, engine } = await world(async function* () {
      yield { kind: 'text', text: 'a' };
      await open.wait;
      yield { kind: 'text', text: 'b' };
    });
    const stream = reader(service.stream(request('go'), ctx({ signal: left.signal })));
    await quiet();
    left.abort();
    await stream.done;
    open.open();
    await quiet();
    expect(engine.stats()).toMatchObject({ liveTasks: 0, running: 0 });
    const [task] = (await service.list({ includeArtifacts: true }, ctx())).tasks;
    expect(task && textOf(task)).toBe('ab');
  });
});

describe('a subscription', () => {
  it('starts with the current task, serves any number of readers, and lasts to the end', async () => {
    const [open, more] = [gate(), gate()];
    const { service } = await world(async function* () {
      yield { kind: 'text', text: 'a' };
      await open.wait;
      yield ask('more?');
      await more.wait;
    });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    const all = Array.from({ length: 50 }, () => reader(service.subscribe({ id }, ctx())));
    await quiet();
    open.open();
    await quiet();
    more.open();
    await quiet();
    await service.cancel({ id }, ctx());
    for (const { seen, done } of all) {
      await done;
      expect(shortly(seen)).toEqual(['task WORKING', 'INPUT_REQUIRED', 'CANCELED']);
      expect(seen).toEqual(all[0]?.seen);
    }
    expect(textOf(all[0]?.seen[0]?.event.task as Task)).toBe('a');
  });

  it('resumes from any position in the log, with the task as it was there, to the same end', async () => {
    const first = await world(chatty, { limits: { tailEvents: 8 } });
    const whole = await collect(first.service.stream(request('go'), ctx()));
    const { id } = fold(whole);
    const after = await first.crash();
    const last = whole.length;
    for (const at of [1, 2, 3, 511, 512, 513, last - 1, last]) {
      const rest = await collect(after.service.subscribe({ id, after: seq(at) }, ctx()));
      expect(seqsOf(rest)).toEqual(upTo(last).slice(at - 1));
      const snapshot = startFold();
      for (const { event } of whole.slice(0, at)) snapshot.add(event);
      expect(rest[0]?.event.task).toEqual({ ...snapshot.task(), generation: at });
      expect(rest.slice(1).map(({ event }) => event)).toEqual(whole.slice(at).map(({ event }) => event));
    }
  });

  it('starts from the current task if the position is not in the log', async () => {
    const { service } = await world(hanging);
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    for (const after of [0, -1, 99, 1.5, Number.NaN] as Seq[]) {
      const stream = service.subscribe({ id, after }, ctx())[Symbol.asyncIterator]();
      expect(((await stream.next()).value as readonly Logged[])[0]).toMatchObject({ seq: 1, event: { task: { id } } });
      await stream.return?.();
    }
  });

  it('of a finished task is an error without a position, unless the options say otherwise', async () => {
    const { service } = await world(echo);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    await expect(collect(service.subscribe({ id }, ctx()))).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
    const { service: shows } = await world(echo, withSemantics({ showsFinished: true }));
    const task = taskOf(await shows.send(request('go'), ctx()));
    expect(shortly(await collect(shows.subscribe({ id: task.id }, ctx())))).toEqual(['task COMPLETED']);
  });

  it('of another caller’s task fails like that of a missing one', async () => {
    const { service } = await world(hanging);
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    const refusals = [service.subscribe({ id }, ctx({ principal: BOB })), service.subscribe({ id: taskId('nobody') }, ctx())];
    for (const stream of refusals) await expect(collect(stream)).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });

  it('wakes a reader that waits without a promise when there is an event, and when its caller leaves', async () => {
    const [open, left] = [gate(), new AbortController()];
    const { service, engine } = await world(async function* () {
      yield { kind: 'text', text: 'a' };
      await open.wait;
      yield ask('more?');
    });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    const reading: BatchIterator = service.subscribe({ id }, ctx({ signal: left.signal }))[Symbol.asyncIterator]();
    let woken = 0;
    const waiter = {
      wake: () => {
        woken += 1;
      },
    };
    expect(reading.waitsFor?.(waiter)).toBe(false); // it is not open yet
    await reading.next();
    expect(reading.waitsFor?.(waiter)).toBe(true);
    expect(woken).toBe(0);
    open.open(undefined);
    await quiet();
    expect([woken, reading.waitsFor?.(waiter)]).toEqual([1, false]);
    expect(shortly((await reading.next()).value ?? [])).toEqual(['INPUT_REQUIRED']);
    expect(reading.waitsFor?.(waiter)).toBe(true);
    left.abort();
    expect([woken, reading.waitsFor?.(waiter)]).toEqual([2, false]);
    expect(await reading.next()).toEqual({ done: true, value: undefined });
    await service.cancel({ id }, ctx());
    await quiet();
    expect([woken, engine.stats().liveTasks]).toEqual([2, 0]);
  });

  it('does not listen to the signal for a reader that calls return when its caller leaves', async () => {
    const { service, engine } = await world(hanging);
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    const { signal } = new AbortController();
    const listens = vi.spyOn(signal, 'addEventListener');
    const reading: BatchIterator = service.subscribe({ id }, ctx({ signal }))[Symbol.asyncIterator]();
    await reading.next();
    expect(reading.waitsFor?.({ wake: () => {}, needsListener: false })).toBe(true);
    expect(listens).not.toHaveBeenCalled();
    await reading.return?.();
    await service.cancel({ id }, ctx());
    await quiet();
    expect(engine.stats().liveTasks).toBe(0);
  });

  it('releases the task at once on return, also while it waits', async () => {
    const { service, engine } = await world(hanging);
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    const reading = service.subscribe({ id }, ctx())[Symbol.asyncIterator]();
    await reading.next();
    const waiting = reading.next();
    await reading.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await reading.next()).toEqual({ done: true, value: undefined });
    await service.cancel({ id }, ctx());
    await quiet();
    expect(engine.stats().liveTasks).toBe(0);
  });
});
