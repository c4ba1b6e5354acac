import { describe, expect, it } from 'vitest';
import type { Agent } from '#protocol';
import { pair } from '../../../test/support/cells.ts';
import {
  AT_ONCE,
  agent,
  collect,
  ctx,
  doing,
  echo,
  gate,
  hanging,
  historyOf,
  quiet,
  reader,
  request,
  said,
  taskOf,
  textOf,
  toTask,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

const slow = (open: Promise<void>, recovery: Agent['recovery'] = 'retry') =>
  agent(
    async function* ({ message, attempt }) {
      await open;
      yield { kind: 'text', text: `${message.parts[0]?.text} ${attempt}` };
    },
    { recovery },
  );

describe('an engine that stops', () => {
  it('lets runs finish in time, and starts none', async () => {
    const open = gate();
    const { engine, service } = await world(slow(open.wait));
    const task = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const stopped = engine.stop({ ms: 10_000 });
    await expect(service.send(request('b'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE', details: { retryAfterMs: 1000 } });
    await expect(collect(service.stream(request('b'), ctx()))).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    open.open();
    await stopped;
    expect(textOf(await service.get({ id: task.id }, ctx()))).toBe('a 1');
    await engine.stop();
  });

  it('leaves a task that it takes over meanwhile to the next owner of its cell', async () => {
    const open = gate();
    const { shared, one, two } = await pair(slow(open.wait));
    const moved = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    const own = taskOf(await two.service.send(request('b', AT_ONCE), ctx()));
    const stopped = two.engine.stop({ ms: 10_000 });
    shared.move(0, two.member);
    await quiet();
    open.open();
    await stopped;
    expect(textOf(await one.service.get({ id: own.id }, ctx()))).toBe('b 1');
    expect((await one.service.get({ id: moved.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    shared.move(0, one.member);
    await one.time.advance(5000);
    expect(textOf(await one.service.get({ id: moved.id }, ctx()))).toBe('a 2');
  });

  it('leaves repeatable runs for the next start without counting the attempt, and fails the others', async () => {
    const open = gate();
    const signals: AbortSignal[] = [];
    const heeds = (recovery: Agent['recovery']) => ({
      ...doing(async ({ signal }) => {
        signals.push(signal);
        await Promise.race([open.wait, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      }),
      recovery,
    });
    const first = await world(heeds('retry'), { agents: { retry: heeds('retry'), fail: heeds('fail') } });
    const retried = taskOf(await first.service.send(request('a', AT_ONCE), ctx()));
    const failed = taskOf(await first.engine.serviceOf('fail').send(request('b', AT_ONCE), ctx()));
    const waiting = expect(first.service.send(toTask(retried, 'later'), ctx())).rejects.toMatchObject({
      kind: 'UNAVAILABLE',
      message: 'the server is shutting down',
    });
    await quiet();
    const stopped = first.engine.stop({ ms: 5000 });
    await first.time.advance(5000);
    await stopped;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    await waiting;
    expect(await first.store.task('any', failed.id)).toMatchObject({ state: 'TASK_STATE_FAILED' });
    expect(await first.store.task('any', retried.id)).toMatchObject({ state: 'TASK_STATE_WORKING', attempt: 1 });
    const second = await first.crash();
    await second.time.advance(1000);
    expect(wordsOf(await second.engine.serviceOf('fail').get({ id: failed.id }, ctx()))).toContain('shut down');
    open.open();
    await quiet();
    const after = await second.service.get({ id: retried.id }, ctx());
    expect([after.status.state, historyOf(after)]).toEqual(['TASK_STATE_COMPLETED', ['a', 'later']]);
  });

  it('never gives a run up because of graceful stops', async () => {
    const attempts: number[] = [];
    let process = await world(
      doing(({ attempt }) => {
        attempts.push(attempt);
        return new Promise(() => {});
      }),
    );
    const { id } = taskOf(await process.service.send(request('go', AT_ONCE), ctx()));
    for (let at = 0; at < 5; at += 1) {
      await process.engine.stop({ ms: 0 });
      process = await process.crash();
      await process.time.advance(1000);
    }
    expect(attempts).toEqual([1, 2, 2, 2, 2, 2]);
    expect((await process.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
  });

  it('leaves waiting tasks waiting, at once', async () => {
    const run = agent(
      async function* (turn) {
        const answer = await turn.ask(said('well?'));
        yield { kind: 'text', text: `${answer.parts[0]?.text}` };
      },
      { recovery: 'resume' },
    );
    const first = await world(run);
    const task = taskOf(await first.service.send(request('go'), ctx()));
    await first.engine.stop({ ms: 60_000 });
    const second = await first.crash();
    expect((await second.service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(taskOf(await second.service.send(toTask(task, 'yes'), ctx())))).toBe('yes');
  });

  it('leaves a question open that is asked during the stop', async () => {
    const open = gate();
    const { engine, service, store } = await world(async function* (turn) {
      await open.wait;
      await turn.ask(said('now?'));
      yield { kind: 'text', text: 'never' };
    });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    const stopped = engine.stop({ ms: 60_000 });
    await quiet();
    open.open();
    await stopped;
    expect(await store.task('any', id)).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', attempt: 1 });
  });

  it('leaves queued runs and messages for the next start', async () => {
    const open = gate();
    const first = await world(slow(open.wait, 'fail'), { limits: { runningTasksMax: 1 } });
    const one = taskOf(await first.service.send(request('a', AT_ONCE), ctx()));
    await first.service.send({ ...toTask(one, 'b'), ...AT_ONCE }, ctx());
    const two = taskOf(await first.service.send(request('c', AT_ONCE), ctx()));
    const stopped = first.engine.stop({ ms: 5000 });
    await quiet();
    open.open();
    await stopped;
    expect(textOf((await first.engine.admin.task(one.id)).task)).toBe('a 1');
    const second = await first.crash();
    await quiet();
    expect(textOf(await second.service.get({ id: one.id }, ctx()))).toBe('a 1b 1');
    expect(textOf(await second.service.get({ id: two.id }, ctx()))).toBe('c 1');
  });

  it('disconnects its readers when everything is written', async () => {
    const { engine, service } = await world(hanging);
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    const stream = reader(service.subscribe({ id }, ctx()));
    const stopped = engine.stop({ ms: 0 });
    await quiet();
    await stopped;
    expect(await stream.done).toBeUndefined();
    expect(stream.seen).toHaveLength(1);
  });

  it('has saved which answers were delivered', async () => {
    const first = await world(echo);
    const one = request('m');
    const task = taskOf(await first.service.send(one, ctx()));
    await first.engine.stop();
    const second = await first.crash();
    expect(taskOf(await second.service.send(one, ctx())).id).not.toBe(task.id);
  });
});

describe('an engine that has not started', () => {
  it('accepts and shows nothing, and can be started once', async () => {
    const { engine } = await world(echo);
    await expect(engine.start()).rejects.toThrow('already started');
  });
});
