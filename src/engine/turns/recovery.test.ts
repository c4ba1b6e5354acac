import { describe, expect, it } from 'vitest';
import type { Agent, Turn } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  ctx,
  doing,
  echo,
  gate,
  hanging,
  quiet,
  request,
  taskOf,
  textOf,
  toTask,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

/** Produces output and hangs until the process crashes; in later attempts it completes. */
function dies(recovery: Agent['recovery'], times = 1): { readonly run: Agent; readonly turns: Turn[] } {
  const turns: Turn[] = [];
  const run = agent(
    async function* (turn) {
      turns.push(turn);
      yield { kind: 'text', text: `[${turn.attempt}` };
      yield { kind: 'data', data: turn.attempt };
      if (turns.length <= times) await new Promise(() => {});
      yield { kind: 'text', text: ']' };
    },
    { recovery },
  );
  return { run, turns };
}

const cutOff = async (run: Agent) => {
  const first = await world(run);
  const task = taskOf(await first.service.send(request('go', AT_ONCE), ctx()));
  return { first, id: task.id };
};

describe('a task that was running when the process crashed', () => {
  it('fails if its agent does not repeat interrupted work', async () => {
    const { run, turns } = dies('fail');
    const { first, id } = await cutOff(run);
    const second = await first.crash();
    const task = await second.service.get({ id }, ctx());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(wordsOf(task)).toContain('does not repeat');
    expect(turns).toHaveLength(1);
    expect(second.engine.stats()).toMatchObject({ running: 0, liveTasks: 0 });
  });

  it('is run again from the start, and the new output replaces the old', async () => {
    const { run, turns } = dies('retry');
    const { first, id } = await cutOff(run);
    const second = await first.crash();
    expect((await second.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    expect(turns).toHaveLength(1);
    await second.time.advance(1000);
    const task = await second.service.get({ id }, ctx());
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(task.artifacts?.map(({ parts }) => parts)).toEqual([[{ text: '[2]' }], [{ data: 2 }]]);
    expect(turns.map(({ attempt, message, history }) => [attempt, message.parts[0]?.text, history.length])).toEqual([
      [1, 'go', 0],
      [2, 'go', 0],
    ]);
  });

  it('is resumed with its artifacts, and appends to them', async () => {
    const { run, turns } = dies('resume');
    const { first, id } = await cutOff(run);
    const second = await first.crash();
    await second.time.advance(1000);
    const task = await second.service.get({ id }, ctx());
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: '[1[2]' }]);
    expect(turns[1]?.task.artifacts?.[0]?.parts).toEqual([{ text: '[1' }]);
  });

  it('fails after three attempts, and the others continue', async () => {
    const { run, turns } = dies('retry', 99);
    const { first, id } = await cutOff(run);
    const other = taskOf(await first.service.send(request('other', AT_ONCE), ctx()));
    await first.service.cancel({ id: other.id }, ctx());
    let process = first;
    for (const attempt of [2, 3]) {
      process = await process.crash();
      await process.time.advance(999);
      expect(turns.filter(({ message }) => message.parts[0]?.text === 'go')).toHaveLength(attempt - 1);
      await process.time.advance(4001);
      expect(turns.at(-1)?.attempt).toBe(attempt);
    }
    process = await process.crash();
    const task = await process.service.get({ id }, ctx());
    expect([task.status.state, wordsOf(task)]).toEqual([
      'TASK_STATE_FAILED',
      'The server stopped each time the agent worked on this task; it will not be tried again.',
    ]);
    expect(process.engine.stats()).toMatchObject({ running: 0, liveTasks: 0 });
    expect(turns.at(-1)?.attempt).toBe(3);
  });

  it('fails after, and is retried after, what the limits say', async () => {
    const { run, turns } = dies('retry', 99);
    const first = await world(run, { limits: { attemptsMax: 2, retryMs: 50 } });
    const { id } = taskOf(await first.service.send(request('go', AT_ONCE), ctx()));
    const second = await first.crash();
    await second.time.advance(49);
    expect(turns).toHaveLength(1);
    await second.time.advance(1);
    expect(turns).toHaveLength(2);
    const third = await second.crash();
    expect((await third.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_FAILED');
  });

  it('has its attempt on disk before the agent is started again', async () => {
    let seen: number | undefined;
    const { run } = dies('retry');
    const { first, id } = await cutOff(run);
    const second = await first.crash({
      agents: {
        agent: doing(async () => {
          seen = (await first.store.task('any', id))?.attempt;
        }),
      },
    });
    await second.time.advance(1000);
    expect(seen).toBe(2);
  });

  it('fails if its agent no longer exists', async () => {
    const { first, id } = await cutOff(hanging);
    const second = await first.crash({ agents: { other: echo } });
    const row = await second.store.task('any', id);
    expect(row).toMatchObject({ state: 'TASK_STATE_FAILED', attempt: 0 });
  });

  it('can be canceled before it is started again', async () => {
    const { run, turns } = dies('retry');
    const { first, id } = await cutOff(run);
    const second = await first.crash();
    expect((await second.service.cancel({ id }, ctx())).status.state).toBe('TASK_STATE_CANCELED');
    await second.time.advance(10_000);
    expect(turns).toHaveLength(1);
  });

  it('starts the count anew with the next turn', async () => {
    const attempts: number[] = [];
    const run = agent(async function* ({ attempt, message }) {
      attempts.push(attempt);
      if (attempts.length === 1) await new Promise(() => {});
      yield ask(`after ${message.parts[0]?.text}`);
    });
    const { first, id } = await cutOff(run);
    const second = await first.crash();
    await second.time.advance(1000);
    await second.service.send(toTask(await second.service.get({ id }, ctx()), 'next'), ctx());
    expect(attempts).toEqual([1, 2, 1]);
  });
});

describe('a task that had not started when the process crashed', () => {
  it('is started for every value of recovery, and does not count as repeated', async () => {
    const attempts: number[] = [];
    const run = agent(
      async function* ({ attempt, message }) {
        attempts.push(attempt);
        if (message.parts[0]?.text === 'first') await new Promise(() => {});
        yield { kind: 'text', text: 'done' };
      },
      { recovery: 'fail' },
    );
    const first = await world(run, { limits: { runningTasksMax: 1 } });
    const one = taskOf(await first.service.send(request('first', AT_ONCE), ctx()));
    const two = taskOf(await first.service.send(request('second', AT_ONCE), ctx()));
    expect(two.status.state).toBe('TASK_STATE_SUBMITTED');
    const second = await first.crash();
    await quiet();
    expect((await second.service.get({ id: one.id }, ctx())).status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(await second.service.get({ id: two.id }, ctx()))).toBe('done');
    expect(attempts).toEqual([1, 1]);
  });

  it('has its attempt on disk before it runs in its slot', async () => {
    const first = await world(hanging, { limits: { runningTasksMax: 1 } });
    const one = taskOf(await first.service.send(request('first', AT_ONCE), ctx()));
    const two = taskOf(await first.service.send(request('second', AT_ONCE), ctx()));
    expect(await first.store.task('any', two.id)).toMatchObject({ attempt: 0 });
    await first.service.cancel({ id: one.id }, ctx());
    await first.time.advance(20_000);
    expect(await first.store.task('any', two.id)).toMatchObject({ attempt: 1, state: 'TASK_STATE_WORKING' });
  });
});

describe('messages that were queued when the process crashed', () => {
  it('get their turns after the interrupted one', async () => {
    const seen: string[] = [];
    const open = gate();
    const run = agent(async function* ({ message, attempt }) {
      seen.push(`${message.parts[0]?.text} ${attempt}`);
      if (seen.length === 1) await open.wait;
      yield { kind: 'text', text: `${message.parts[0]?.text} ` };
    });
    const first = await world(run);
    const task = taskOf(await first.service.send(request('a', AT_ONCE), ctx()));
    await first.service.send({ ...toTask(task, 'b'), ...AT_ONCE }, ctx());
    await first.service.send({ ...toTask(task, 'c'), ...AT_ONCE }, ctx());
    const second = await first.crash();
    await second.service.send({ ...toTask(task, 'd'), ...AT_ONCE }, ctx());
    await second.time.advance(1000);
    await quiet();
    expect(seen).toEqual(['a 1', 'a 2', 'b 1', 'c 1', 'd 1']);
    const after = await second.service.get({ id: task.id }, ctx());
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'a b c d ']);
  });
});
