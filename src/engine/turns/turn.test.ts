import { describe, expect, it } from 'vitest';
import type { Turn } from '#protocol';
import {
  agent,
  ask,
  ctx,
  doing,
  historyOf,
  quiet,
  request,
  said,
  taskOf,
  textOf,
  toTask,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

describe('what an agent sees', () => {
  it('the message, the history before it, the task and the principal', async () => {
    const turns: Turn[] = [];
    const { service } = await world(async function* (turn) {
      turns.push(turn);
      yield { kind: 'text', text: `answer ${turns.length}` };
      yield ask(`question ${turns.length}`);
    });
    const first = taskOf(await service.send(request('one'), ctx()));
    await service.send(toTask(first, 'two'), ctx());
    expect(turns.map((turn) => turn.message.parts[0]?.text)).toEqual(['one', 'two']);
    expect(turns.map((turn) => turn.history.map(({ parts }) => parts[0]?.text))).toEqual([[], ['one', 'question 1']]);
    expect(turns[1]?.task.artifacts).toMatchObject([{ artifactId: 'response', parts: [{ text: 'answer 1' }] }]);
    expect(turns[1]).toMatchObject({ attempt: 1, principal: { id: 'alice' }, contextId: first.contextId });
    const task = await service.get({ id: first.id }, ctx());
    expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(['response', 'response-4']);
    expect(historyOf(task)).toEqual(['one', 'question 1', 'two']);
  });

  it('can wait until all its output so far is durable', async () => {
    let commits = 0;
    const { service, engine } = await world(async function* ({ durable }) {
      yield { kind: 'text', text: 'a' };
      await durable();
      commits = engine.stats().commits;
    });
    await service.send(request('go'), ctx());
    expect(commits).toBe(1);
    expect(engine.stats().commits).toBe(2);
  });
});

describe('turn.ask', () => {
  const asking = agent(async function* ({ ask: put }) {
    const one = await put(said('first?'));
    yield { kind: 'text', text: `${one.parts[0]?.text},` };
    const two = await put(said('second?'));
    yield { kind: 'text', text: `${two.parts[0]?.text}` };
  });

  it('keeps the run alive: the next message is the answer', async () => {
    const { service, engine } = await world(asking);
    const task = taskOf(await service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'first?']);
    expect(engine.stats()).toMatchObject({ running: 0, asking: 1 });
    const next = taskOf(await service.send(toTask(task, 'A'), ctx()));
    expect([next.status.state, wordsOf(next)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'second?']);
    const last = taskOf(await service.send(toTask(task, 'B'), ctx()));
    expect([last.status.state, textOf(last)]).toEqual(['TASK_STATE_COMPLETED', 'A,B']);
    expect(historyOf(last)).toEqual(['go', 'first?', 'A', 'second?', 'B']);
    expect(engine.stats()).toMatchObject({ running: 0, asking: 0, liveTasks: 0 });
  });

  it('ends with the task: a cancel rejects it', async () => {
    let thrown: unknown;
    const { service } = await world(
      doing(async ({ ask: put }) => {
        thrown = await put(said('well?')).catch((reason: unknown) => reason);
      }),
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    await service.cancel({ id: task.id }, ctx());
    await quiet();
    expect(thrown).toMatchObject({ name: 'AbortError' });
  });

  it('fails after the turn has ended', async () => {
    let late: Turn['ask'] | undefined;
    const { service } = await world(
      doing((turn) => {
        late = turn.ask;
      }),
    );
    await service.send(request('go'), ctx());
    await expect(late?.(said('too late'))).rejects.toThrow();
  });
});
