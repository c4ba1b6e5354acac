import { copyFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { TaskKey } from '#engine';
import type { A2AError } from '#protocol';
import { externalId, seq, taskId } from '#protocol';
import { ALICE, aPush, aSend, aTask, rowOf, seqOf } from '../../../test/contracts/rows.ts';
import { change, sqliteFile } from '../../../test/support/sqlite-file.ts';
import { isDamage, StoreError } from './sqlite.ts';

const file = sqliteFile();

describe('damage', () => {
  const sabotages: readonly (readonly [string, string])[] = [
    ['a changed row', 'UPDATE task SET status_at = 77 WHERE key = 2'],
    ['a row given to another', "UPDATE realm SET principal = 'bob' WHERE principal = 'alice2'"],
    ['a log that was cut short', 'DELETE FROM log WHERE id = (2 << 24) + 3'],
    ['a log without its middle', 'DELETE FROM log WHERE id = (2 << 24) + 2'],
    ['a log without its beginning', 'DELETE FROM log WHERE id = (2 << 24) + 1'],
    ['a changed entry', "UPDATE log SET words = replace(words, 'WORKING', 'WALKING') WHERE id = (2 << 24) + 2"],
    [
      'entries of another task',
      'UPDATE log SET (words, hash, prev) = (SELECT words, hash, prev FROM log WHERE id = (3 << 24) + 1) WHERE id = (2 << 24) + 1',
    ],
  ];
  for (const [what, sql] of sabotages) {
    it(`detects ${what}, and serves everything else`, async () => {
      const other = { tenant: '', principal: 'alice2' };
      await file.store.commit([aTask(1, {}, 1), aTask(2, { owner: other }, 1), aTask(3, {}, 2)]);
      await file.store.commit([change(rowOf(2, { owner: other, last: seqOf(1) }), {}, 1)]);
      await file.store.commit([change(rowOf(2, { owner: other, last: seqOf(2) }), {}, 1)]);
      await file.behind((db) => db.exec(sql));
      file.store = file.open();
      const seen = async (): Promise<unknown> => [
        await file.store.task(other, taskId('t2')),
        await file.store.entries(2 as TaskKey, { after: seq(0), limit: 9 }),
        (await file.store.list({ owner: 'any', limit: 9 })).length,
      ];
      const thrown = await seen().catch((cause: unknown) => cause);
      expect(isDamage(thrown)).toBe(true);
      expect((thrown as A2AError).kind).toBe('INTERNAL_ERROR');
      for (const key of [1, 3]) {
        expect((await file.store.task(ALICE, taskId(`t${key}`)))?.key).toBe(key);
        expect((await file.store.entries(key as TaskKey, { after: seq(0), limit: 9 })).length).toBeGreaterThan(0);
      }
      expect((await file.store.list({ owner: ALICE, limit: 9 })).map(({ key }) => key).toSorted()).toEqual([1, 3]);
    });
  }

  it('quarantines a task whose commits were lost: it is not served or counted, and its key is not reused', async () => {
    await file.store.commit([aTask(1, {}, 1), aTask(2, { alias: externalId('a'), state: 'TASK_STATE_INPUT_REQUIRED' }, 1)]);
    const size = statSync(`${file.path}-wal`).size;
    expect(size).toBeGreaterThan(0);
    const crashed = `${file.path}-crashed`;
    const wal = `${crashed}-wal`;
    // The database after the first commit, with the marks of the third.
    copyFileSync(`${file.path}-wal`, wal);
    await file.store.commit([
      change(rowOf(2, { last: seqOf(1), alias: externalId('a') }), { state: 'TASK_STATE_INPUT_REQUIRED' }, 1),
      aTask(9, {}, 1),
      aSend(9),
    ]);
    await file.store.commit([aPush(1, 'p')]);
    copyFileSync(`${file.path}.marks`, `${crashed}.marks`);
    copyFileSync(file.path, crashed);
    await file.store.close();
    file.path = crashed;
    const reports: string[] = [];
    file.store = file.open({ report: (what) => reports.push(what) });
    expect(reports).toEqual(['2 commits were lost; 3 tasks are quarantined']);
    for (let round = 1; round <= 2; round += 1) {
      for (const key of [1, 2, 9]) {
        await expect((async () => file.store.task(ALICE, taskId(`t${key}`)))()).rejects.toThrow(/damaged/);
        await expect((async () => file.store.entries(key as TaskKey, { after: seq(0), limit: 9 }))()).rejects.toThrow(/damaged/);
      }
      await expect((async () => file.store.byAlias(ALICE, 'echo', externalId('a')))()).rejects.toThrow(/damaged/);
      expect(await file.store.list({ owner: 'any', limit: 9 })).toEqual([]);
      expect(await file.store.unfinished()).toEqual([]);
      expect([await file.store.count({ owner: 'any' }), await file.store.count({ owner: ALICE, state: 'TASK_STATE_WORKING' })]).toEqual([
        0, 0,
      ]);
      expect(await file.store.lastKey()).toBe(9);
      // Their blobs are kept, so that an operator can recover them.
      expect([1, 2, 3, 9].map((key) => file.store.has(key as TaskKey))).toEqual([true, true, false, true]);
      expect(file.store.damaged().map(({ key, id }) => [key, id])).toEqual([
        [1, 't1'],
        [2, 't2'],
        [9, 't9'],
      ]);
      await file.reopen();
    }
    await file.store.commit([aTask(10, {}, 1)]);
    expect((await file.store.list({ owner: ALICE, limit: 9 })).map(({ key }) => key)).toEqual([10]);
    expect(await file.store.count({ owner: ALICE })).toBe(1);
  });
});

describe('writers', () => {
  it('a second writer is detected before two histories mix', async () => {
    await file.store.commit([aTask(1, {}, 1)]);
    const other = new DatabaseSync(file.path);
    other.exec('UPDATE meta SET commits = commits + 1, twin = twin - 1');
    expect(() => file.store.commit([aTask(2, {}, 1)])).toThrow(StoreError);
    expect(() => file.store.task(ALICE, taskId('t1'))).toThrow(/another writer/);
    other.close();
  });

  it('commits fail as busy while another connection locks the store, and succeed afterwards', async () => {
    const other = new DatabaseSync(file.path);
    other.exec('BEGIN IMMEDIATE');
    expect(() => file.store.commit([aTask(1, {}, 1)])).toThrow(/busy/);
    other.exec('COMMIT');
    other.close();
    await file.store.commit([aTask(1, {}, 1)]);
    expect(await file.store.count({ owner: ALICE })).toBe(1);
  });
});

describe('opening and closing', () => {
  it('the thread that checks a large file finds a missing index entry; then all calls are rejected', async () => {
    await file.store.commit([aTask(1, {}, 1)]);
    await file.reopen({ verifyBytesMax: 0 });
    await file.store.verified;
    await file.behind((db) => {
      db.enableDefensive(false);
      const { sql } = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'task_state'").get() ?? {};
      db.exec(`DROP INDEX task_state; ${sql} WHERE key > 5; PRAGMA writable_schema = on`);
      db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'task_state'").run(String(sql));
    });
    const reports: string[] = [];
    file.store = file.open({ verifyBytesMax: 0, report: (what) => reports.push(what) });
    expect((await file.store.task(ALICE, taskId('t1')))?.key).toBe(1);
    await expect(file.store.verified).rejects.toThrow(/missing from index task_state/);
    expect(() => file.store.task(ALICE, taskId('t1'))).toThrow(/Restore it from a backup/);
    expect(reports).toEqual(['the store has failed']);
    await file.store.close();
    expect(() => file.open()).toThrow(/missing from index task_state/);
  });
});
