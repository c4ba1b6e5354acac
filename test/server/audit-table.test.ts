import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, quoted } from '../../src/engine/adapters/postgres/schema.ts';
import { sharedAuditOn } from '../../src/engine/adapters/postgres/shared-audit.ts';
import type { PostgresDatabase } from '../../src/engine/adapters/postgres.ts';
import { openAuditTable, verifyTable } from '../../src/server/adapters/audit-table.ts';
import type { AuditLog } from '../../src/server/audit/audit.ts';
import { InProcessPostgres } from '../support/pglite.ts';

const server = new InProcessPostgres();
beforeAll(() => server.ready(), 120_000);
afterAll(() => server.close());

let schemas = 0;

/** A database with empty tables. `run` changes them as somebody with access to the server would. */
async function fresh() {
  schemas += 1;
  const s = quoted(`audit-${schemas}`);
  const database = server.database();
  const connection = await database.connect();
  await migrate(connection, s, 4);
  const shared = sharedAuditOn(database, s);
  const run = (text: string): Promise<void> => connection.run(text.replaceAll('audit_', `${s}.audit_`).replaceAll('audit ', `${s}.audit `));
  return { s, database, shared, run };
}

async function fill(log: AuditLog, { from, count }: { readonly from: number; readonly count: number }): Promise<void> {
  for (let at = from; at < from + count; at += 1) {
    log.append({ principal: 'ann', action: 'send', object: `task-${at}`, decision: 'allowed' });
    if (at % 2 === 1) await log.written?.();
  }
  await log.written?.();
}

