import { expect } from 'vitest';
import type { LogEntry, SendName, TaskKey, TaskRow, Write } from '#engine';
import type { TaskState } from '#protocol';
import { contextId, externalId, pushConfigId, taskId } from '#protocol';
import type { Check } from './check.ts';
import { ALICE, aPush, aSend, aTask, BOB, entriesOf, rowOf, seqOf } from './rows.ts';

export function commits(check: Check): void {
  check('stores a task with its log', async (store) => {
    await store.commit([aTask(7, { alias: externalId('thread'), bytes: 12, attempt: 1 }, 3)]);
    expect(await store.task(ALICE, taskId('t7'))).toEqual(rowOf(7, { alias: externalId('thread'), bytes: 12, attempt: 1, last: seqOf(3) }));
    expect(await store.entries(7 as TaskKey, { after: seqOf(0), limit: 10 })).toEqual(entriesOf(1, 3));
    expect(await store.lastKey()).toBe(7);
  });

  check('appends to a log, and changes a row without new entries', async (store) => {
    await store.commit([aTask(1, {}, 2)]);
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(4) }), isNew: false, entries: entriesOf(3, 4) }]);
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(4), attempt: 2, turn: seqOf(3) }), isNew: false, entries: [] }]);
    expect(await store.task(ALICE, taskId('t1'))).toMatchObject({ last: 4, attempt: 2, turn: 3 });
    expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 10 })).toEqual(entriesOf(1, 4));
  });

  const refused: readonly (readonly [string, Write])[] = [
    ['a new task whose key is taken', aTask(1, { id: taskId('other') }, 1)],
    [
      'a new task whose id is taken',
      { kind: 'task', row: rowOf(9, { id: taskId('t1'), last: seqOf(1) }), isNew: true, entries: entriesOf(1, 1) },
    ],
    ['a change to a task that is not there', { kind: 'task', row: rowOf(9, { last: seqOf(1) }), isNew: false, entries: entriesOf(1, 1) }],
    ['an entry that leaves a gap', { kind: 'task', row: rowOf(1, { last: seqOf(4) }), isNew: false, entries: entriesOf(4, 4) }],
    ['an entry that is there already', { kind: 'task', row: rowOf(1, { last: seqOf(2) }), isNew: false, entries: entriesOf(2, 2) }],
    ['entries out of order', { kind: 'task', row: rowOf(1, { last: seqOf(4) }), isNew: false, entries: entriesOf(3, 4).toReversed() }],
    ['a row that runs ahead of its log', { kind: 'task', row: rowOf(1, { last: seqOf(5) }), isNew: false, entries: entriesOf(3, 4) }],
    ['a row that falls behind its log', { kind: 'task', row: rowOf(1, { last: seqOf(1) }), isNew: false, entries: [] }],
    ['a first entry that is not the first', { kind: 'task', row: rowOf(9, { last: seqOf(2) }), isNew: true, entries: entriesOf(2, 2) }],
  ];
  for (const [what, write] of refused) {
    check(`rejects ${what}, and the whole batch with it`, async (store) => {
      await store.commit([aTask(1, {}, 2)]);
      const beside = [aTask(5, {}, 1), aSend(5), aPush(1, 'p')];
      for (const batch of [
        [write, ...beside],
        [...beside, write],
      ]) {
        await expect((async () => store.commit(batch))()).rejects.toThrow();
        expect(await store.task('any', taskId('t5'))).toBeUndefined();
        expect(await store.send({ owner: ALICE, agent: 'echo', token: 'id m5' })).toBeUndefined();
        expect(await store.pushConfigs(1 as TaskKey)).toEqual([]);
        expect(await store.task(ALICE, taskId('t1'))).toEqual(rowOf(1, { last: seqOf(2) }));
        expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 10 })).toEqual(entriesOf(1, 2));
      }
      await store.commit(beside);
      expect(await store.task('any', taskId('t5'))).toBeDefined();
    });
  }

  check('commits many tasks at once', async (store) => {
    const many = Array.from({ length: 2000 }, (_, at) => aTask(at + 1, {}, 2));
    await store.commit(many);
    expect(await store.count({ owner: ALICE, agent: 'echo' })).toBe(2000);
    expect(await store.lastKey()).toBe(2000);
  });

  check('accepts an empty commit', async (store) => {
    await store.commit([]);
    expect(await store.lastKey()).toBe(0);
  });
}

