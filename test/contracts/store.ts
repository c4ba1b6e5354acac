import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Entry, ListFilter, Owner, SendName, Store, TaskKey, TaskRow, Write } from '#engine';
import type { TaskState } from '#protocol';
import { contextId, externalId, pushConfigId, taskId } from '#protocol';
import { anOutbox, outboxContract } from './outbox.ts';
import { ALICE, aPush, aSend, aTask, BOB, entriesOf, history, rowOf, seqOf } from './rows.ts';
import { storeModel } from './store-model.ts';

/** One suite for every store. A skipped test says why. */
export interface StoreContract {
  readonly name: string;
  readonly open: () => Store | Promise<Store>;
  /** Closes the store and opens what it left behind. Absent: it leaves nothing behind. */
  readonly reopen?: (store: Store) => Store | Promise<Store>;
  readonly skip: readonly { readonly test: string; readonly reason: string }[];
}

export function storeContract({ name, open, reopen, skip }: StoreContract): void {
  const check = (test: string, run: (store: Store) => Promise<void>): void => {
    const left = skip.find((each) => each.test === test);
    if (left === undefined) it(test, () => run(store));
    else it.skip(`${test} (not here: ${left.reason})`, () => {});
  };
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(async () => {
    await store.close();
  });

  describe(`the store contract: ${name}`, () => {
    commits(check);
    owners(check);
    lists(check);
    logs(check);
    besides(check);
    leaving(check);
    outboxContract(check);
    check('keeps everything when it is closed and opened again', async () => {
      if (reopen === undefined) throw new Error('a store that can be reopened says how, and one that cannot skips this');
      await store.commit([aTask(1, { alias: externalId('thread') }, 3), aSend(1), aPush(1, 'p'), anOutbox(5, 1, 'p')]);
      const before = await everythingOf(store);
      store = await reopen(store);
      expect(await everythingOf(store)).toEqual(before);
      await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(4) }), isNew: false, entries: entriesOf(4, 4) }]);
    });
    storeModel(() => store);
  });
}

export type Check = (test: string, run: (store: Store) => Promise<void>) => void;

async function everythingOf(store: Store): Promise<unknown> {
  return {
    last: await store.lastKey(),
    row: await store.task('any', taskId('t1')),
    entries: await store.entries(1 as TaskKey, { after: seqOf(0), limit: 100 }),
    words: await store.entries(1 as TaskKey, { after: seqOf(0), limit: 100, only: 'words' }),
    alias: await store.byAlias(ALICE, 'echo', externalId('thread')),
    send: await store.send({ owner: ALICE, agent: 'echo', token: 'id m1' }),
    pushes: await store.pushConfigs(1 as TaskKey),
    outbox: [await store.outbox({ limit: 10 }), await store.outboxStats()],
    list: await store.list({ owner: ALICE, agent: 'echo', limit: 10 }),
    unfinished: await store.unfinished(),
  };
}

