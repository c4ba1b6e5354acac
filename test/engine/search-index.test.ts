import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import type { TaskKey } from '#engine';
import { seq } from '#protocol';
import type { SqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { found, saying } from '../contracts/search.ts';
import { scratchFolder } from '../support/scratch.ts';

const folder = scratchFolder();
let files = 0;

function open(path: string): SqliteStore {
  return openSqliteStore(path, { ballastBytes: 0, search: true });
}

function freshPath(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

/** All words in the index of a closed store. */
function wordsIn(path: string): readonly string[] {
  const db = new DatabaseSync(`${path}.search`);
  try {
    db.exec(`CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'said_0', 'row')`);
    return db
      .prepare('SELECT term FROM temp.terms')
      .all()
      .map((row) => String(row['term']));
  } finally {
    db.close();
  }
}

it('keeps no word of a deleted task in the file of the index once the store is compacted', async () => {
  const path = freshPath();
  let store = open(path);
  const others = Array.from({ length: 400 }, (_, at) => saying(at + 2, `common words and w${at}x`));
  await store.commit([saying(1, 'qzsecretword common'), ...others]);
  await found(store, 'common');
  await store.close();
  expect(wordsIn(path)).toContain('qzsecretword');
  expect(readFileSync(`${path}.search`).includes('qzsecretword')).toBe(true);

  store = open(path);
  await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
  await store.compact?.();
  for (const end of ['', '-wal']) expect(readFileSync(`${path}.search${end}`).includes('qzsecretword'), end).toBe(false);
  expect(await found(store, 'common w7x')).toEqual([9]);
  await store.close();
  expect(wordsIn(path)).not.toContain('qzsecretword');
});

it('removes the index of a store that is compacted without it, and makes it again', async () => {
  const path = freshPath();
  let store = open(path);
  await store.commit([saying(1, 'qzsecretword'), saying(2, 'kept')]);
  await found(store, 'kept');
  await store.close();

  store = openSqliteStore(path, { ballastBytes: 0 });
  expect(store.search).toBeUndefined();
  await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
  await store.compact?.();
  await store.close();
  expect(() => readFileSync(`${path}.search`)).toThrow('ENOENT');

  store = open(path);
  expect(await found(store, 'kept')).toEqual([2]);
  await store.close();
});

it('makes the index of an older store, and a damaged one, again', async () => {
  const path = freshPath();
  let store = openSqliteStore(path, { ballastBytes: 0 });
  await store.commit(Array.from({ length: 2500 }, (_, at) => saying(at + 1, `old n${at}`)));
  await store.close();
  for (const damage of [undefined, 'not a database', Buffer.alloc(20_000)]) {
    if (damage !== undefined) writeFileSync(`${path}.search`, damage);
    store = open(path);
    expect(await found(store, 'old n3 ')).toEqual([4]);
    expect(await found(store, 'old n2499 ')).toEqual([2500]);
    await store.close();
  }
});

it('searches tasks whose keys are far apart, the newest first, page by page', async () => {
  const store = open(freshPath());
  const keys = [1, 131_071, 131_072, 500_000, 2_000_000];
  await store.commit(keys.map((key) => saying(key, `common k${key}`)));
  expect(await found(store, 'common')).toEqual(keys.toReversed());
  expect(await found(store, 'comm*', { limit: 2 })).toEqual([2_000_000, 500_000]);
  expect(await found(store, 'common', { limit: 2, before: 500_000 as TaskKey })).toEqual([131_072, 131_071]);
  expect(await found(store, 'k1')).toEqual([1]);
  await store.commit([{ kind: 'forget', task: 131_072 as TaskKey }]);
  await store.compact?.();
  expect(await found(store, 'common')).toEqual([2_000_000, 500_000, 131_071, 1]);
  await store.close();
});

it('finds a finished task by what it says now, also if it was changed or deleted before it was indexed', async () => {
  const store = open(freshPath());
  const done = { state: 'TASK_STATE_COMPLETED' } as const;
  const many = Array.from({ length: 300 }, (_, at) => saying(at + 3, `many n${at}`, done));
  await store.commit([saying(1, 'first', done), saying(2, 'qzsecretword', done), ...many]);
  const { row, entries } = saying(1, 'second', { ...done, last: seq(2) });
  await store.commit([
    { kind: 'forget', task: 2 as TaskKey },
    { kind: 'task', row, isNew: false, entries: entries.map((entry) => ({ ...entry, seq: seq(2) })) },
  ]);
  expect(await found(store, 'first second')).toEqual([1]);
  expect(await found(store, 'many')).toHaveLength(100);
  expect(await found(store, 'n299')).toEqual([302]);
  expect(await found(store, 'qzsecretword')).toEqual([]);
  await store.close();
});

it('makes an index again in which a search finds damage', async () => {
  const path = freshPath();
  let store = open(path);
  await store.commit(Array.from({ length: 2000 }, (_, at) => saying(at + 1, `some words n${at}`)));
  await found(store, 'words');
  await store.close();
  // The index is marked as complete, so only a search reads these pages.
  const file = `${path}.search`;
  const bytes = readFileSync(file);
  writeFileSync(file, Buffer.concat([bytes.subarray(0, 8 * 4096), Buffer.alloc(bytes.length - 8 * 4096, 0x5a)]));

  store = open(path);
  await expect(found(store, 'n7')).rejects.toThrow('the search index can’t be read now');
  expect(await found(store, 'n7')).toEqual([8]);
  await store.close();
});

it('follows a database that was replaced by an older copy of it', async () => {
  const path = freshPath();
  let store = open(path);
  await store.commit([saying(1, 'first')]);
  await store.close();
  copyFileSync(path, `${path}.copy`);
  store = open(path);
  await store.commit([saying(2, 'second')]);
  expect(await found(store, 'second')).toEqual([2]);
  await store.close();

  copyFileSync(`${path}.copy`, path);
  store = openSqliteStore(path, { ballastBytes: 0, search: true, acceptLoss: true });
  await store.commit([saying(2, 'another')]);
  expect(await found(store, 'second')).toEqual([]);
  expect(await found(store, 'another')).toEqual([2]);
  expect(await found(store, 'first')).toEqual([1]);
  await store.close();
});

it('reports no trouble when a store closes', async () => {
  const reports: string[] = [];
  const store = openSqliteStore(freshPath(), { ballastBytes: 0, search: true, report: (what) => void reports.push(what) });
  await store.commit([saying(1, 'words')]);
  await found(store, 'words');
  await store.close();
  expect(reports).toEqual([]);
});
