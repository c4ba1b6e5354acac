import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { saying } from '../../../../../test/contracts/search.ts';
import { scratchFolder } from '../../../../../test/support/scratch.ts';
import { openSqliteStore } from '../../sqlite.ts';
import { openIndexFile, openIndexReader } from './index-file.ts';
import { createIndexer } from './indexer.ts';
import type { CommittedTask } from './unindexed-tasks.ts';
import { committedTask, UnindexedTasks } from './unindexed-tasks.ts';

const folder = scratchFolder();
const DONE = { state: 'TASK_STATE_COMPLETED' } as const;
const HEAD = 'a'.repeat(32);
const handed = (text: string): CommittedTask => ({
  tenant: 't',
  principal: 'p',
  agent: 'a',
  context: 'c',
  state: 5,
  status_at: 1,
  head: HEAD,
  text,
});

describe('a task for the index', () => {
  it('has its text if one commit created and finished it', () => {
    expect(committedTask(saying(1, 'some words', DONE), new Map([[1, HEAD]]))).toMatchObject({ head: HEAD, text: 'some words', state: 5 });
  });

  it('has to be read if it is not finished, was there before, or is long', () => {
    const heads = new Map([[1, HEAD]]);
    expect(committedTask(saying(1, 'words', { state: 'TASK_STATE_WORKING' }), heads)).toBeUndefined();
    expect(committedTask({ ...saying(1, 'words', DONE), isNew: false }, heads)).toBeUndefined();
    expect(committedTask(saying(1, 'words', { ...DONE, bytes: 16_385 }), heads)).toBeUndefined();
  });
});

describe('tasks that are not indexed yet', () => {
  it('drop the text of a task that has changed again', () => {
    const tasks = new UnindexedTasks();
    tasks.set(1, handed('first'));
    tasks.set(1);
    expect(tasks.texts).toBe(0);
    expect([...tasks.take()]).toEqual([[1, undefined]]);
    expect(tasks.size).toBe(0);
  });

  it('keep no more text than their maximum', () => {
    const tasks = new UnindexedTasks(10);
    for (const key of [1, 2, 3]) tasks.set(key, handed('12345'));
    expect([1, 2, 3].map((key) => tasks.get(key)?.text)).toEqual(['12345', '12345', undefined]);
    tasks.delete(1);
    tasks.set(4, handed('67890'));
    expect(tasks.texts).toBe(2);
    expect(tasks.get(4)?.text).toBe('67890');
  });
});

it('indexes a text that was handed over without reading the task, and reads it after another change', async () => {
  const path = join(folder, 'tasks.db');
  const store = openSqliteStore(path, { ballastBytes: 0 });
  await store.commit([saying(1, 'stored', DONE)]);
  await store.close();
  const index = openIndexFile(`${path}.search`, 'store');
  const indexer = createIndexer(path, index);
  const reader = openIndexReader(`${path}.search`);
  const find = (word: string): readonly number[] => reader.find({ match: `words : "${word}"`, before: 10, statusFrom: 0, limit: 10 });
  indexer.touch(new Map([[1, handed('handed')]]));
  indexer.work();
  expect([find('handed'), find('stored')]).toEqual([[1], []]);
  indexer.touch(new Map([[1, undefined]]));
  indexer.work();
  expect([find('handed'), find('stored')]).toEqual([[], [1]]);
  indexer.close();
  reader.close();
  index.close();
});
