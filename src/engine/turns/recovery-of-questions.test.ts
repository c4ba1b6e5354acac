import { describe, expect, it } from 'vitest';
import type { Agent, Message } from '#protocol';
import {
  agent,
  ask,
  ctx,
  fakeTime,
  historyOf,
  request,
  said,
  taskOf,
  textOf,
  toTask,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

describe('a task that waits', () => {
  it('keeps waiting after a question that ended its turn, and gets the answer in a new turn', async () => {
    for (const recovery of ['fail', 'retry', 'resume'] as const) {
      const run = agent(
        async function* ({ message, history }) {
          if (history.length === 0) yield ask('which?');
          else yield { kind: 'text', text: `${message.parts[0]?.text} of ${history.length}` };
        },
        { recovery },
      );
      const first = await world(run);
      const task = taskOf(await first.service.send(request('go'), ctx()));
      const second = await first.crash();
      expect(await second.service.get({ id: task.id }, ctx())).toEqual(task);
      expect(textOf(taskOf(await second.service.send(toTask(task, 'this'), ctx())))).toBe('this of 2');
    }
  });

  const asks = (questions: readonly string[], recovery: Agent['recovery']): { run: Agent; asked: string[] } => {
    const asked: string[] = [];
    const run = agent(
      async function* (turn) {
        const answers: Message[] = [];
        for (const question of questions) {
          asked.push(question);
          answers.push(await turn.ask(said(question)));
        }
        yield { kind: 'text', text: `${turn.message.parts[0]?.text}: ${answers.map(({ parts }) => parts[0]?.text).join(', ')}` };
      },
      { recovery },
    );
    return { run, asked };
  };

  it('inside a repeatable run starts that run again when the answer arrives, with the recorded answers', async () => {
    const { run, asked } = asks(['one?', 'two?', 'three?'], 'retry');
    const first = await world(run);
    const task = taskOf(await first.service.send(request('go'), ctx()));
    await first.service.send(toTask(task, 'A'), ctx());
    const second = await first.crash();
    expect((await second.service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const next = taskOf(await second.service.send(toTask(task, 'B'), ctx()));
    expect(wordsOf(next)).toBe('three?');
    const third = await second.crash();
    const last = taskOf(await third.service.send(toTask(task, 'C'), ctx()));
    expect([last.status.state, textOf(last)]).toEqual(['TASK_STATE_COMPLETED', 'go: A, B, C']);
    expect(historyOf(last)).toEqual(['go', 'one?', 'A', 'two?', 'B', 'three?', 'C']);
    expect(asked).toEqual(['one?', 'two?', 'one?', 'two?', 'three?', 'one?', 'two?', 'three?']);
  });

  it('inside a repeatable run survives any number of crashes: each question that is reached resets the count of attempts', async () => {
    const { run } = asks(['one?', 'two?', 'three?', 'four?', 'five?'], 'retry');
    let process = await world(run);
    const task = taskOf(await process.service.send(request('go'), ctx()));
    for (const answer of ['1', '2', '3', '4', '5']) {
      process = await process.crash();
      await process.service.send(toTask(task, answer), ctx());
      expect(await process.store.task('any', task.id)).toMatchObject({ attempt: answer === '5' ? 0 : 1 });
    }
    expect(textOf(await process.service.get({ id: task.id }, ctx()))).toBe('go: 1, 2, 3, 4, 5');
  });

  it('inside a repeatable run asks again if the question differs from the recorded one', async () => {
    const questions = ['delete a?'];
    const { run } = asks(questions, 'retry');
    const first = await world(run);
    const task = taskOf(await first.service.send(request('go'), ctx()));
    questions[0] = 'delete everything?';
    const second = await first.crash();
    const next = taskOf(await second.service.send(toTask(task, 'yes'), ctx()));
    expect([next.status.state, wordsOf(next)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'delete everything?']);
  });

  it('inside a run that is not repeatable gets the answer in a new turn', async () => {
    const run = agent(
      async function* (turn) {
        if (turn.history.length === 0) await turn.ask(said('sure?'));
        yield { kind: 'text', text: `${turn.message.parts[0]?.text} ${turn.attempt}` };
      },
      { recovery: 'fail' },
    );
    const first = await world(run);
    const task = taskOf(await first.service.send(request('go'), ctx()));
    const second = await first.crash();
    expect((await second.service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(taskOf(await second.service.send(toTask(task, 'yes'), ctx())))).toBe('yes 1');
  });

  it('too long inside a run ends the run, and the answer starts it again', async () => {
    const { run, asked } = asks(['well?'], 'resume');
    const time = fakeTime();
    const { service, engine } = await world(run, { limits: { runAskMsMax: 3_600_000 } }, time);
    const task = taskOf(await service.send(request('go'), ctx()));
    await time.advance(3_500_000);
    expect(engine.stats().asking).toBe(1);
    await time.advance(200_000);
    expect(engine.stats()).toMatchObject({ asking: 0, running: 0, liveTasks: 0 });
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(taskOf(await service.send(toTask(task, 'yes'), ctx())))).toBe('go: yes');
    expect(asked).toEqual(['well?', 'well?']);
  });
});
