import { describe, expect, it } from 'vitest';
import { createUserMessage, messageId } from '#protocol';
import {
  AT_ONCE,
  agent,
  collect,
  ctx,
  gate,
  quiet,
  reader,
  request,
  said,
  shortly,
  taskOf,
  textOf,
  withSemantics,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

const direct = agent(async function* ({ message }) {
  yield { kind: 'message', message: said(`you said ${message.parts[0]?.text}`) };
});

describe('a direct message', () => {
  it('is the answer, and leaves no task', async () => {
    const { service, engine } = await world(direct);
    const { message, task } = await service.send(request('hi'), ctx());
    expect(task).toBeUndefined();
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'you said hi' }] });
    expect(message).not.toHaveProperty('taskId');
    expect(message?.contextId).toMatch(/^id/);
    expect((await service.list({}, ctx())).totalSize).toBe(0);
    expect(engine.stats()).toMatchObject({ commits: 1, events: 0, liveTasks: 0 });
  });

  it('also answers a send that returns immediately, if it comes at once', async () => {
    const { service } = await world(direct);
    expect((await service.send(request('hi', AT_ONCE), ctx())).message?.parts).toEqual([{ text: 'you said hi' }]);
  });

  it('needs no commit if nothing has to be stored', async () => {
    const { service, engine } = await world(direct);
    const { message } = await service.send({ message: createUserMessage('hi', { messageId: messageId('') }) }, ctx());
    expect(message?.parts).toEqual([{ text: 'you said hi' }]);
    expect(engine.stats().commits).toBe(0);
  });

  it('is a stream of one event', async () => {
    const { service } = await world(direct);
    expect(shortly(await collect(service.stream(request('hi'), ctx())))).toEqual(['message']);
  });

  it('is a stream of one event if the agent answers soon, but not if it takes longer', async () => {
    for (const [ms, events] of [
      [200, ['message']],
      [300, ['task WORKING', 'COMPLETED']],
    ] as const) {
      const { service, time } = await world(async function* () {
        await new Promise<void>((resolve) => time.timers.later(ms, resolve));
        yield { kind: 'message', message: said('hi') };
      });
      const stream = reader(service.stream(request('hi'), ctx()));
      await quiet();
      expect(stream.seen).toEqual([]);
      await time.advance(ms);
      await stream.done;
      expect(shortly(stream.seen)).toEqual(events);
    }
  });

  it('replaces a task that is already on disk, if no caller can know of it', async () => {
    const open = gate();
    const { service, engine } = await world(async function* () {
      await open.wait;
      yield { kind: 'message', message: said('late') };
    });
    const sent = service.send(request('hi'), ctx());
    await quiet();
    expect(engine.stats().commits).toBe(1);
    open.open();
    expect((await sent).message?.parts).toEqual([{ text: 'late' }]);
    expect((await service.list({}, ctx())).totalSize).toBe(0);
  });

  it('ends the task if a caller knows of it, if the agent said more, or if every answer is a task', async () => {
    const open = gate();
    const slow = await world(async function* () {
      await open.wait;
      yield { kind: 'message', message: said('late') };
    });
    const sent = slow.service.send(request('hi'), ctx());
    await quiet();
    expect((await slow.service.list({}, ctx())).totalSize).toBe(1);
    open.open();
    expect(wordsOf(taskOf(await sent))).toBe('late');
    const both = await world(async function* () {
      yield { kind: 'text', text: 'made' };
      yield { kind: 'message', message: said('said') };
    });
    const task = taskOf(await both.service.send(request('hi'), ctx()));
    expect([textOf(task), wordsOf(task)]).toEqual(['made', 'said']);
    const tasks = await world(direct, withSemantics({ tasksOnly: true }));
    expect(taskOf(await tasks.service.send(request('hi'), ctx())).status.state).toBe('TASK_STATE_COMPLETED');
    expect(shortly(await collect(tasks.service.stream(request('hi'), ctx())))).toEqual(['task WORKING', 'COMPLETED']);
  });
});
