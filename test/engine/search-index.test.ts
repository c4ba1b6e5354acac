import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import type { TaskKey } from '#engine';
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
    db.exec(`CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'said', 'row')`);
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