function commits(check: Check): void {
  check('keeps a task with its log', async (store) => {
    await store.commit([aTask(7, { alias: externalId('thread'), bytes: 12, attempt: 1 }, 3)]);
    expect(await store.task(ALICE, taskId('t7'))).toEqual(rowOf(7, { alias: externalId('thread'), bytes: 12, attempt: 1, last: seqOf(3) }));
    expect(await store.entries(7 as TaskKey, { after: seqOf(0), limit: 10 })).toEqual(entriesOf(1, 3));
    expect(await store.lastKey()).toBe(7);
  });

  check('goes on with a log, and changes a row without one', async (store) => {
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
    check(`refuses ${what}, and all that comes with it`, async (store) => {
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

  check('takes many tasks at once', async (store) => {
    const many = Array.from({ length: 2000 }, (_, at) => aTask(at + 1, {}, 2));
    await store.commit(many);
    expect(await store.count({ owner: ALICE, agent: 'echo' })).toBe(2000);
    expect(await store.lastKey()).toBe(2000);
  });

  check('an empty commit is one too', async (store) => {
    await store.commit([]);
    expect(await store.lastKey()).toBe(0);
  });
}

const STRANGERS: readonly Owner[] = [
  BOB,
  { tenant: 'acme', principal: 'alice' },
  { tenant: 'al', principal: 'ice' },
  { tenant: '', principal: 'alic' },
  { tenant: 'alice', principal: '' },
];

function owners(check: Check): void {
  check('shows a task to its owner and to operators, and to nobody else', async (store) => {
    const state: TaskState = 'TASK_STATE_INPUT_REQUIRED';
    await store.commit([aTask(1, { alias: externalId('thread'), state }, 1), aSend(1)]);
    const seenBy = async (owner: Owner): Promise<readonly unknown[]> => [
      await store.task(owner, taskId('t1')),
      await store.byAlias(owner, 'echo', externalId('thread')),
      (await store.waiting({ owner, agent: 'echo', contextId: contextId('c') }, 5))[0],
      await store.send({ owner, agent: 'echo', token: 'id m1' }),
      (await store.list({ owner, agent: 'echo', limit: 5 }))[0],
      (await store.list({ owner, agent: 'echo', contextId: contextId('c'), limit: 5 }))[0],
      (await store.list({ owner, agent: 'echo', state, limit: 5 }))[0],
      (await store.count({ owner, agent: 'echo' })) === 0 ? undefined : 1,
    ];
    for (const seen of await seenBy(ALICE)) expect(seen).toBeDefined();
    for (const stranger of STRANGERS) for (const seen of await seenBy(stranger)) expect(seen).toBeUndefined();
    expect(await store.task('any', taskId('t1'))).toBeDefined();
    expect(await store.list({ owner: 'any', limit: 5 })).toHaveLength(1);
    expect(await store.count({ owner: 'any' })).toBe(1);
  });

  check('keeps agents apart', async (store) => {
    await store.commit([aTask(1, { alias: externalId('thread'), state: 'TASK_STATE_AUTH_REQUIRED' }, 1), aSend(1)]);
    expect(await store.byAlias(ALICE, 'other', externalId('thread'))).toBeUndefined();
    expect(await store.waiting({ owner: ALICE, agent: 'other', contextId: contextId('c') }, 5)).toEqual([]);
    expect(await store.send({ owner: ALICE, agent: 'other', token: 'id m1' })).toBeUndefined();
    expect(await store.list({ owner: ALICE, agent: 'other', limit: 5 })).toEqual([]);
    expect(await store.list({ owner: ALICE, limit: 5 })).toHaveLength(1);
  });

  check('finds the newest task of a name, and the one before when that is gone', async (store) => {
    const alias = externalId('thread');
    await store.commit([aTask(1, { alias }, 1), aTask(2, { alias }, 1), aTask(3, {}, 1)]);
    await store.commit([aTask(4, { alias, owner: BOB }, 1)]);
    await store.commit([
      { kind: 'task', row: rowOf(1, { alias, last: seqOf(2), statusAt: 9999 }), isNew: false, entries: entriesOf(2, 2) },
    ]);
    expect((await store.byAlias(ALICE, 'echo', alias))?.key).toBe(2);
    await store.commit([{ kind: 'forget', task: 2 as TaskKey }]);
    expect((await store.byAlias(ALICE, 'echo', alias))?.key).toBe(1);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await store.byAlias(ALICE, 'echo', alias)).toBeUndefined();
  });

  check('knows which tasks of a context wait, and forgets it when they no longer do', async (store) => {
    const waiting = (limit = 5) => store.waiting({ owner: ALICE, agent: 'echo', contextId: contextId('c') }, limit);
    await store.commit([
      aTask(1, { state: 'TASK_STATE_INPUT_REQUIRED' }, 1),
      aTask(2, { state: 'TASK_STATE_AUTH_REQUIRED' }, 1),
      aTask(3, { state: 'TASK_STATE_WORKING' }, 1),
      aTask(4, { state: 'TASK_STATE_COMPLETED' }, 1),
      aTask(5, { state: 'TASK_STATE_INPUT_REQUIRED', contextId: contextId('d') }, 1),
    ]);
    expect((await waiting()).map((row) => row.key).toSorted()).toEqual([1, 2]);
    expect(await waiting(1)).toHaveLength(1);
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(2) }), isNew: false, entries: entriesOf(2, 2) }]);
    expect((await waiting()).map((row) => row.key)).toEqual([2]);
    await store.commit([{ kind: 'forget', task: 2 as TaskKey }]);
    expect(await waiting()).toEqual([]);
  });
}

