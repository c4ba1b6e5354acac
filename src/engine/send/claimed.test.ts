import { describe, expect, it } from 'vitest';
import type { LogEntry, Store, TakenNames, TaskKey, Write } from '#engine';
import { contextId, externalId, seq, taskId } from '#protocol';
import { agent, ctx, echo, quiet, request, said, taskOf, user, withSemantics, world } from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';
import { taskKey } from '../ports.ts';

type TaskWrite = Extract<Write, { readonly kind: 'task' }>;

/** The completed task of another process with the names of this one. */
function rivalOf({ row, entries: [first] }: TaskWrite, batch: readonly Write[]): readonly Write[] {
  const id = taskId(`rival-${row.id}`);
  const key = taskKey(row.key + 1000);
  if (first?.event.task === undefined) throw new Error('a new task begins with itself');
  const event = { task: { ...first.event.task, id } };
  const status = { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00.000Z' } as const;
  const entries: LogEntry[] = [
    { seq: seq(1), event },
    { seq: seq(2), event: { statusUpdate: { taskId: id, contextId: row.contextId, status } } },
  ];
  const sends = batch.flatMap((write): Write[] =>
    write.kind === 'send' && write.record.task?.key === row.key
      ? [{ kind: 'send', record: { ...write.record, task: { key, id, seq: seq(1) } } }]
      : [],
  );
  return [{ kind: 'task', row: { ...row, id, key, state: status.state, last: seq(2), attempt: 0 }, isNew: true, entries }, ...sends];
}

/** A store in which another process makes a task with the same names just before the next claim. */
function contended() {
  const kept = memoryStore();
  const state = { rivals: 0, follows: [] as (TaskKey | undefined)[] };
  const store: Store = {
    ...kept,
    claim: async (batch): Promise<TakenNames> => {
      const news = batch.filter((write): write is TaskWrite => write.kind === 'task' && write.isNew);
      state.follows.push(...news.map(({ follows }) => follows));
      if (state.rivals === 0 || news.length === 0) {
        await kept.commit(batch);
        return { tasks: new Set(), sends: new Set() };
      }
      state.rivals -= 1;
      for (const write of news) await kept.commit(rivalOf(write, batch));
      return { tasks: new Set(news.map(({ row }) => row.key)), sends: new Set() };
    },
  };
  return { store, state };
}

describe('a send whose name another process has taken', () => {
  it('continues with the task that has the name, and withdraws its own', async () => {
    const { store, state } = contended();
    const { service } = await world(echo, { store });
    state.rivals = 1;
    const message = user('hello');
    const task = taskOf(await service.send(request('', { message }), ctx()));
    expect(task.id).toMatch(/^rival-/);
    expect((await service.list({}, ctx())).totalSize).toBe(1);
  });

  it('starts no run of a keyed send, or of an agent that does not repeat work, before its name is claimed', async () => {
    for (const keyed of [true, false]) {
      const { store, state } = contended();
      const starts: string[] = [];
      const counting = agent(
        async function* (turn) {
          starts.push(turn.task.id);
          yield { kind: 'text', text: 'done' };
        },
        keyed ? {} : { recovery: 'fail' },
      );
      const { service } = await world(counting, { store });
      state.rivals = 1;
      const sent = service.send(request('go'), ctx(keyed ? { idempotencyKey: 'one' } : {}));
      await sent;
      expect(starts).toEqual([]);
    }
  });

  it('streams the task that has the name', async () => {
    const { store, state } = contended();
    const { service } = await world(echo, { store });
    state.rivals = 1;
    const ids = new Set<string>();
    for await (const batch of service.stream(request('hello'), ctx()))
      for (const { event } of batch) ids.add(event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId ?? '');
    expect([...ids].every((id) => id.startsWith('rival-'))).toBe(true);
    expect(ids.size).toBe(1);
  });

  it('names the task that had the alias before, so that only that one is replaced', async () => {
    const { store, state } = contended();
    const { service } = await world(echo, { store, ...withSemantics({ taskNames: 'reusable' }) });
    const named = (text: string) => ({ message: user(text, { contextId: contextId('c') }), alias: externalId('job') });
    const first = taskOf(await service.send(named('one'), ctx()));
    await service.send(named('two'), ctx());
    const [before, after] = state.follows;
    expect(first).toBeDefined();
    expect(before).toBeUndefined();
    expect(after).toBeDefined();
  });

  it('answers directly where the answer was claimed', async () => {
    const { store } = contended();
    const direct = agent(async function* () {
      yield { kind: 'message', message: said('hi') };
    });
    const { service } = await world(direct, { store });
    const answer = await service.send(request('hello'), ctx());
    await quiet();
    expect(answer.message?.parts[0]?.text).toBe('hi');
  });
});
