import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { ALICE, rowOf, seqOf } from '../../../test/contracts/rows.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';
import type { TaskKey, Write } from '../ports.ts';
import { openSqliteStore } from './sqlite.ts';

const folder = scratchFolder();
const COUNT = 600;

/** About 50 kB, of which every task has its own. */
const large = (key: number): Write => {
  const text = `${key} `.repeat(10_000);
  const status = { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00.000Z' } as const;
  const task = { id: rowOf(key).id, contextId: rowOf(key).contextId, status, metadata: { text } };
  const entries = [{ seq: seqOf(1), event: { task } }];
  return { kind: 'task', row: rowOf(key, { last: seqOf(1), state: 'TASK_STATE_COMPLETED' }), isNew: true, entries };
};
const keys = Array.from({ length: COUNT }, (_, at) => (at + 1) as TaskKey);

describe('a SQLite store from which much was deleted', () => {
  it('gives the space back to the file system while commits continue', async () => {
    const path = join(folder, 'tasks.db');
    const store = openSqliteStore(path, { ballastBytes: 0 });
    for (const key of keys) await store.commit([large(key)]);
    await store.checkpoint();
    const before = statSync(path).size;
    expect(before).toBeGreaterThan(20 * 2 ** 20);
    expect((await store.pageUse()).events).toBeGreaterThan(20 * 2 ** 20);
    await store.commit(keys.slice(0, -20).map((task) => ({ kind: 'forget', task })));
    let next = COUNT;
    await eventually(async () => {
      next += 1;
      await store.commit([{ kind: 'task', row: rowOf(next, { last: seqOf(0) }), isNew: true, entries: [] }]);
      return statSync(path).size < before / 2;
    }, 60_000);
    const { free, tasks } = await store.pageUse();
    expect([free < before / 2, tasks > 0]).toEqual([true, true]);
    await store.close();
    const again = openSqliteStore(path, { ballastBytes: 0 });
    await again.verified;
    expect(await again.count({ owner: ALICE, state: 'TASK_STATE_COMPLETED' })).toBe(20);
    for (const key of keys.slice(-20)) expect(await again.entries(key, { after: seqOf(0), limit: 9 })).toHaveLength(1);
    await again.close();
  });

  it('of an older version can do so once it is compacted', async () => {
    const path = join(folder, 'old.db');
    const store = openSqliteStore(path, { ballastBytes: 0 });
    await store.commit([large(1)]);
    await store.close();
    const db = new DatabaseSync(path);
    db.exec('PRAGMA journal_mode = delete; PRAGMA auto_vacuum = none; VACUUM; PRAGMA journal_mode = wal');
    const mode = () => db.prepare('PRAGMA auto_vacuum').get()?.['auto_vacuum'];
    expect(mode()).toBe(0);
    db.close();
    const again = openSqliteStore(path, { ballastBytes: 0 });
    await again.compact?.();
    await again.close();
    const after = new DatabaseSync(path);
    expect(after.prepare('PRAGMA auto_vacuum').get()?.['auto_vacuum']).toBe(2);
    after.close();
  });
});