function lists(check: Check): void {
  const keys = async (store: Store, filter: Partial<ListFilter> & { after?: readonly [number, number]; limit?: number } = {}) => {
    const { after, limit = 100, ...rest } = filter;
    const place = after === undefined ? {} : { after: { statusAt: after[0], key: after[1] as TaskKey } };
    return (await store.list({ owner: ALICE, agent: 'echo', ...rest, ...place, limit })).map((row) => row.key as number);
  };

  check('lists newest status first, and among equals the highest key', async (store) => {
    await store.commit([
      aTask(1, { statusAt: 20 }, 1),
      aTask(2, { statusAt: 10 }, 1),
      aTask(3, { statusAt: 20 }, 1),
      aTask(4, { statusAt: 15 }, 1),
    ]);
    expect(await keys(store)).toEqual([3, 1, 4, 2]);
    expect(await keys(store, { limit: 2 })).toEqual([3, 1]);
    expect(await keys(store, { after: [20, 3] })).toEqual([1, 4, 2]);
    expect(await keys(store, { after: [20, 2] })).toEqual([1, 4, 2]);
    expect(await keys(store, { after: [20, 1] })).toEqual([4, 2]);
    expect(await keys(store, { after: [10, 1] })).toEqual([]);
    expect(await keys(store, { after: [99, 1] })).toEqual([3, 1, 4, 2]);
  });

  check('lists by context, by state and from a time on, which is inclusive', async (store) => {
    const [other, completed] = [contextId('d'), 'TASK_STATE_COMPLETED' as const];
    await store.commit([
      aTask(1, { statusAt: 10 }, 1),
      aTask(2, { statusAt: 20, contextId: other }, 1),
      aTask(3, { statusAt: 30, state: completed }, 1),
      aTask(4, { statusAt: 40, contextId: other, state: completed }, 1),
    ]);
    expect(await keys(store, { contextId: other })).toEqual([4, 2]);
    expect(await keys(store, { state: completed })).toEqual([4, 3]);
    expect(await keys(store, { contextId: other, state: completed })).toEqual([4]);
    expect(await keys(store, { statusFrom: 30 })).toEqual([4, 3]);
    expect(await keys(store, { statusFrom: 31, after: [40, 4] })).toEqual([]);
    expect(await keys(store, { contextId: contextId('e') })).toEqual([]);
    for (const filter of [{}, { contextId: other }, { state: completed }, { statusFrom: 20 }, { contextId: other, state: completed }]) {
      expect(await store.count({ owner: ALICE, agent: 'echo', ...filter })).toBe((await keys(store, filter)).length);
    }
  });

  check('moves a task when its status changes, and not when only its log grows', async (store) => {
    await store.commit([aTask(1, { statusAt: 10 }, 1), aTask(2, { statusAt: 20 }, 1)]);
    await store.commit([{ kind: 'task', row: rowOf(1, { statusAt: 10, last: seqOf(2) }), isNew: false, entries: entriesOf(2, 2) }]);
    expect(await keys(store)).toEqual([2, 1]);
    await store.commit([{ kind: 'task', row: rowOf(1, { statusAt: 30, last: seqOf(3) }), isNew: false, entries: entriesOf(3, 3) }]);
    expect(await keys(store)).toEqual([1, 2]);
    await store.commit([{ kind: 'task', row: rowOf(1, { statusAt: 5, last: seqOf(4) }), isNew: false, entries: entriesOf(4, 4) }]);
    expect(await keys(store)).toEqual([2, 1]);
    expect(await store.count({ owner: ALICE, agent: 'echo' })).toBe(2);
  });
}

