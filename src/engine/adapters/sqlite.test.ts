import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskKey, TaskRow, Write } from '#engine';
import type { A2AError } from '#protocol';
import { contextId, externalId, seq, taskId } from '#protocol';
import { ALICE, aPush, aSend, aTask, entriesOf, rowOf, seqOf } from '../../../test/contracts/rows.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { timeOrderedIds } from '../time-ordered-ids.ts';
import type { SqliteOptions, SqliteStore } from './sqlite.ts';
import { isDamage, openSqliteStore, StoreError } from './sqlite.ts';

/** What is particular to this store; what all stores share is in test/contracts, what breaks it in test/faults. */
const folder = scratchFolder();

let files = 0;
let path = '';
let store: SqliteStore;
const open = (options: SqliteOptions = {}): SqliteStore => openSqliteStore(path, { ballastBytes: 0, ...options });

beforeEach(() => {
  files += 1;
  path = join(folder, `${files}.db`);
  store = open();
});
afterEach(() => store.close());

async function reopen(options: SqliteOptions = {}): Promise<void> {
  await store.close();
  store = open(options);
}

/** Reads or changes the file behind the store's back; a program that does the latter damages it. */
async function inFile<T>(work: (db: DatabaseSync) => T): Promise<T> {
  await store.close();
  const db = new DatabaseSync(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function change(row: TaskRow, more: Partial<TaskRow>, count: number): Write {
  const last = row.last + count;
  return { kind: 'task', row: { ...row, ...more, last: seqOf(last) }, isNew: false, entries: entriesOf(row.last + 1, last) };
}

describe('names that are hard to keep', () => {
  const NAMES = [
    '',
    ' ',
    'nul \0 nul',
    'half \ud83d',
    'half \ude00',
    'both 😀',
    '\uffff',
    '\uffff"half \\ud83d"',
    "'; DROP TABLE task; --",
    'é',
    'é'.normalize('NFD'),
  ];

  it('are kept, and kept apart', async () => {
    await store.commit(
      NAMES.flatMap((name, at) => {
        const row = rowOf(at + 1, {
          id: taskId(`id ${name}`),
          owner: { tenant: name, principal: name },
          agent: name,
          contextId: contextId(name),
          alias: externalId(name),
          state: 'TASK_STATE_INPUT_REQUIRED',
          last: seqOf(1),
        });
        const record = {
          owner: row.owner,
          agent: name,
          token: name,
          fingerprint: 'f',
          at: 1,
          delivered: false,
          task: { key: row.key, id: row.id, seq: seqOf(1) },
        };
        return [{ kind: 'task', row, isNew: true, entries: entriesOf(1, 1) } as const, { kind: 'send', record } as const];
      }),
    );
    await reopen();
    for (const [at, name] of NAMES.entries()) {
      const owner = { tenant: name, principal: name };
      const row = await store.task(owner, taskId(`id ${name}`));
      expect(row).toMatchObject({ key: at + 1, owner, agent: name, contextId: name, alias: name });
      expect((await store.byAlias(owner, name, externalId(name)))?.key).toBe(at + 1);
      expect((await store.waiting({ owner, agent: name, contextId: contextId(name) }, 9)).map(({ key }) => key)).toEqual([at + 1]);
      expect((await store.list({ owner, contextId: contextId(name), limit: 9 })).map(({ key }) => key)).toEqual([at + 1]);
      expect((await store.send({ owner, agent: name, token: name }))?.task?.id).toBe(`id ${name}`);
    }
  });
});

describe('counting', () => {
  const MINUTE = 60_000;

  it('is right from any moment on, without counting one by one', async () => {
    const times = Array.from({ length: 400 }, (_, at) => at * 3 * MINUTE);
    await store.commit(
      times.map((statusAt, at) => aTask(at + 1, { statusAt, state: at % 4 === 0 ? 'TASK_STATE_FAILED' : 'TASK_STATE_WORKING' }, 1)),
    );
    for (const statusFrom of [0, 1, 17 * MINUTE, 2 ** 20, 2 ** 20 + 1, 2 ** 21 - 1, 555 * MINUTE, 1197 * MINUTE, 1198 * MINUTE]) {
      const after = times.filter((time) => time >= statusFrom);
      expect(await store.count({ owner: ALICE, agent: 'echo', statusFrom })).toBe(after.length);
      expect(await store.count({ owner: 'any', statusFrom })).toBe(after.length);
      expect(await store.count({ owner: ALICE, state: 'TASK_STATE_FAILED', statusFrom })).toBe(
        after.filter((time) => (time / MINUTE) % 12 === 0).length,
      );
    }
  });

  it('forgets the counts of what was forgotten', async () => {
    await store.commit([aTask(1, { statusAt: 5 }, 1), aTask(2, { statusAt: 2 ** 30 }, 1)]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await inFile((db) => db.prepare('SELECT count(*) AS n FROM tally WHERE bucket = 0').get()?.['n'])).toBe(0);
  });
});

describe('lists', () => {
  it('are read from an index in their order, on any page and for any filter', async () => {
    const sql: string[] = [];
    const prepare = DatabaseSync.prototype.prepare;
    DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string) {
      sql.push(text);
      return prepare.call(this, text);
    };
    try {
      const after = { statusAt: 5, key: 5 as TaskKey };
      await store.commit([aTask(1, {}, 1)]);
      for (const owner of [ALICE, 'any'] as const) {
        for (const more of [
          {},
          { state: 'TASK_STATE_WORKING' },
          { contextId: contextId('c') },
          { contextId: contextId('c'), state: 'TASK_STATE_WORKING' },
        ] as const) {
          await store.list({ owner, agent: 'echo', ...more, after, limit: 5 });
          await store.list({ owner, ...more, after, limit: 5 });
        }
      }
      await store.waiting({ owner: ALICE, agent: 'echo', contextId: contextId('c') }, 2);
      await store.quiet('finished', { before: 5, limit: 5 });
      await store.quiet('waiting', { before: 5, limit: 5 });
      await store.unfinished();
    } finally {
      DatabaseSync.prototype.prepare = prepare;
    }
    const lists = sql.filter((text) => / FROM task /.test(text));
    expect(lists.length).toBeGreaterThan(6);
    await inFile((db) => {
      for (const text of lists) {
        const plan = db
          .prepare(`EXPLAIN QUERY PLAN ${text}`)
          .all()
          .map((row) => String(row['detail']));
        expect(plan.join('\n'), text).not.toMatch(/SCAN|TEMP B-TREE/);
        expect(plan.join('\n'), text).toMatch(/USING INDEX task_/);
      }
    });
  });
});

describe('a long log', () => {
  it('is read from any place, and its words without its chunks', async () => {
    const count = 3000;
    await store.commit([aTask(1, {}, 1)]);
    for (let last = 1; last < count; last += 7) await store.commit([change(rowOf(1, { last: seqOf(last) }), {}, 7)]);
    for (const [after, limit] of [
      [0, 5000],
      [0, 10],
      [6, 3],
      [1499, 700],
      [2995, 700],
    ] as const) {
      const entries = await store.entries(1 as TaskKey, { after: seq(after), limit });
      expect(entries.map((entry) => entry.seq as number)).toEqual(
        Array.from({ length: Math.min(limit, 3004 - after) }, (_, at) => after + at + 1).filter((each) => each <= 3004),
      );
    }
  });

  it('is gone at once when its task is forgotten, and deleted bit by bit, also over a restart', async () => {
    await store.commit([aTask(1, {}, 1), aTask(2, {}, 1)]);
    for (let last = 1; last < 700; last += 1) await store.commit([change(rowOf(1, { last: seqOf(last) }), {}, 1)]);
    await store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await store.task('any', taskId('t1'))).toBeUndefined();
    expect(await store.entries(1 as TaskKey, { after: seq(0), limit: 9 })).toEqual([]);
    expect(await store.count({ owner: 'any' })).toBe(1);
    const left = (): Promise<unknown> => inFile((db) => db.prepare('SELECT count(*) AS n FROM log WHERE id < (2 << 24)').get()?.['n']);
    expect(await left()).toBe(700);
    store = open();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await left()).toBe(0);
    store = open();
    expect(await store.entries(2 as TaskKey, { after: seq(0), limit: 9 })).toHaveLength(1);
  });
});

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
    it(`${what} is noticed, and everything else is served`, async () => {
      const other = { tenant: '', principal: 'alice2' };
      await store.commit([aTask(1, {}, 1), aTask(2, { owner: other }, 1), aTask(3, {}, 2)]);
      await store.commit([change(rowOf(2, { owner: other, last: seqOf(1) }), {}, 1)]);
      await store.commit([change(rowOf(2, { owner: other, last: seqOf(2) }), {}, 1)]);
      await inFile((db) => db.exec(sql));
      store = open();
      const seen = async (): Promise<unknown> => [
        await store.task(other, taskId('t2')),
        await store.entries(2 as TaskKey, { after: seq(0), limit: 9 }),
        (await store.list({ owner: 'any', limit: 9 })).length,
      ];
      const thrown = await seen().catch((cause: unknown) => cause);
      expect(isDamage(thrown)).toBe(true);
      expect((thrown as A2AError).kind).toBe('INTERNAL_ERROR');
      for (const key of [1, 3]) {
        expect((await store.task(ALICE, taskId(`t${key}`)))?.key).toBe(key);
        expect((await store.entries(key as TaskKey, { after: seq(0), limit: 9 })).length).toBeGreaterThan(0);
      }
      expect((await store.list({ owner: ALICE, limit: 9 })).map(({ key }) => key).toSorted()).toEqual([1, 3]);
    });
  }

  it('a task whose commits were lost is known, is not served, and is not counted; its key is not given again', async () => {
    await store.commit([aTask(1, {}, 1), aTask(2, { alias: externalId('a'), state: 'TASK_STATE_INPUT_REQUIRED' }, 1)]);
    const size = statSync(`${path}-wal`).size;
    expect(size).toBeGreaterThan(0);
    const crashed = join(folder, `${files}-crashed.db`);
    const wal = `${crashed}-wal`;
    // As it was after the first commit, with the marks of the third.
    copyFileSync(`${path}-wal`, wal);
    await store.commit([
      change(rowOf(2, { last: seqOf(1), alias: externalId('a') }), { state: 'TASK_STATE_INPUT_REQUIRED' }, 1),
      aTask(9, {}, 1),
      aSend(9),
    ]);
    await store.commit([aPush(1, 'p')]);
    copyFileSync(`${path}.marks`, `${crashed}.marks`);
    copyFileSync(path, crashed);
    await store.close();
    path = crashed;
    const reports: string[] = [];
    store = open({ report: (what) => reports.push(what) });
    expect(reports).toEqual(['2 commits were lost; 3 tasks are not served']);
    for (let round = 1; round <= 2; round += 1) {
      for (const key of [1, 2, 9]) {
        await expect((async () => store.task(ALICE, taskId(`t${key}`)))()).rejects.toThrow(/damaged/);
        await expect((async () => store.entries(key as TaskKey, { after: seq(0), limit: 9 }))()).rejects.toThrow(/damaged/);
      }
      await expect((async () => store.byAlias(ALICE, 'echo', externalId('a')))()).rejects.toThrow(/damaged/);
      expect(await store.list({ owner: 'any', limit: 9 })).toEqual([]);
      expect(await store.unfinished()).toEqual([]);
      expect([await store.count({ owner: 'any' }), await store.count({ owner: ALICE, state: 'TASK_STATE_WORKING' })]).toEqual([0, 0]);
      expect(await store.lastKey()).toBe(9);
      // Their blobs stay, for whoever wants to save what can be saved.
      expect([1, 2, 3, 9].map((key) => store.has(key as TaskKey))).toEqual([true, true, false, true]);
      expect(store.damaged().map(({ key, id }) => [key, id])).toEqual([
        [1, 't1'],
        [2, 't2'],
        [9, 't9'],
      ]);
      await reopen();
    }
    await store.commit([aTask(10, {}, 1)]);
    expect((await store.list({ owner: ALICE, limit: 9 })).map(({ key }) => key)).toEqual([10]);
    expect(await store.count({ owner: ALICE })).toBe(1);
  });
});

