import { expect } from 'vitest';
import type { ListFilter, LogEntry, SearchQuery, Store, TaskKey, TaskRow, Write } from '#engine';
import type { TaskEvent, TaskState } from '#protocol';
import { artifactId, contextId, messageId, seq, taskId } from '#protocol';
import { searchTerms } from '../../src/engine/search/terms.ts';
import type { Check } from './check.ts';
import { ALICE, BOB, rowOf } from './rows.ts';

const OF = { taskId: taskId('t'), contextId: contextId('c') };

/** The keys of the tasks that a search finds, as soon as everything is indexed. */
export async function found(store: Store, text: string, more: Partial<SearchQuery> = {}): Promise<readonly number[]> {
  const { search } = store;
  if (search === undefined) throw new Error('the store has no search');
  await search.settled();
  return (await search.find({ owner: 'any', limit: 100, terms: searchTerms(text), ...more })).map(({ key }) => key);
}

function entry(at: number, event: TaskEvent, more: Omit<LogEntry, 'seq' | 'event'> = {}): LogEntry {
  return { seq: seq(at), event, ...more };
}

function words(at: number, text: string, state: TaskState = 'TASK_STATE_WORKING'): LogEntry {
  const message = { messageId: messageId(`m${at}`), role: 'ROLE_AGENT', parts: [{ text }] } as const;
  return entry(at, { statusUpdate: { ...OF, status: { state, message, timestamp: '2026-01-01T00:00:00.000Z' } } });
}

function chunk(at: number, text: string, append: boolean): LogEntry {
  return entry(at, { artifactUpdate: { ...OF, append, artifact: { artifactId: artifactId('a'), parts: [{ text }] } } });
}

/** A new task with a text. */
export function saying(
  key: number,
  said: string | readonly LogEntry[],
  more: Partial<TaskRow> = {},
): Extract<Write, { readonly kind: 'task' }> {
  const entries = typeof said === 'string' ? [words(1, said)] : said;
  return { kind: 'task', row: rowOf(key, { last: seq(entries.length), ...more }), isNew: true, entries };
}