function logs(check: Check): void {
  check('reads a log in pages, from any place', async (store) => {
    await store.commit([aTask(1, {}, 10), aTask(2, {}, 3)]);
    const read = async (after: number, limit: number) =>
      (await store.entries(1 as TaskKey, { after: seqOf(after), limit })).map((entry) => entry.seq as number);
    expect(await read(0, 4)).toEqual([1, 2, 3, 4]);
    expect(await read(4, 4)).toEqual([5, 6, 7, 8]);
    expect(await read(8, 4)).toEqual([9, 10]);
    expect(await read(10, 4)).toEqual([]);
    expect(await read(99, 4)).toEqual([]);
    expect(await store.entries(3 as TaskKey, { after: seqOf(0), limit: 4 })).toEqual([]);
  });

  check('reads the words of a log without its artifacts', async (store) => {
    const entries = history();
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(entries.length) }), isNew: true, entries }]);
    const words = entries.filter((entry) => entry.event.artifactUpdate === undefined);
    const read = (after: number, limit: number) => store.entries(1 as TaskKey, { after: seqOf(after), limit, only: 'words' });
    expect(words.length).toBeLessThan(entries.length);
    expect(await read(0, 100)).toEqual(words);
    expect(await read(1, 2)).toEqual(words.filter((entry) => entry.seq > 1).slice(0, 2));
    expect(await read(entries.length, 10)).toEqual([]);
  });

  check('gives back every entry as it was', async (store) => {
    const entries = history();
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(entries.length) }), isNew: true, entries }]);
    expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 100 })).toStrictEqual(entries);
  });
}

function besides(check: Check): void {
  const name: SendName = { owner: ALICE, agent: 'echo', token: 'id m1' };
  check('remembers a send, replaces it by a later one, and marks it as delivered', async (store) => {
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

  check('forgets the sends of a task with it, but not one that has gone elsewhere since', async (store) => {
    await store.commit([aTask(1, {}, 1), aSend(1), aSend(1, { token: 'id more' }), aTask(2, {}, 1)]);
    await store.commit([aSend(2, { token: 'id m1' })]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await store.send({ ...name, token: 'id more' })).toBeUndefined();
    expect(await store.send(name)).toMatchObject({ task: { key: 2 } });
  });

  check('forgets old sends that left no task', async (store) => {
    await store.commit([aTask(1, {}, 1), aSend(1, { at: 5 })]);
    await store.commit([aSend(0, { at: 10, answer: 'old', token: 'id old' }), aSend(0, { at: 20, answer: 'new', token: 'id new' })]);
    await store.commit([{ kind: 'forgetSends', before: 20 }]);
    expect(await store.send({ ...name, token: 'id old' })).toBeUndefined();
    expect(await store.send({ ...name, token: 'id new' })).toBeDefined();
    expect(await store.send(name)).toBeDefined();
  });

  check('keeps push configs in their order, replaces one in its place, and drops one twice', async (store) => {
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

  check('takes no notice of what is said about a task that is not there', async (store) => {
    const nobody = 9 as TaskKey;
    await store.commit([aPush(9, 'p'), { kind: 'unpush', task: nobody, id: pushConfigId('p') }, { kind: 'forget', task: nobody }]);
    expect(await store.pushConfigs(nobody)).toEqual([]);
  });
}

function leaving(check: Check): void {
  check('forgets a task whole, and twice as well as once', async (store) => {
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

  check('remembers the highest key, also of a task that is gone', async (store) => {
    expect(await store.lastKey()).toBe(0);
    await store.commit([aTask(3, {}, 1), aTask(8, {}, 1)]);
    await store.commit([{ kind: 'forget', task: 8 as TaskKey }]);
    expect(await store.lastKey()).toBe(8);
  });

  check('tells the unfinished from the finished', async (store) => {
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
        entries: entriesOf(2, 2) as readonly Entry[],
      },
    ]);
    expect(await store.finished()).toBe(5);
    expect((await store.unfinished()).map((row) => row.key).toSorted()).toEqual([1, 2, 4]);
  });
}