describe('writers', () => {
  it('a second one, whatever it is, is noticed before histories mix', async () => {
    await store.commit([aTask(1, {}, 1)]);
    const other = new DatabaseSync(path);
    other.exec('UPDATE meta SET commits = commits + 1, twin = twin - 1');
    expect(() => store.commit([aTask(2, {}, 1)])).toThrow(StoreError);
    expect(() => store.task(ALICE, taskId('t1'))).toThrow(/another writer/);
    other.close();
  });

  it('one that only holds the store up is waited for, and then it goes on', async () => {
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    expect(() => store.commit([aTask(1, {}, 1)])).toThrow(/busy/);
    other.exec('COMMIT');
    other.close();
    await store.commit([aTask(1, {}, 1)]);
    expect(await store.count({ owner: ALICE })).toBe(1);
  });
});

describe('opening and closing', () => {
  it('leaves one file with everything in it, and refuses everything after', async () => {
    await store.commit([aTask(1, {}, 1)]);
    await Promise.all([store.close(), store.close()]);
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
    expect(() => store.commit([])).toThrow(/closed/);
    expect(() => store.lastKey()).not.toThrow();
    expect(() => store.task(ALICE, taskId('t1'))).toThrow(/closed/);
  });

  it('an index that lost an entry is found by the thread that checks a large file; then nothing is served', async () => {
    await store.commit([aTask(1, {}, 1)]);
    await reopen({ verifyBytesMax: 0 });
    await store.verified;
    await inFile((db) => {
      db.enableDefensive(false);
      const { sql } = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'task_state'").get() ?? {};
      db.exec(`DROP INDEX task_state; ${sql} WHERE key > 5; PRAGMA writable_schema = on`);
      db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'task_state'").run(String(sql));
    });
    const reports: string[] = [];
    store = open({ verifyBytesMax: 0, report: (what) => reports.push(what) });
    expect((await store.task(ALICE, taskId('t1')))?.key).toBe(1);
    await expect(store.verified).rejects.toThrow(/missing from index task_state/);
    expect(() => store.task(ALICE, taskId('t1'))).toThrow(/Restore it from a backup/);
    expect(reports).toEqual(['the store has failed']);
    await store.close();
    expect(() => open()).toThrow(/missing from index task_state/);
  });
});

describe('ids that begin with their time', () => {
  it('are ordered by it, and as random as others', () => {
    const at = (time: number) => timeOrderedIds({ now: () => new Date(time) }).next();
    const times = [0, 1, 1_000, 1_700_000_000_000, 1_700_000_000_001, 2_821_109_907_455, 2_821_109_907_456, 90_000_000_000_000];
    const ids = times.map(at);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[0-9a-z]{9}-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(Array.from({ length: 1000 }, () => at(5))).size).toBe(1000);
  });
});
