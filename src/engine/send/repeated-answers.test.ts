import { describe, expect, it } from 'vitest';
import type { SendRequest } from '#protocol';
import { taskId } from '#protocol';
import { agent, collect, ctx, echo, gate, quiet, said, seqsOf, shortly, slowly, taskOf, world } from '../../../test/support/engine.ts';
import { keyed, lost, send } from '../../../test/support/repeats.ts';
import { memoryStore } from '../adapters/memory.ts';

describe('an idempotency key', () => {
  it('returns the same task, delivered or not, for every message id', async () => {
    const { service } = await world(echo);
    const request: SendRequest = send('');
    const first = taskOf(await service.send(request, keyed('k')));
    expect(taskOf(await service.send(request, keyed('k'))).id).toBe(first.id);
    expect(taskOf(await service.send(request, keyed('other'))).id).not.toBe(first.id);
    await expect(service.send(send('', 'else'), keyed('k'))).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
  });

  it('is not a message id', async () => {
    const { service } = await world(echo);
    const first = taskOf(await service.send(send('x'), lost()));
    expect(taskOf(await service.send(send('x'), keyed('x'))).id).not.toBe(first.id);
  });

  it('works for every message id if the engine is configured so', async () => {
    const { service } = await world(echo, { idempotency: 'messageId' });
    const first = taskOf(await service.send(send('x'), ctx()));
    expect(taskOf(await service.send(send('x'), ctx())).id).toBe(first.id);
  });
});

describe('a direct message', () => {
  const direct = agent(async function* () {
    yield { kind: 'message', message: said('hi') };
  });

  it('is stored under the key of its send, also over a restart', async () => {
    const { service, crash } = await world(direct);
    const answers = await Promise.all([service.send(send('m'), lost()), service.send(send('m'), lost()), service.send(send('m'), lost())]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const second = await crash();
    expect(await second.service.send(send('m'), lost())).toEqual(answers[0]);
    expect(shortly(await collect(second.service.stream(send('m'), lost())))).toEqual(['message']);
    await expect(second.service.send(send('m', 'else'), lost())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    expect((await second.service.list({}, ctx())).totalSize).toBe(0);
  });

  it('is returned to a repetition that arrives while the task is being replaced', async () => {
    const store = memoryStore();
    const [open, pause] = [gate(), () => new Promise<void>((resolve) => setTimeout(resolve, 2))];
    const slow = slowly(store, pause);
    const { service } = await world(
      async function* () {
        await open.wait;
        yield { kind: 'message', message: said('hi') };
      },
      { store: slow },
    );
    const first = service.send(send('m'), lost());
    await pause();
    await pause();
    open.open();
    await quiet(1);
    const second = service.send(send('m'), lost());
    expect(await second).toEqual(await first);
    expect((await first).message).toBeDefined();
    await expect(service.get({ id: taskId('id1-1') }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });
});

describe('a stream', () => {
  it('counts as delivered when read to its end, and not when the reader left', async () => {
    const { service } = await world(echo);
    const iterator = service.stream(send('m'), ctx())[Symbol.asyncIterator]();
    const first = (await iterator.next()).value as Awaited<ReturnType<typeof collect>>;
    await iterator.return?.();
    const again = await collect(service.stream(send('m'), ctx()));
    expect(again[0]?.event.task?.id).toBe(first[0]?.event.task?.id);
    expect(seqsOf(again)).toEqual([1, 2, 3]);
    const third = await collect(service.stream(send('m'), ctx()));
    expect(third[0]?.event.task?.id).not.toBe(again[0]?.event.task?.id);
  });

  it('counts as delivered when the server reports it', async () => {
    const { service } = await world(echo);
    const marks: (() => void)[] = [];
    const first = await collect(service.stream(send('m'), ctx({ onDelivered: (mark) => void marks.push(mark) })));
    const again = await collect(service.stream(send('m'), lost()));
    expect(again[0]?.event.task?.id).toBe(first[0]?.event.task?.id);
    for (const mark of marks) mark();
    expect((await collect(service.stream(send('m'), lost())))[0]?.event.task?.id).not.toBe(first[0]?.event.task?.id);
  });
});