export function searchContract(check: Check): void {
  check('finds tasks with all words, whatever their case and accents', async (store) => {
    await store.commit([saying(1, 'The INVOICE of Café Zoë'), saying(2, 'an invoice, overdue!'), saying(3, 'nothing here')]);
    expect(await found(store, 'invoice')).toEqual([2, 1]);
    expect(await found(store, 'Cafe invoice')).toEqual([1]);
    expect(await found(store, 'ZOË')).toEqual([1]);
    expect(await found(store, 'invoic')).toEqual([]);
    expect(await found(store, 'invoice absent')).toEqual([]);
  });

  check('finds phrases, starts of words and words with signs in them', async (store) => {
    await store.commit([saying(1, 'red green blue order_id a-17'), saying(2, 'green red blueberry'), saying(3, '東京の天気 Grün')]);
    expect(await found(store, '"red green"')).toEqual([1]);
    expect(await found(store, '"green red')).toEqual([2, 1]);
    expect(await found(store, 'blue*')).toEqual([2, 1]);
    expect(await found(store, '"red blu"*')).toEqual([2]);
    expect(await found(store, 'order_id')).toEqual([1]);
    expect(await found(store, 'A-17')).toEqual([1]);
    expect(await found(store, 'id_order')).toEqual([]);
    expect(await found(store, '京の')).toEqual([3]);
    expect(await found(store, '京東')).toEqual([]);
    expect(await found(store, 'grun*')).toEqual([3]);
  });

  check('finds what callers wrote and what artifacts hold, over the borders of chunks', async (store) => {
    const input = {
      messageId: messageId('m'),
      role: 'ROLE_USER',
      parts: [{ text: 'first words' }, { data: { hidden: 'datum' } }],
    } as const;
    const task = { id: taskId('t1'), contextId: contextId('c'), status: { state: 'TASK_STATE_WORKING' as const }, history: [input] };
    const later = { ...input, parts: [{ text: 'second question' }] };
    const log = [
      entry(1, { task }),
      chunk(2, 'an ans', false),
      chunk(3, 'wer in pieces', true),
      entry(4, words(4, 'ask more').event, { input: later }),
      entry(5, chunk(5, 'blob:feedface', true).event, { spilled: [0] }),
    ];
    await store.commit([saying(1, log)]);
    for (const text of ['first', 'answer', '"answer in pieces"', 'second', 'ask']) expect(await found(store, text), text).toEqual([1]);
    for (const text of ['wer', 'feedface', 'datum']) expect(await found(store, text), text).toEqual([]);
  });

  check('follows changed and deleted tasks', async (store) => {
    await store.commit([saying(1, 'apples'), saying(2, 'apples')]);
    expect(await found(store, 'apples')).toEqual([2, 1]);
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seq(2) }), isNew: false, entries: [words(2, 'pears')] }]);
    expect(await found(store, 'apples pears')).toEqual([1]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await found(store, 'apples')).toEqual([2]);
    await store.compact?.();
    expect(await found(store, 'apples')).toEqual([2]);
  });

  check('finds tasks that one commit makes and finishes, also if they change or end before they are indexed', async (store) => {
    const done = { state: 'TASK_STATE_COMPLETED' } as const;
    const log = [
      words(1, 'question'),
      chunk(2, 'an ans', false),
      chunk(3, 'wer', true),
      entry(4, chunk(4, 'blob', true).event, { spilled: [0] }),
    ];
    await store.commit([saying(1, log, done), saying(2, 'plums', done), saying(3, 'plums', done)]);
    await store.commit([{ kind: 'task', row: rowOf(2, { last: seq(2), ...done }), isNew: false, entries: [words(2, 'cherries')] }]);
    await store.commit([{ kind: 'forget', task: 3 as TaskKey }]);
    expect(await found(store, 'question answer')).toEqual([1]);
    expect(await found(store, 'blob')).toEqual([]);
    expect(await found(store, 'plums')).toEqual([2]);
    expect(await found(store, 'cherries')).toEqual([2]);
  });

  check('pages through a search, the newest task first', async (store) => {
    await store.commit(Array.from({ length: 30 }, (_, at) => saying(at + 1, `word${at % 2} shared`)));
    const pages: number[][] = [];
    for (let before: TaskKey | undefined; ; ) {
      const page = await found(store, 'shared word1', { limit: 4, ...(before === undefined ? {} : { before }) });
      if (page.length === 0) break;
      pages.push([...page]);
      before = page.at(-1) as TaskKey;
    }
    expect(pages.flat()).toEqual(Array.from({ length: 15 }, (_, at) => 30 - 2 * at));
    expect(pages.map((page) => page.length)).toEqual([4, 4, 4, 3]);
  });

  check('shows nobody a task that a list would not show', async (store) => {
    const owners = [ALICE, BOB, { tenant: 'acme', principal: 'alice' }, { tenant: 'acme', principal: 'carol' }];
    const states = ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'] as const;
    const batch = Array.from({ length: 32 }, (_, at) =>
      saying(at + 1, 'needle', {
        owner: owners[at % 4] ?? ALICE,
        agent: at % 3 === 0 ? 'echo' : 'other',
        contextId: contextId(`c${at % 5}`),
        state: states[at % 2] ?? 'TASK_STATE_WORKING',
        statusAt: 1000 + at,
      }),
    );
    await store.commit(batch);
    const filters: readonly ListFilter[] = [
      ...owners.map((owner) => ({ owner })),
      ...owners.map((owner) => ({ owner, agent: 'echo' })),
      { owner: 'any' },
      { owner: { tenant: 'acme' } },
      { owner: { tenant: '' }, agent: 'other' },
      { owner: { tenant: 'nobody' } },
      { owner: { tenant: 'acme', principal: 'bob' } },
      { owner: 'any', agent: 'echo' },
      { owner: 'any', contextId: contextId('c3') },
      { owner: ALICE, contextId: contextId('c0'), state: 'TASK_STATE_WORKING' },
      { owner: 'any', state: 'TASK_STATE_COMPLETED' },
      { owner: 'any', state: 'TASK_STATE_COMPLETED', statusFrom: 1020 },
      { owner: BOB, statusFrom: 1010 },
    ];
    for (const filter of filters) {
      const listed = (await store.list({ ...filter, limit: 100 })).map(({ key }) => key);
      expect(await found(store, 'needle', filter), JSON.stringify(filter)).toEqual(listed.sort((left, right) => right - left));
      expect(await found(store, 'needle', { ...filter, limit: 3 })).toEqual(listed.slice(0, 3));
    }
  });

  check('takes any text for words, and never for operators', async (store) => {
    await store.commit([saying(1, 'alpha AND beta OR NOT near scope words title col'), saying(2, 'x\u0000y \ud83d 😀 gamma')]);
    const pieces = [
      '"',
      '*',
      '(',
      ')',
      'AND',
      'NOT',
      'OR',
      'NEAR(',
      'scope:',
      'words :',
      '{col}',
      '^',
      '+',
      "'",
      '\\',
      ':*',
      '<->',
      '!',
      '&',
      '|',
      '%',
      ';--',
      '\u0000',
      '\ud83d',
      '😀',
      'alpha',
      '-alpha',
      'ﷺ',
      '½',
      'İ',
    ];
    let seed = 7;
    const pick = (): string => {
      seed = (seed * 48_271) % 2_147_483_647;
      return pieces[seed % pieces.length] ?? '';
    };
    for (let n = 0; n < 150; n += 1) {
      const text = `alpha ${pick()} ${pick()}${pick()} ${pick()}`;
      expect(await found(store, text), text).not.toContain(2);
    }
    expect(await found(store, 'alpha AND beta')).toEqual([1]);
    expect(await found(store, 'alpha NOT beta')).toEqual([1]);
    expect(await found(store, 'gamma OR alpha')).toEqual([]);
    expect(await found(store, 'x y gamma')).toEqual([2]);
  });
}