export function besides(check: Check): void {
  const name: SendName = { owner: ALICE, agent: 'echo', token: 'id m1' };
  check('stores a send, replaces it by a later one, and marks it as delivered', async (store) => {
    await store.commit([aTask(1, {}, 1), aSend(1)]);
    expect(await store.send(name)).toEqual((aSend(1) as Extract<Write, { kind: 'send' }>).record);
    await store.commit([{ kind: 'delivered', name }]);
    expect(await store.send(name)).toMatchObject({ delivered: true, task: { key: 1, id: 't1', seq: 1 } });
    await store.commit([aTask(2, {}, 1), aSend(2, { token: 'id m1' })]);
    expect(await store.send(name)).toMatchObject({ delivered: false, task: { key: 2 } });
    await store.commit([{ kind: 'delivered', name: { ...name, token: 'id nobody' } }]);
    expect(await store.send({ ...name, token: 'id nobody' })).toBeUndefined();
  });

  check('applies a batch in its order', async (store) => {
    await store.commit([aTask(1, {}, 1), aSend(1)]);
    await store.commit([{ kind: 'delivered', name }, aTask(2, {}, 1), aSend(2, { token: 'id m1' })]);
    expect(await store.send(name)).toMatchObject({ delivered: false, task: { key: 2 } });
    await store.commit([{ kind: 'forget', task: 2 as TaskKey }, aSend(2, { token: 'id m1', answer: 'direct' })]);
    expect(await store.send(name)).toMatchObject({ answer: { parts: [{ text: 'direct' }] } });
    expect(await store.send(name)).not.toHaveProperty('task');
  });

  check('deletes the sends of a task with it, but not one that was replaced by a send to another task', async (store) => {
    await store.commit([aTask(1, {}, 1), aSend(1), aSend(1, { token: 'id more' }), aTask(2, {}, 1)]);
    await store.commit([aSend(2, { token: 'id m1' })]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await store.send({ ...name, token: 'id more' })).toBeUndefined();
    expect(await store.send(name)).toMatchObject({ task: { key: 2 } });
  });

  check('deletes old sends without a task', async (store) => {
    await store.commit([aTask(1, {}, 1), aSend(1, { at: 5 })]);
    await store.commit([aSend(0, { at: 10, answer: 'old', token: 'id old' }), aSend(0, { at: 20, answer: 'new', token: 'id new' })]);
    await store.commit([{ kind: 'forgetSends', before: 20 }]);
    expect(await store.send({ ...name, token: 'id old' })).toBeUndefined();
    expect(await store.send({ ...name, token: 'id new' })).toBeDefined();
    expect(await store.send(name)).toBeDefined();
  });

  check('keeps push configs in order, replaces one in its position, and accepts a second drop', async (store) => {
    const ids = async () => (await store.pushConfigs(1 as TaskKey)).map((row) => row.config.id as string);
    await store.commit([aTask(1, {}, 1), aPush(1, 'b'), aPush(1, 'a'), aPush(1, 'c'), aTask(2, {}, 1), aPush(2, 'z')]);
    expect(await ids()).toEqual(['b', 'a', 'c']);
    await store.commit([aPush(1, 'a', { url: 'https://example.com/new', after: 9 })]);
    expect(await ids()).toEqual(['b', 'a', 'c']);
    expect((await store.pushConfigs(1 as TaskKey))[1]).toMatchObject({
      config: { url: 'https://example.com/new' },
      after: 9,
      dialect: 'v10',
    });
    await store.commit([{ kind: 'unpush', task: 1 as TaskKey, id: pushConfigId('b') }]);
    await store.commit([{ kind: 'unpush', task: 1 as TaskKey, id: pushConfigId('b') }]);
    expect(await ids()).toEqual(['a', 'c']);
    expect(await store.pushConfigs(2 as TaskKey)).toHaveLength(1);
  });

  check('ignores writes about a task that does not exist', async (store) => {
    const nobody = 9 as TaskKey;
    await store.commit([aPush(9, 'p'), { kind: 'unpush', task: nobody, id: pushConfigId('p') }, { kind: 'forget', task: nobody }]);
    expect(await store.pushConfigs(nobody)).toEqual([]);
  });
}

