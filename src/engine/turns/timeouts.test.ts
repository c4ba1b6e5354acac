import { describe, expect, it } from 'vitest';
import {
  AT_ONCE,
  ask,
  ctx,
  doing,
  gate,
  hanging,
  quiet,
  request,
  said,
  taskOf,
  textOf,
  toTask,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

describe('the limits of a run', () => {
  it('limits simultaneous runs, and starts the others in order', async () => {
    const doors = new Map<string, ReturnType<typeof gate<void>>>();
    const { service, engine } = await world(
      doing(({ message }) => {
        const door = gate();
        doors.set(message.parts[0]?.text ?? '', door);
        return door.wait;
      }),
      { limits: { runningTasksMax: 2, queuedTasksMax: 2 } },
    );
    const send = async (name: string) => taskOf(await service.send(request(name, AT_ONCE), ctx()));
    const sent = [await send('a'), await send('b'), await send('c'), await send('d')] as const;
    expect([...doors.keys()]).toEqual(['a', 'b']);
    expect(sent.map(({ status }) => status.state.slice(11))).toEqual(['WORKING', 'WORKING', 'SUBMITTED', 'SUBMITTED']);
    expect(engine.stats()).toMatchObject({ running: 2, queued: 2 });
    await expect(service.send(request('e', AT_ONCE), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    expect((await service.list({}, ctx())).totalSize).toBe(4);
    await service.cancel({ id: sent[2].id }, ctx());
    expect(engine.stats()).toMatchObject({ running: 2, queued: 1 });
    doors.get('a')?.open();
    await quiet();
    expect([...doors.keys()]).toEqual(['a', 'b', 'd']);
    expect((await service.get({ id: sent[3].id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
  });

  it('stop a run that is silent for too long', async () => {
    const { service, time } = await world(hanging, { limits: { runIdleMsMax: 10_000 } });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await time.advance(9000);
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    await time.advance(3000);
    const failed = await service.get({ id }, ctx());
    expect([failed.status.state, wordsOf(failed)]).toEqual(['TASK_STATE_FAILED', 'The agent was silent for too long.']);
  });

  it('do not count the time in which it waits for its caller', async () => {
    const { service, time } = await world(
      async function* ({ ask: put }) {
        yield { kind: 'text', text: (await put(said('well?'))).parts[0]?.text ?? '' };
        await new Promise<void>((resolve) => time.timers.later(2000, resolve));
      },
      { limits: { runIdleMsMax: 10_000, runMsMax: 60_000 } },
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    await time.advance(3_600_000);
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = service.send(toTask(task, 'here'), ctx());
    await time.advance(5000);
    expect(taskOf(await answered)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('count the total time of a run that keeps producing output', async () => {
    const { service, time } = await world(
      async function* ({ signal }) {
        while (!signal.aborted) {
          yield { kind: 'status' };
          await new Promise<void>((resolve) => time.timers.later(1000, resolve));
        }
      },
      { limits: { runMsMax: 20_000, runIdleMsMax: 5000 } },
    );
    const task = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await time.advance(19_000);
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    await time.advance(3000);
    expect(wordsOf(await service.get({ id: task.id }, ctx()))).toBe('The agent took too long.');
  });

  it('free the slot of an agent that ignores its signal, and report it', async () => {
    const { service, time, engine, reports } = await world(hanging, { limits: { runningTasksMax: 1, runGraceMs: 5000 } });
    const stuck = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const next = taskOf(await service.send(request('b', AT_ONCE), ctx()));
    await service.cancel({ id: stuck.id }, ctx());
    expect(engine.stats()).toMatchObject({ running: 1, queued: 1 });
    await time.advance(7000);
    expect(engine.stats()).toMatchObject({ running: 1, queued: 0 });
    expect((await service.get({ id: next.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    expect(reports.map(({ what }) => what)).toEqual(['agent agent was stopped and has not returned']);
  });

  it('do not let a finished run that has not returned block the next message', async () => {
    let turns = 0;
    const { service, time, engine, reports } = await world(
      async function* () {
        turns += 1;
        try {
          yield ask(`question ${turns}`);
        } finally {
          if (turns === 1) await new Promise(() => {});
        }
      },
      { limits: { runGraceMs: 5000 } },
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    const next = service.send(toTask(task, 'next'), ctx());
    await time.advance(4000);
    expect([turns, engine.stats().running]).toEqual([1, 1]);
    await time.advance(4000);
    expect(wordsOf(taskOf(await next))).toBe('question 2');
    await quiet();
    expect(engine.stats()).toMatchObject({ running: 0, liveTasks: 0 });
    expect(reports.map(({ what }) => what)).toEqual(['agent agent has finished and has not returned']);
  });

  it('fail a task with too many events or bytes, but always accept the end', async () => {
    const many = await world(
      async function* () {
        for (let at = 0; at < 100; at += 1) yield { kind: 'text', text: `${at}` };
      },
      { limits: { taskEventsMax: 10 } },
    );
    const task = taskOf(await many.service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task), task.generation]).toEqual([
      'TASK_STATE_FAILED',
      'the task has reached the maximum of 10 events',
      11,
    ]);
    const large = await world(
      async function* () {
        for (;;) yield { kind: 'artifact', parts: [{ text: 'x'.repeat(400) }] };
      },
      { limits: { taskBytesMax: 2000 } },
    );
    const big = taskOf(await large.service.send(request('go'), ctx()));
    expect([big.status.state, wordsOf(big), textOf(big).length]).toEqual([
      'TASK_STATE_FAILED',
      'the task would exceed the maximum of 2,000 bytes; raise the limit taskBytesMax, or use several tasks',
      1600,
    ]);
    const artifact = await world(
      async function* () {
        for (;;) yield { kind: 'text', text: 'x'.repeat(400) };
      },
      { limits: { artifactBytesMax: 1000 } },
    );
    const heavy = taskOf(await artifact.service.send(request('go'), ctx()));
    expect([heavy.status.state, wordsOf(heavy), textOf(heavy).length]).toEqual([
      'TASK_STATE_FAILED',
      'artifact response would exceed the maximum of 1,000 bytes; yield a link to it, or raise the limit artifactBytesMax',
      800,
    ]);
  });

  it('count a file with its own size, and not with that of its base64', async () => {
    const raw = Buffer.alloc(900).toString('base64');
    const { service } = await world(
      async function* () {
        yield { kind: 'artifact', parts: [{ raw, filename: 'f.bin' }] };
      },
      { limits: { artifactBytesMax: 1000 } },
    );
    expect(raw.length).toBeGreaterThan(1000);
    expect(taskOf(await service.send(request('go'), ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('fail a run whose question no longer fits', async () => {
    const { service } = await world(
      async function* () {
        yield { kind: 'status' };
        yield ask('room?');
      },
      { limits: { taskEventsMax: 2 } },
    );
    expect(taskOf(await service.send(request('go'), ctx())).status.state).toBe('TASK_STATE_FAILED');
  });

  it('reject a message to a full task', async () => {
    const { service } = await world(
      async function* () {
        yield ask('more?');
      },
      { limits: { taskEventsMax: 2 } },
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    await expect(service.send(toTask(task, 'more'), ctx())).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
  });
});