describe('an audit log of several nodes', () => {
  it('numbers the records of all nodes in the order in which they were written', async () => {
    const { shared } = await fresh();
    const [one, two] = [await openAuditTable(shared, { node: 'http://a' }), await openAuditTable(shared, { node: 'http://b' })];
    await Promise.all([fill(one, { from: 0, count: 6 }), fill(two, { from: 10, count: 6 })]);
    const { records, last } = await one.read({ limit: 1000 });
    expect(last).toBe(14);
    expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 14 }, (_, at) => at + 1));
    for (const [node, chain, from] of [
      ['http://a', 1, 0],
      ['http://b', 2, 10],
    ] as const) {
      const own = records.filter((record) => record.node === node);
      expect(own.map(({ chainSeq }) => chainSeq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(own.map((record) => record.chain)).toEqual(Array.from({ length: 7 }, () => chain));
      expect(own.slice(1).map(({ object }) => object)).toEqual(Array.from({ length: 6 }, (_, at) => `task-${from + at}`));
    }
    const pages = [await two.read({ limit: 5 }), await two.read({ after: 5, limit: 5 }), await two.read({ after: 10 })];
    expect(pages.flatMap((page) => page.records)).toEqual(records);
    expect((await verifyTable(shared)).map(({ chain, records: count, problem }) => [chain, count, problem])).toEqual([
      [1, 7, undefined],
      [2, 7, undefined],
    ]);
  });

  it('verification detects every change, also of whole chains', async () => {
    const changes: readonly (readonly [string, number, string])[] = [
      ['a letter', 1, `UPDATE audit SET lines = replace(lines, 'task-2', 'task-9')`],
      ['a row less', 1, 'DELETE FROM audit WHERE chain = 1 AND first = 2'],
      ['another hash', 1, `UPDATE audit SET hash = repeat('0', 64) WHERE chain = 1 AND first = 2`],
      ['the end that the next chain names', 1, 'DELETE FROM audit WHERE chain = 1 AND first >= 4'],
      ['a whole chain', 1, 'DELETE FROM audit WHERE chain = 1; DELETE FROM audit_chains WHERE chain = 1'],
      ['all records of a chain', 1, 'DELETE FROM audit WHERE chain = 1'],
      [
        'a start that nobody noted',
        2,
        `DELETE FROM audit WHERE chain = 2 AND first = 1;
        UPDATE audit_chains SET start = 1, start_hash = (SELECT hash FROM audit WHERE chain = 2 AND first = 2) WHERE chain = 2`,
      ],
    ];
    for (const [name, blamed, sql] of changes) {
      const { shared, run } = await fresh();
      const one = await openAuditTable(shared, { node: 'http://a' });
      await fill(one, { from: 0, count: 4 });
      await fill(await openAuditTable(shared, { node: 'http://b' }), { from: 0, count: 4 });
      expect((await verifyTable(shared)).every(({ problem }) => problem === undefined)).toBe(true);
      await run(sql);
      const broken = (await verifyTable(shared)).filter(({ problem }) => problem !== undefined);
      expect([name, broken.map(({ chain }) => chain)]).toEqual([name, expect.arrayContaining([blamed])]);
    }
  });

  it('deletes old records of all nodes, says so, and can be verified from there', async () => {
    const { shared, run } = await fresh();
    const ended = await openAuditTable(shared, { node: 'http://a' });
    await fill(ended, { from: 0, count: 4 });
    const running = await openAuditTable(shared, { node: 'http://b' });
    await fill(running, { from: 0, count: 4 });
    await run('UPDATE audit SET since = since - 1000000, at = at - 1000000 WHERE chain = 1 OR first < 3');
    const pruner = await openAuditTable(shared, { node: 'http://c', keepMs: 500_000 });
    await pruner.close();
    const { records } = await running.read({ limit: 1000 });
    expect(records.map(({ chain, chainSeq, action, object }) => [chain, chainSeq, action, object])).toEqual([
      [2, 4, 'send', 'task-2'],
      [2, 5, 'send', 'task-3'],
      [3, 1, 'audit.begin', '2:5'],
      [3, 2, 'audit.pruned', '1:5'],
      [3, 3, 'audit.pruned', '2:3'],
    ]);
    const verdicts = await verifyTable(shared);
    expect(verdicts.map(({ chain, records: count, problem }) => [chain, count, problem])).toEqual([
      [2, 2, undefined],
      [3, 3, undefined],
    ]);
    await run('DELETE FROM audit WHERE chain = 3');
    expect((await verifyTable(shared)).map(({ problem }) => problem)).toEqual([
      'it starts after record 3, and no record says that older ones were deleted',
      'it has no record, although each process begins with one',
    ]);
  });

  it('continues the chain of a quiet node after another node has deleted all of its records', async () => {
    const { shared, run } = await fresh();
    const quiet = await openAuditTable(shared, { node: 'http://a' });
    await fill(quiet, { from: 0, count: 2 });
    await run('UPDATE audit SET since = since - 1000000, at = at - 1000000 WHERE chain = 1');
    const pruner = await openAuditTable(shared, { node: 'http://b', keepMs: 500_000 });
    await pruner.close();
    expect((await shared.chains()).map(({ chain }) => chain)).toEqual([2]);
    await fill(quiet, { from: 2, count: 2 });
    const { records } = await quiet.read({ limit: 1000 });
    expect(records.filter(({ chain }) => chain === 1).map(({ chainSeq, object }) => [chainSeq, object])).toEqual([
      [4, 'task-2'],
      [5, 'task-3'],
    ]);
    expect((await verifyTable(shared)).map(({ problem }) => problem)).toEqual([undefined, undefined]);
  });

  it('writes a row once, also if the answer to the first attempt is lost', async () => {
    const { s, database } = await fresh();
    const state = { lost: 0 };
    const losing: PostgresDatabase = {
      ...database,
      read: async (sql, values) => {
        const rows = await database.read<never>(sql, values);
        if (sql.name !== 'audit-put' || state.lost >= 3) return rows;
        state.lost += 1;
        throw new Error('the connection broke');
      },
    };
    const told: unknown[] = [];
    const log = await openAuditTable(sharedAuditOn(losing, s), { node: 'http://a', onError: (cause) => told.push(cause) });
    log.append({ principal: 'ann', action: 'send', decision: 'allowed' });
    await expect(log.written?.()).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await expect(log.written?.()).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await log.written?.();
    expect(told).toEqual([expect.anything(), undefined]);
    const { records, last } = await log.read({});
    expect([last, records.map(({ seq, action }) => [seq, action])]).toEqual([
      2,
      [
        [1, 'audit.begin'],
        [2, 'send'],
      ],
    ]);
  });
});