export function leaving(check: Check): void {
  check('deletes a task with everything that belongs to it, and accepts a second delete', async (store) => {
    const row: Partial<TaskRow> = { alias: externalId('thread'), state: 'TASK_STATE_INPUT_REQUIRED' };
    await store.commit([aTask(1, row, 5), aSend(1), aPush(1, 'p'), aTask(2, {}, 2)]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await store.task('any', taskId('t1'))).toBeUndefined();
    expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 9 })).toEqual([]);
    expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 9, only: 'words' })).toEqual([]);
    expect(await store.pushConfigs(1 as TaskKey)).toEqual([]);
    expect(await store.send({ owner: ALICE, agent: 'echo', token: 'id m1' })).toBeUndefined();
    expect(await store.waiting({ owner: ALICE, agent: 'echo', contextId: contextId('c') }, 5)).toEqual([]);
    expect((await store.list({ owner: 'any', limit: 9 })).map((each) => each.key)).toEqual([2]);
    expect((await store.unfinished()).map((each) => each.key)).toEqual([2]);
    expect(await store.entries(2 as TaskKey, { after: seqOf(0), limit: 9 })).toHaveLength(2);
  });

  check('deletes what is left of an owner, and nothing of others', async (store) => {
    const direct = aSend(0, { answer: 'direct', token: 'id d' }) as Extract<Write, { kind: 'send' }>;
    const bobs: Write = { kind: 'send', record: { ...direct.record, owner: BOB } };
    await store.commit([aTask(1, {}, 600), aSend(1), direct, bobs, aTask(2, { owner: BOB }, 2)]);
    expect((await store.directAnswers(ALICE)).map(({ token }) => token)).toEqual(['id d']);
    await store.commit([{ kind: 'forgetOwner', owner: ALICE }]);
    expect(await store.directAnswers(ALICE)).toEqual([]);
    expect(await store.directAnswers(BOB)).toEqual([bobs.record]);
    // A task that is whole stays, with its sends: it came after the owner's tasks were deleted.
    expect(await store.send({ owner: ALICE, agent: 'echo', token: 'id m1' })).toBeDefined();
    await store.commit([
      { kind: 'forget', task: 1 as TaskKey },
      { kind: 'forgetOwner', owner: ALICE },
    ]);
    expect(await store.list({ owner: ALICE, limit: 9 })).toEqual([]);
    expect((await store.list({ owner: 'any', limit: 9 })).map((each) => each.key)).toEqual([2]);
    await store.commit([{ kind: 'forgetOwner', owner: ALICE }, aTask(3, {}, 1), aSend(3)]);
    await store.compact?.();
    expect((await store.list({ owner: ALICE, limit: 9 })).map((each) => each.key)).toEqual([3]);
    expect(await store.send({ owner: ALICE, agent: 'echo', token: 'id m3' })).toBeDefined();
    await store.commit([{ kind: 'forgetOwner', owner: { tenant: 'none', principal: 'nobody' } }]);
  });

  check('remembers the highest key, also of a deleted task', async (store) => {
    expect(await store.lastKey()).toBe(0);
    await store.commit([aTask(3, {}, 1), aTask(8, {}, 1)]);
    await store.commit([{ kind: 'forget', task: 8 as TaskKey }]);
    expect(await store.lastKey()).toBe(8);
  });

  check('lists unfinished, finished and waiting tasks', async (store) => {
    const states: readonly TaskState[] = [
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_AUTH_REQUIRED',
      'TASK_STATE_COMPLETED',
      'TASK_STATE_FAILED',
      'TASK_STATE_CANCELED',
      'TASK_STATE_REJECTED',
    ];
    await store.commit(states.map((state, at) => aTask(at + 1, { state, statusAt: 100 - at, owner: at % 2 === 0 ? ALICE : BOB }, 1)));
    expect((await store.unfinished()).map((row) => row.key).toSorted()).toEqual([1, 2, 3, 4]);
    expect(await store.finished()).toBe(4);
    const quiet = async (phase: 'finished' | 'waiting', before: number, limit = 9) =>
      (await store.quiet(phase, { before, limit })).map((row) => row.key as number);
    expect(await quiet('finished', 96)).toEqual([8, 7, 6]);
    expect(await quiet('finished', 97, 2)).toEqual([8, 7]);
    expect(await quiet('finished', Number.POSITIVE_INFINITY)).toEqual([8, 7, 6, 5]);
    expect(await quiet('waiting', 98)).toEqual([4]);
    expect(await quiet('waiting', 99)).toEqual([4, 3]);
    await store.commit([
      {
        kind: 'task',
        row: rowOf(3, { state: 'TASK_STATE_FAILED', last: seqOf(2) }),
        isNew: false,
        entries: entriesOf(2, 2) as readonly LogEntry[],
      },
    ]);
    expect(await store.finished()).toBe(5);
    expect((await store.unfinished()).map((row) => row.key).toSorted()).toEqual([1, 2, 4]);
  });
}
