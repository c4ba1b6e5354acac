import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStoreOn } from '../../src/engine/adapters/postgres.ts';
import { searchTerms } from '../../src/engine/search/terms.ts';
import { eventually } from '../support/eventually.ts';
import { InProcessPostgres } from '../support/pglite.ts';
import { rowOf, seqOf } from './rows.ts';
import { found, saying } from './search.ts';
import { storeContract } from './store.ts';

const server = new InProcessPostgres();
beforeAll(() => server.ready(), 120_000);
afterAll(() => server.close());

let schemas = 0;

it('keeps no index with search: false, and makes it later', async () => {
  const schema = 'unsearched';
  let store = await openStoreOn(server.database(), { schema, search: false });
  expect(store.search).toBeUndefined();
  await store.commit([saying(1, 'written without an index')]);
  await store.close();
  store = await openStoreOn(server.database(), { schema });
  expect(await found(store, 'without')).toEqual([1]);
  await store.close();
});

it('indexes a task again that changes while it is being indexed', async () => {
  const database = server.database();
  let change: (() => Promise<void>) | undefined;
  const read: typeof database.read = async (sql, values) => {
    const due = sql.name === 'search-put' ? change : undefined;
    if (due !== undefined) change = undefined;
    await due?.();
    return database.read(sql, values);
  };
  const store = await openStoreOn({ ...database, read }, { schema: 'changing' });
  await store.commit([saying(1, 'before')]);
  change = async () => {
    const { entries } = saying(1, 'after');
    await store.commit([
      { kind: 'task', row: rowOf(1, { last: seqOf(2) }), isNew: false, entries: entries.map((entry) => ({ ...entry, seq: seqOf(2) })) },
    ]);
  };
  expect(await found(store, 'before after')).toEqual([1]);
  expect(change).toBeUndefined();
  await store.close();
});

it('indexes a long task when its run ends, and not at each commit', async () => {
  const store = await openStoreOn(server.database(), { schema: 'growing' });
  const keysWith = async (text: string): Promise<readonly number[]> =>
    ((await store.search?.find({ owner: 'any', limit: 10, terms: searchTerms(text) })) ?? []).map(({ key }) => key);
  const { entries, row } = saying(1, 'streamed');
  const long = { ...row, last: seqOf(100) };
  const log = Array.from({ length: 100 }, (_, at) => ({ ...entries[0], seq: seqOf(at + 1) })) as typeof entries;
  await store.commit([{ kind: 'task', row: long, isNew: true, entries: log }, saying(2, 'short')]);
  await eventually(async () => expect(await keysWith('short')).toEqual([2]));
  expect(await keysWith('streamed')).toEqual([]);
  await store.commit([{ kind: 'task', row: { ...long, state: 'TASK_STATE_COMPLETED' }, isNew: false, entries: [] }]);
  await eventually(async () => expect(await keysWith('streamed')).toEqual([1]));
  await store.close();
});

storeContract({
  name: 'postgres, in this process',
  // Each of them makes hundreds of queries. The real server compares more.
  histories: 2,
  open: () => {
    schemas += 1;
    return openStoreOn(server.database(), { schema: `store-${schemas}` });
  },
  reopen: async (store) => {
    await store.close();
    return openStoreOn(server.database(), { schema: `store-${schemas}` });
  },
});
