import { describe, expect, it } from 'vitest';
import type { CallContext } from '#protocol';
import {
  AT_ONCE,
  agent,
  BOB,
  collect,
  ctx,
  gate,
  hanging,
  quiet,
  request,
  said,
  taskOf,
  toTask,
  world,
} from '../../../test/support/engine.ts';

const REFUSED = { kind: 'RATE_LIMITED', details: { retryAfterMs: 1000 } };
const two = { runningTasksMaxOf: (principal: string) => (principal === 'alice' ? 2 : undefined) };
const bob = (): CallContext => ctx({ principal: BOB });

describe('the running tasks of one principal', () => {
  it('are limited independently of other principals; one that ends makes room', async () => {
    const { service } = await world(hanging, two);
    const first = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    await service.send(request('b', AT_ONCE), ctx());
    await expect(service.send(request('c', AT_ONCE), ctx())).rejects.toMatchObject(REFUSED);
    await expect(collect(service.stream(request('c'), ctx()))).rejects.toMatchObject(REFUSED);
    expect((await service.list({}, ctx())).totalSize).toBe(2);
    for (let at = 0; at < 5; at += 1) await service.send(request('x', AT_ONCE), bob());
    await service.cancel({ id: first.id }, ctx());
    // An agent that ignores its signal keeps its slot until it returns or the grace time is over.
    await expect(service.send(request('c', AT_ONCE), ctx())).rejects.toMatchObject(REFUSED);
  });

  it('no longer count when a run ends, is stopped before its start, or never returns', async () => {
    const open = gate();
    const waiting = agent(async function* ({ message, signal }) {
      if (message.parts[0]?.text === 'deaf') await new Promise(() => {});
      await Promise.race([open.wait, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      yield { kind: 'text', text: 'x' };
    });
    const { service, time } = await world(waiting, { ...two, limits: { runningTasksMax: 1, runGraceMs: 500, tickMs: 100 } });
    const deaf = taskOf(await service.send(request('deaf', AT_ONCE), ctx()));
    const queued = taskOf(await service.send(request('b', AT_ONCE), ctx()));
    await expect(service.send(request('c', AT_ONCE), ctx())).rejects.toMatchObject(REFUSED);
    await service.cancel({ id: queued.id }, ctx());
    const next = taskOf(await service.send(request('c', AT_ONCE), ctx()));
    await service.cancel({ id: deaf.id }, ctx());
    await expect(service.send(request('d', AT_ONCE), ctx())).rejects.toMatchObject(REFUSED);
    await time.advance(1000);
    await service.send(request('d', AT_ONCE), ctx());
    open.open();
    await quiet(20);
    expect((await service.get({ id: next.id }, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
    for (const text of ['e', 'f', 'g']) await service.send(request(text), ctx());
  });

  it('do not include those that wait for their caller, whose answers are always accepted', async () => {
    const asking = agent(async function* (turn) {
      if (turn.message.parts[0]?.text === 'work') await new Promise(() => {});
      const answer = await turn.ask(said('well?'));
      if (answer.parts[0]?.text === 'work') await new Promise(() => {});
      yield { kind: 'text', text: 'done' };
    });
    const { service } = await world(asking, two);
    const [first, second] = [taskOf(await service.send(request('a'), ctx())), taskOf(await service.send(request('b'), ctx()))];
    await service.send(request('work', AT_ONCE), ctx());
    await service.send({ ...toTask(first, 'work'), ...AT_ONCE }, ctx());
    await expect(service.send(request('c'), ctx())).rejects.toMatchObject(REFUSED);
    expect(taskOf(await service.send(toTask(second, 'continue'), ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('count when a task continues: with its next message, and after a restart', async () => {
    const run = agent(async function* ({ message }) {
      if (message.parts[0]?.text === 'ask') yield { kind: 'ask', question: said('more?') };
      else await new Promise(() => {});
    });
    const { service, crash } = await world(run, two);
    const waiting = taskOf(await service.send(request('ask'), ctx()));
    await service.send(request('a', AT_ONCE), ctx());
    await service.send(request('b', AT_ONCE), ctx());
    await expect(service.send({ ...toTask(waiting, 'c'), ...AT_ONCE }, ctx())).rejects.toMatchObject(REFUSED);
    expect((await service.get({ id: waiting.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const later = await crash();
    await expect(later.service.send(request('c', AT_ONCE), ctx())).rejects.toMatchObject(REFUSED);
    await later.service.send(request('c', AT_ONCE), bob());
  });
});
