import { describe, expect, it } from 'vitest';
import type { SendRequest, Task } from '#protocol';
import { externalId, getTextFromMessage, taskId } from '#protocol';
import {
  agent,
  ask,
  BOB,
  ctx,
  historyOf,
  quiet,
  taskOf,
  textOf,
  toTask,
  user,
  withSemantics,
  world,
} from '../../../test/support/engine.ts';

/** Asks once, then answers with the message and completes the task, as agents made with `defineAgent` do. */
const asking = agent(async function* ({ message, history }) {
  if (history.length === 0 && getTextFromMessage(message) === 'ask') yield ask('which one?');
  else {
    yield { kind: 'text', text: `took ${getTextFromMessage(message)}` };
    yield { kind: 'complete' };
  }
});

const names = { ...ctx(), semantics: { taskNames: 'reusable' } } as const;
const named = (text: string, name: string): SendRequest => ({ message: user(text), alias: externalId(name) });
const stateOf = ({ status }: Task): string => status.state.slice('TASK_STATE_'.length);

describe('a task id in another dialect than that of its task', () => {
  it('continues the task when it is sent as a name', async () => {
    const { service, engine } = await world(asking);
    const asked = taskOf(await service.send({ message: user('ask') }, ctx()));
    const answered = taskOf(await service.send(named('blue', asked.id), names));
    expect([answered.id, stateOf(answered), textOf(answered)]).toEqual([asked.id, 'COMPLETED', 'took blue']);
    expect((await engine.admin.tasks({})).totalSize).toBe(1);
  });

  it('is the name of the next task if the task is finished', async () => {
    const { service } = await world(asking);
    const done = taskOf(await service.send({ message: user('one') }, ctx()));
    const asked = taskOf(await service.send(named('ask', done.id), names));
    expect([asked.contextId, stateOf(asked)]).toEqual([done.contextId, 'INPUT_REQUIRED']);
    const answered = taskOf(await service.send(named('two', done.id), names));
    expect([stateOf(answered), historyOf(answered)]).toEqual(['COMPLETED', ['ask', 'which one?', 'two']]);
  });

  it('of another caller is a new name', async () => {
    const { service } = await world(asking);
    const asked = taskOf(await service.send({ message: user('ask') }, ctx()));
    const theirs = taskOf(await service.send(named('hi', asked.id), { ...names, principal: BOB }));
    expect(historyOf(theirs)).toEqual(['hi']);
    expect(stateOf(await service.get({ id: asked.id }, ctx()))).toBe('INPUT_REQUIRED');
  });
});

describe('a name that a caller gave', () => {
  it('is an id for the same caller in every dialect', async () => {
    const { service } = await world(asking);
    await service.send(named('ask', 'mine'), names);
    const id = taskId('mine');
    const task = await service.get({ id }, ctx());
    expect([task.id === id, stateOf(task)]).toEqual([false, 'INPUT_REQUIRED']);
    await expect(service.get({ id }, { ...ctx(), principal: BOB })).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    const answered = taskOf(await service.send(toTask({ ...task, id }, 'red'), ctx()));
    expect([answered.id, stateOf(answered)]).toEqual([task.id, 'COMPLETED']);
  });

  it('means the task with that id, if there is one', async () => {
    const { service } = await world(asking);
    const first = taskOf(await service.send({ message: user('one') }, ctx()));
    await service.send(named('two', first.id), names);
    expect(historyOf(await service.get({ id: first.id }, ctx()))).toEqual(['one']);
  });

  it('used by twenty messages at once gives each of them its answer', async () => {
    const { service, engine } = await world(asking, withSemantics({ taskNames: 'reusable' }));
    const texts = Array.from({ length: 20 }, (_, at) => `message ${at}`);
    const answers = await Promise.all(texts.map((text) => service.send(named(text, 'new'), ctx())));
    expect(answers.map((answer) => textOf(taskOf(answer)))).toEqual(texts.map((text) => `took ${text}`));
    expect(new Set(answers.map((answer) => taskOf(answer).contextId)).size).toBe(1);
    expect(engine.stats().liveTasks).toBe(0);
  });

  it('brings the answer that came after its caller had left, before that of the next message', async () => {
    const open = Promise.withResolvers<void>();
    const slow = agent(async function* ({ message }) {
      if (getTextFromMessage(message) === 'slow') await open.promise;
      yield { kind: 'text', text: `took ${getTextFromMessage(message)}` };
      yield { kind: 'complete' };
    });
    const { service, time, engine } = await world(slow, withSemantics({ taskNames: 'reusable', mintedMessageId: true, sendMsMax: 25_000 }));
    const first = service.send(named('slow', 'n'), ctx());
    await quiet();
    await time.advance(25_001);
    expect(stateOf(taskOf(await first))).toBe('WORKING');
    const late = expect(service.send(named('too early', 'n'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await quiet();
    await time.advance(25_001);
    await late;
    const second = service.send(named('next', 'n'), ctx());
    await quiet();
    open.resolve();
    expect(textOf(taskOf(await second))).toBe('took slowtook next');
    expect(textOf(taskOf(await service.send(named('third', 'n'), ctx())))).toBe('took third');
    expect(engine.stats().liveTasks).toBe(0);
  });

  it('answers the question that a message of the same name asked meanwhile', async () => {
    const { service } = await world(asking, withSemantics({ taskNames: 'reusable' }));
    const [asked, answered] = await Promise.all([service.send(named('ask', 'n'), ctx()), service.send(named('green', 'n'), ctx())]);
    expect([stateOf(taskOf(asked)), stateOf(taskOf(answered))]).toEqual(['INPUT_REQUIRED', 'COMPLETED']);
    expect(historyOf(taskOf(answered))).toEqual(['ask', 'which one?', 'green']);
  });
});
