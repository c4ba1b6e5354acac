import { expect } from 'vitest';
import type { EntryRange, ListFilter, LogEntry, Owner, Store, TaskKey } from '#engine';
import type { TaskState } from '#protocol';
import { artifactId, contextId, externalId, taskId } from '#protocol';
import type { Check } from './check.ts';
import { ALICE, aSend, aTask, BOB, entriesOf, history, rowOf, seqOf } from './rows.ts';

const STRANGERS: readonly Owner[] = [
  BOB,
  { tenant: 'acme', principal: 'alice' },
  { tenant: 'al', principal: 'ice' },
  { tenant: '', principal: 'alic' },
  { tenant: 'alice', principal: '' },
];

export function owners(check: Check): void {
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

  check('finds the newest task with an alias, and the one before it when that is deleted', async (store) => {
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

  check('lists the waiting tasks of a context, and only while they wait', async (store) => {
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

export function lists(check: Check): void {
  const keys = async (store: Store, filter: Partial<ListFilter> & { after?: readonly [number, number]; limit?: number } = {}) => {
    const { after, limit = 100, ...rest } = filter;
    const place = after === undefined ? {} : { after: { statusAt: after[0], key: after[1] as TaskKey } };
    return (await store.list({ owner: ALICE, agent: 'echo', ...rest, ...place, limit })).map((row) => row.key as number);
  };

  check('lists by status time, newest first, then by key, highest first', async (store) => {
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

  check('lists by context, by state and from an inclusive time on', async (store) => {
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

export function logs(check: Check): void {
  check('reads a log in pages, from any position', async (store) => {
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

  check('returns every entry unchanged', async (store) => {
    const entries = history();
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(entries.length) }), isNew: true, entries }]);
    expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 100 })).toStrictEqual(entries);
  });

  check('reads a log that many commits wrote, from any position and in pages of any size', async (store) => {
    const entries = longLog(1400);
    const isWord = ({ event }: LogEntry): boolean => event.artifactUpdate === undefined;
    let last = 0;
    for (const length of [1, 2, 300, 1, 5, 600, 90, 401]) {
      const row = rowOf(1, { last: seqOf(last + length) });
      await store.commit([{ kind: 'task', row, isNew: last === 0, entries: entries.slice(last, last + length) }]);
      last += length;
    }
    const read = (after: number, more: Omit<EntryRange, 'after'>) => store.entries(1 as TaskKey, { after: seqOf(after), ...more });
    for (const after of [0, 1, 2, 3, 258, 259, 303, 304, 900, 1399, 1400]) {
      for (const limit of [1, 2, 100, 5000]) {
        const rest = entries.slice(after);
        expect(await read(after, { limit })).toEqual(rest.slice(0, limit));
        expect(await read(after, { limit, only: 'words' })).toEqual(rest.filter(isWord).slice(0, limit));
      }
    }
  });

  check('ends a page at its size, after one entry or more and without a gap', async (store) => {
    const entries = longLog(1000);
    const row = rowOf(1, { last: seqOf(1000) });
    await store.commit([{ kind: 'task', row: { ...row, last: seqOf(400) }, isNew: true, entries: entries.slice(0, 400) }]);
    await store.commit([{ kind: 'task', row, isNew: false, entries: entries.slice(400) }]);
    for (const only of [undefined, 'words'] as const) {
      const found: LogEntry[] = [];
      let pages = 0;
      for (let page: readonly LogEntry[] = []; ; pages += 1) {
        const range = { after: found.at(-1)?.seq ?? seqOf(0), limit: 1000, bytesMax: 100 };
        page = await store.entries(1 as TaskKey, only === undefined ? range : { ...range, only });
        if (page.length === 0) break;
        found.push(...page);
      }
      expect(found).toEqual(entries.filter(({ event }) => only === undefined || event.artifactUpdate === undefined));
      expect(pages).toBeGreaterThan(1);
    }
  });

  check('keeps entries as they were, whatever happens to the objects it got', async (store) => {
    const [entry] = entriesOf(1, 1);
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(1) }), isNew: true, entries: [entry as LogEntry] }]);
    Object.assign(entry?.event.statusUpdate?.status ?? {}, { state: 'TASK_STATE_FAILED' });
    expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 1 })).toEqual(entriesOf(1, 1));
  });
}

/** Chunks, with words in every tenth place. */
function longLog(length: number): readonly LogEntry[] {
  return Array.from({ length }, (_, at): LogEntry => {
    const [word] = entriesOf(at + 1, at + 1);
    if (word !== undefined && at % 10 === 0) return word;
    const artifact = { artifactId: artifactId('a'), parts: [{ text: `chunk ${at}` }] };
    return { seq: seqOf(at + 1), event: { artifactUpdate: { taskId: taskId('t1'), contextId: contextId('c'), artifact, append: true } } };
  });
}
