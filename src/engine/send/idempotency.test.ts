import { describe, expect, it } from 'vitest';
import type { CallContext, Task } from '#protocol';
import { createUserMessage, messageId, taskId } from '#protocol';
import {
  AT_ONCE,
  ask,
  BOB,
  collect,
  ctx,
  echo,
  gate,
  historyOf,
  quiet,
  reader,
  seqsOf,
  slowly,
  taskOf,
  textOf,
  world,
} from '../../../test/support/engine.ts';
import { counting, lost, send } from '../../../test/support/repeats.ts';
import { memoryStore } from '../adapters/memory.ts';

describe('a repeated send', () => {
  it('attaches to the first task if the first answer never arrived', async () => {
    const { runs, run } = counting();
    const { service } = await world(run);
    const first = await service.send(send('m'), lost());
    expect(await service.send(send('m'), lost())).toEqual(first);
    expect(await service.send(send('m'), ctx())).toEqual(first);
    expect(runs).toHaveLength(1);
  });

  it('is a new task once the answer has arrived, and later repetitions attach to that one', async () => {
    const { runs, run } = counting();
    const { service } = await world(run);
    const first = taskOf(await service.send(send('m'), ctx()));
    const second = taskOf(await service.send(send('m'), lost()));
    expect(second.id).not.toBe(first.id);
    expect(taskOf(await service.send(send('m'), lost())).id).toBe(second.id);
    expect(runs).toHaveLength(2);
  });

  it('counts an answer as delivered when the host says so, not before', async () => {
    const { run } = counting();
    const { service } = await world(run);
    const marks: (() => void)[] = [];
    const host = (): CallContext => ctx({ onDelivered: (mark) => void marks.push(mark) });
    const first = taskOf(await service.send(send('m'), host()));
    expect(taskOf(await service.send(send('m'), host())).id).toBe(first.id);
    expect(marks).toHaveLength(2);
    for (const mark of marks) mark();
    expect(taskOf(await service.send(send('m'), host())).id).not.toBe(first.id);
  });

  it("is a new task each time for an agent with `repeats: 'anew'`, unless it has a key", async () => {
    const { runs, run } = counting();
    const { service } = await world({ ...run, repeats: 'anew' });
    for (let at = 0; at < 2; at += 1) await service.send(send('m'), lost());
    await Promise.all([service.send(send('m'), lost()), collect(service.stream(send('m'), lost()))]);
    expect(runs).toHaveLength(4);
    for (let at = 0; at < 2; at += 1) await service.send(send('m'), lost({ idempotencyKey: 'k' }));
    expect(runs).toHaveLength(5);
    const { service: named } = await world({ ...run, repeats: 'anew' }, { idempotency: 'messageId' });
    for (let at = 0; at < 2; at += 1) await named.send(send('m'), ctx());
    expect(runs).toHaveLength(6);
  });

  it('makes one task of fifty simultaneous sends, also if some of them stream', async () => {
    const { runs, run } = counting();
    const { service, engine } = await world(run);
    const sent = Array.from({ length: 50 }, (_, at) =>
      at % 5 === 4 ? collect(service.stream(send('m'), lost())) : service.send(send('m'), lost()).then(taskOf),
    );
    const answers = await Promise.all(sent);
    const tasks = answers.map((answer) => ('id' in answer ? answer.id : answer[0]?.event.task?.id));
    expect(new Set(tasks).size).toBe(1);
    expect(runs).toHaveLength(1);
    expect((await service.list({}, ctx())).totalSize).toBe(1);
    expect(engine.stats()).toMatchObject({ commits: 1, liveTasks: 0 });
  });

  it('makes one task of fifty simultaneous sends over a slow store', async () => {
    const { runs, run } = counting();
    const store = memoryStore();
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
    const slow = slowly(store, pause);
    const { service } = await world(run, { store: slow });
    const sent: Promise<Task>[] = [];
    for (let at = 0; at < 50; at += 1) {
      sent.push(service.send(send('m'), lost()).then(taskOf));
      if (at % 10 === 9) await pause();
    }
    expect(new Set((await Promise.all(sent)).map(({ id }) => id)).size).toBe(1);
    expect(runs).toHaveLength(1);
  });

  it('attaches to the task while it runs, and waits for it', async () => {
    const open = gate();
    const { service } = await world(async function* () {
      yield { kind: 'text', text: 'a' };
      await open.wait;
      yield { kind: 'text', text: 'b' };
    });
    const early = taskOf(await service.send({ ...send('m'), ...AT_ONCE }, lost()));
    const waiting = service.send(send('m'), lost());
    const stream = reader(service.stream(send('m'), lost()));
    await quiet();
    open.open();
    expect(taskOf(await waiting)).toMatchObject({ id: early.id, status: { state: 'TASK_STATE_COMPLETED' } });
    await stream.done;
    expect(seqsOf(stream.seen)).toEqual([1, 2, 3, 4]);
  });

  it('attaches to the task after a restart, finished or not', async () => {
    const [open, again] = [gate(), gate()];
    const gates = [open, again];
    const first = await world(async function* ({ attempt }) {
      await gates[attempt - 1]?.wait;
      yield { kind: 'text', text: `attempt ${attempt}` };
    });
    open.open();
    const done = taskOf(await first.service.send(send('done'), lost()));
    const [open2] = [gate()];
    gates[0] = open2;
    const running = taskOf(await first.service.send({ ...send('running'), ...AT_ONCE }, lost()));
    const second = await first.crash();
    expect(taskOf(await second.service.send(send('done'), lost()))).toEqual(done);
    const waiting = second.service.send(send('running'), lost());
    await second.time.advance(1000);
    again.open();
    const task = taskOf(await waiting);
    expect([task.id, textOf(task)]).toEqual([running.id, 'attempt 2']);
    expect((await second.service.list({}, ctx())).totalSize).toBe(2);
  });

  it('is a new send after a restart too, if the delivery of its answer was saved', async () => {
    const first = await world(echo);
    const one = taskOf(await first.service.send(send('m'), ctx()));
    await first.service.send(send('other'), ctx());
    const second = await first.crash();
    expect(taskOf(await second.service.send(send('m'), ctx())).id).not.toBe(one.id);
  });

  it('saves delivery marks when nothing else is written', async () => {
    const first = await world(echo);
    const one = taskOf(await first.service.send(send('m'), ctx()));
    expect(first.engine.stats().commits).toBe(1);
    await first.time.advance(1000);
    expect(first.engine.stats().commits).toBe(2);
    const second = await first.crash();
    expect(taskOf(await second.service.send(send('m'), ctx())).id).not.toBe(one.id);
  });

  it('is an error with the same key and another body', async () => {
    const { runs, run } = counting();
    const { service } = await world(run);
    const first = service.send(send('m', 'one'), lost());
    await expect(service.send(send('m', 'two'), lost())).rejects.toMatchObject({
      kind: 'INVALID_PARAMS',
      details: { field: 'message.messageId' },
    });
    await first;
    await expect(service.send(send('m', 'two'), lost())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    await expect(collect(service.stream({ ...send('m', 'one'), metadata: { a: 1 } }, lost()))).rejects.toMatchObject({
      kind: 'INVALID_PARAMS',
    });
    expect(runs).toEqual(['one']);
  });

  it('is separate for other callers, tenants and agents', async () => {
    const { service, engine } = await world(echo, { agents: { one: echo, two: echo } });
    const ids = [
      taskOf(await service.send(send('m'), lost())).id,
      taskOf(await service.send(send('m'), lost({ principal: BOB }))).id,
      taskOf(await service.send(send('m'), lost({ tenant: 'x' as never }))).id,
      taskOf(await engine.serviceOf('two').send(send('m'), lost())).id,
    ];
    expect(new Set(ids).size).toBe(4);
  });

  it('is never recognised by an empty message id', async () => {
    const { service } = await world(echo);
    const ids = await Promise.all([1, 2, 3].map(async () => taskOf(await service.send(send(''), lost())).id));
    expect(new Set(ids).size).toBe(3);
  });

  it('is not recognised by a message id that the dialect made up, but by a key', async () => {
    const { service } = await world(echo);
    const old = (more: Partial<CallContext> = {}): CallContext => lost({ semantics: { mintedMessageId: true }, ...more });
    let minted = 0;
    const sendOld = async (given: CallContext): Promise<string> => {
      minted += 1;
      return taskOf(await service.send(send(`m${minted}`), given)).id;
    };
    expect(await sendOld(old())).not.toBe(await sendOld(old()));
    expect(await sendOld(old({ idempotencyKey: 'k' }))).toBe(await sendOld(old({ idempotencyKey: 'k' })));
  });
});

describe('a repeated message to a task', () => {
  it('is accepted once', async () => {
    const { service } = await world(async function* () {
      yield ask('more?');
    });
    const task = taskOf(await service.send(send('one'), lost()));
    const next = { message: createUserMessage('b', { messageId: messageId('two'), taskId: task.id }) };
    const [first, second] = await Promise.all([service.send(next, lost()), service.send(next, lost())]);
    expect(second).toEqual(first);
    expect(historyOf(taskOf(await service.send(next, lost())))).toEqual(['hello', 'more?', 'b']);
  });
});

describe('a send that fails', () => {
  it('leaves nothing behind: the same message can be sent again', async () => {
    const { service } = await world(echo, { limits: {} });
    const wrong = { message: createUserMessage('a', { messageId: messageId('m'), taskId: taskId('nobody') }) };
    const refused = await Promise.allSettled([service.send(wrong, lost()), service.send(wrong, lost())]);
    expect(refused.map((each) => each.status)).toEqual(['rejected', 'rejected']);
    expect(taskOf(await service.send(send('m', 'other body'), lost())).status.state).toBe('TASK_STATE_COMPLETED');
  });
});
