import { describe, expect, it } from 'vitest';
import { A2AError } from '#protocol';
import {
  AT_ONCE,
  ask,
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

describe('a run that fails', () => {
  it('fails the task with a general reason, and reports the cause', async () => {
    const { service, reports } = await world(async function* () {
      yield { kind: 'text', text: 'before' };
      throw new Error('password is hunter2');
    });
    const task = taskOf(await service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task), textOf(task)]).toEqual(['TASK_STATE_FAILED', 'The agent failed unexpectedly.', 'before']);
    expect(JSON.stringify(task)).not.toContain('hunter2');
    expect(reports.map(({ cause }) => String(cause))).toEqual(['Error: password is hunter2']);
  });

  it('fails with the message of an A2AError, also when run itself throws', async () => {
    const own = await world(() => {
      throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'only cats');
    });
    expect(wordsOf(taskOf(await own.service.send(request('go'), ctx())))).toBe('only cats');
    const internal = await world(
      doing(() => {
        throw new A2AError('INTERNAL_ERROR', 'secret');
      }),
    );
    expect(wordsOf(taskOf(await internal.service.send(request('go'), ctx())))).toBe('The agent failed unexpectedly.');
  });

  it('can throw after its last output: that is reported and changes nothing', async () => {
    const { service, reports } = await world(async function* () {
      try {
        yield ask('which?');
      } finally {
        await Promise.reject(new Error('cleaning up'));
      }
    });
    const task = taskOf(await service.send(request('go'), ctx()));
    await quiet();
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(reports).toHaveLength(1);
  });

  it('can’t ask two questions at once: the task fails', async () => {
    const { service } = await world(doing(({ ask: put }) => Promise.all([put(said('one?')), put(said('two?'))])));
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await quiet();
    const after = await service.get({ id: task.id }, ctx());
    expect([after.status.state, wordsOf(after)]).toEqual(['TASK_STATE_FAILED', 'a run can ask one question at a time']);
  });
});

describe('messages to one task', () => {
  it('get their turns one after the other, in order of arrival', async () => {
    const gates = [gate(), gate(), gate()];
    const begun: string[] = [];
    const { service } = await world(async function* ({ message }) {
      begun.push(message.parts[0]?.text ?? '');
      await gates[begun.length - 1]?.wait;
      yield { kind: 'text', text: `${message.parts[0]?.text} ` };
    });
    const first = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const second = service.send(toTask(first, 'b'), ctx());
    const third = service.send(toTask(first, 'c'), ctx());
    await quiet();
    expect(begun).toEqual(['a']);
    for (const each of gates) {
      each.open();
      await quiet();
    }
    expect(begun).toEqual(['a', 'b', 'c']);
    const task = taskOf(await third);
    expect(taskOf(await second).status.state).toBe('TASK_STATE_COMPLETED');
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'a b c ']);
    expect(historyOf(task)).toEqual(['a', 'b', 'c']);
  });

  it('answer each caller with the state of the task when the turn of that caller ended', async () => {
    const gates = [gate(), gate()];
    let turns = 0;
    const { service } = await world(async function* () {
      const turn = turns++;
      await gates[turn]?.wait;
      yield ask(`question ${turn}`);
    });
    const first = service.send(request('a'), ctx());
    await quiet();
    const [{ id = undefined } = {}] = (await service.list({}, ctx())).tasks;
    if (id === undefined) throw new Error('no task');
    const second = service.send({ message: { ...request('b').message, taskId: id } }, ctx());
    await quiet();
    gates[0]?.open();
    expect(wordsOf(taskOf(await first))).toBe('question 0');
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    gates[1]?.open();
    expect(wordsOf(taskOf(await second))).toBe('question 1');
  });

  it('that were queued when the task ended are in its history, and are answered with its end', async () => {
    const go = gate();
    const { service } = await world(async function* () {
      await go.wait;
      yield { kind: 'complete', message: said('all done') };
    });
    const first = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const second = service.send(toTask(first, 'b'), ctx());
    await quiet();
    go.open();
    expect(taskOf(await second)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    await expect(service.send(toTask(first, 'c'), ctx())).rejects.toMatchObject({ kind: 'TASK_FINISHED' });
  });

  it('are rejected when too many are queued', async () => {
    const { service } = await world(hanging, { limits: { queuedMessagesMax: 1 } });
    const task = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    await service.send({ ...toTask(task, 'b'), ...AT_ONCE }, ctx());
    const refused = { kind: 'UNAVAILABLE', details: { retryAfterMs: 1000 } };
    await expect(service.send({ ...toTask(task, 'c'), ...AT_ONCE }, ctx())).rejects.toMatchObject(refused);
    expect(historyOf(await service.get({ id: task.id }, ctx()))).toEqual(['a', 'b']);
  });
});

describe('cancel', () => {
  it('ends the task at once, aborts the agent, and drops its further output', async () => {
    let reason: unknown;
    const { service } = await world(async function* ({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reason = signal.reason;
      yield { kind: 'text', text: 'too late' };
    });
    const stream = reader(service.stream(request('go'), ctx()));
    await quiet(20);
    const [{ id = undefined } = {}] = (await service.list({}, ctx())).tasks;
    if (id === undefined) throw new Error('no task');
    const canceled = await service.cancel({ id }, ctx());
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    await quiet();
    expect(reason).toMatchObject({ name: 'AbortError' });
    expect(await service.cancel({ id }, ctx())).toEqual(canceled);
    await stream.done;
  });

  it('fails for a task that is finished otherwise', async () => {
    const { service } = await world(echo);
    const task = taskOf(await service.send(request('go'), ctx()));
    await expect(service.cancel({ id: task.id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_CANCELABLE' });
  });
});
