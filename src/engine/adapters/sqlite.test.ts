import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { TaskKey } from '#engine';
import { contextId, externalId, seq, taskId } from '#protocol';
import { ALICE, aTask, entriesOf, rowOf, seqOf } from '../../../test/contracts/rows.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { change, sqliteFile } from '../../../test/support/sqlite-file.ts';

/** Behaviour of this store only. test/contracts tests what all stores share, test/faults what can break this one. */
const file = sqliteFile();

describe('unusual names', () => {
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

  it('are stored unchanged and stay distinct', async () => {
    await file.store.commit(
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
    await file.reopen();
    for (const [at, name] of NAMES.entries()) {
      const owner = { tenant: name, principal: name };
      const row = await file.store.task(owner, taskId(`id ${name}`));
      expect(row).toMatchObject({ key: at + 1, owner, agent: name, contextId: name, alias: name });
      expect((await file.store.byAlias(owner, name, externalId(name)))?.key).toBe(at + 1);
      expect((await file.store.waiting({ owner, agent: name, contextId: contextId(name) }, 9)).map(({ key }) => key)).toEqual([at + 1]);
      expect((await file.store.list({ owner, contextId: contextId(name), limit: 9 })).map(({ key }) => key)).toEqual([at + 1]);
      expect((await file.store.send({ owner, agent: name, token: name }))?.task?.id).toBe(`id ${name}`);
    }
  });
});

describe('counting', () => {
  const MINUTE = 60_000;

  it('is exact from any time on, without counting every row', async () => {
    const times = Array.from({ length: 400 }, (_, at) => at * 3 * MINUTE);
    await file.store.commit(
      times.map((statusAt, at) => aTask(at + 1, { statusAt, state: at % 4 === 0 ? 'TASK_STATE_FAILED' : 'TASK_STATE_WORKING' }, 1)),
    );
    for (const statusFrom of [0, 1, 17 * MINUTE, 2 ** 20, 2 ** 20 + 1, 2 ** 21 - 1, 555 * MINUTE, 1197 * MINUTE, 1198 * MINUTE]) {
      const after = times.filter((time) => time >= statusFrom);
      expect(await file.store.count({ owner: ALICE, agent: 'echo', statusFrom })).toBe(after.length);
      expect(await file.store.count({ owner: 'any', statusFrom })).toBe(after.length);
      expect(await file.store.count({ owner: ALICE, state: 'TASK_STATE_FAILED', statusFrom })).toBe(
        after.filter((time) => (time / MINUTE) % 12 === 0).length,
      );
    }
  });

  it('deletes the counts of deleted tasks', async () => {
    await file.store.commit([aTask(1, { statusAt: 5 }, 1), aTask(2, { statusAt: 2 ** 30 }, 1)]);
    await file.store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await file.behind((db) => db.prepare('SELECT count(*) AS n FROM tally WHERE bucket = 0').get()?.['n'])).toBe(0);
  });
});

describe('lists', () => {
  it('are read from an index in order, on any page and for any filter', async () => {
    const sql: string[] = [];
    const prepare = DatabaseSync.prototype.prepare;
    DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string) {
      sql.push(text);
      return prepare.call(this, text);
    };
    try {
      const after = { statusAt: 5, key: 5 as TaskKey };
      await file.store.commit([aTask(1, {}, 1)]);
      for (const owner of [ALICE, 'any'] as const) {
        for (const more of [
          {},
          { state: 'TASK_STATE_WORKING' },
          { contextId: contextId('c') },
          { contextId: contextId('c'), state: 'TASK_STATE_WORKING' },
        ] as const) {
          await file.store.list({ owner, agent: 'echo', ...more, after, limit: 5 });
          await file.store.list({ owner, ...more, after, limit: 5 });
        }
      }
      await file.store.waiting({ owner: ALICE, agent: 'echo', contextId: contextId('c') }, 2);
      await file.store.quiet('finished', { before: 5, limit: 5 });
      await file.store.quiet('waiting', { before: 5, limit: 5 });
      await file.store.unfinished();
    } finally {
      DatabaseSync.prototype.prepare = prepare;
    }
    const lists = sql.filter((text) => / FROM task /.test(text));
    expect(lists.length).toBeGreaterThan(6);
    await file.behind((db) => {
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
  it('is read from any position, and its words without its chunks', async () => {
    const count = 3000;
    await file.store.commit([aTask(1, {}, 1)]);
    for (let last = 1; last < count; last += 7) await file.store.commit([change(rowOf(1, { last: seqOf(last) }), {}, 7)]);
    for (const [after, limit] of [
      [0, 5000],
      [0, 10],
      [6, 3],
      [1499, 700],
      [2995, 700],
    ] as const) {
      const entries = await file.store.entries(1 as TaskKey, { after: seq(after), limit });
      expect(entries.map((entry) => entry.seq as number)).toEqual(
        Array.from({ length: Math.min(limit, 3004 - after) }, (_, at) => after + at + 1).filter((each) => each <= 3004),
      );
    }
  });

  it('disappears with its task, and is deleted in portions, also across a restart', async () => {
    await file.store.commit([aTask(1, {}, 1), aTask(2, {}, 1)]);
    for (let last = 1; last < 700; last += 1) await file.store.commit([change(rowOf(1, { last: seqOf(last) }), {}, 1)]);
    await file.store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
    expect(await file.store.task('any', taskId('t1'))).toBeUndefined();
    expect(await file.store.entries(1 as TaskKey, { after: seq(0), limit: 9 })).toEqual([]);
    expect(await file.store.count({ owner: 'any' })).toBe(1);
    const left = (db: DatabaseSync): unknown => db.prepare('SELECT count(*) AS n FROM log WHERE id < (2 << 24)').get()?.['n'];
    expect(await file.behind(left)).toBe(700);
    file.store = file.open();
    const beside = new DatabaseSync(file.path, { readOnly: true });
    await eventually(() => left(beside) === 0);
    beside.close();
    expect(await file.store.entries(2 as TaskKey, { after: seq(0), limit: 9 })).toHaveLength(1);
  });
});

describe('opening and closing', () => {
  it('leaves one file with all data, and rejects calls after close', async () => {
    await file.store.commit([aTask(1, {}, 1)]);
    await Promise.all([file.store.close(), file.store.close()]);
    expect(statSync(`${file.path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
    expect(() => file.store.commit([])).toThrow(/closed/);
    expect(() => file.store.lastKey()).not.toThrow();
    expect(() => file.store.task(ALICE, taskId('t1'))).toThrow(/closed/);
  });
});
