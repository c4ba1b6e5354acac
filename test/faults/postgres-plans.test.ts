import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TaskKey } from '#engine';
import { LIST_NAMES } from '../../src/engine/adapters/postgres/commit-lists.ts';
import type { NameMode } from '../../src/engine/adapters/postgres/commit-sql.ts';
import { commitSql, sessionOf } from '../../src/engine/adapters/postgres/commit-sql.ts';
import type { Sql } from '../../src/engine/adapters/postgres/database.ts';
import { freshSql } from '../../src/engine/adapters/postgres/fresh-sql.ts';
import { unfinishedIn } from '../../src/engine/adapters/postgres/lists.ts';
import { openPgDatabase } from '../../src/engine/adapters/postgres/pg-database.ts';
import { quoted } from '../../src/engine/adapters/postgres/schema.ts';
import { searchStatements } from '../../src/engine/adapters/postgres/search/search-sql.ts';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { aSend, aTask } from '../contracts/rows.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Tables that grow with every task. A condition on one of these columns finds few rows of them. */
const GROWING = /^(tasks|segments|names|said)(_|$)/;
const SELECTIVE = /\b(key|id|name|task) = /;

/** The scans of a plan that read a growing table as a whole. */
function wholeReads(node: PlanNode): readonly string[] {
  const below = (node.Plans ?? []).flatMap(wholeReads);
  const table = node['Index Name'] ?? node['Relation Name'] ?? '';
  const isWhole =
    node['Node Type'] === 'Seq Scan' ||
    (/^(Bitmap Index|Index|Index Only) Scan$/.test(node['Node Type']) && !SELECTIVE.test(node['Index Cond'] ?? ''));
  return isWhole && GROWING.test(table) ? [`${node['Node Type']} on ${table}: ${node['Index Cond'] ?? 'no condition'}`, ...below] : below;
}

suiteNeeding('postgresql', hasPostgres, 'the plans of a commit', () => {
  const folder = postgresFolder();
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(folder);
  }, 120_000);
  afterAll(() => server.stop());

  const planOf = async (client: pg.Client, { text }: Sql): Promise<PlanNode> => {
    const count = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
    await client.query(`PREPARE planned AS ${text}`);
    const nulls = Array.from({ length: count }, () => 'NULL').join();
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE planned(${nulls})`);
    await client.query('DEALLOCATE planned');
    return rows[0]['QUERY PLAN'][0].Plan;
  };
  const plans = async (schema: string): Promise<readonly string[]> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      await client.query(sessionOf(5000));
      const found: string[] = [];
      for (const mode of ['replace', 'claim'] satisfies readonly NameMode[])
        for (const sql of [
          commitSql(quoted(schema), mode, { pushes: false, outbox: false, deletes: false }),
          freshSql(quoted(schema), mode, LIST_NAMES),
        ])
          found.push(...wholeReads(await planOf(client, sql)));
      return found;
    } finally {
      await client.end();
    }
  };

  it('look each task and each name up in an index, whether the tables are empty, new, or analysed', async () => {
    const schema = 'plans';
    const store = await openPostgresStore(server.url, { schema, search: false });
    try {
      expect(await plans(schema)).toEqual([]);
      const batch = Array.from({ length: 500 }, (_, at) => [aTask(at + 1, {}, 1), aSend(at + 1)]).flat();
      await store.commit(batch);
      expect(await plans(schema)).toEqual([]);
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query('VACUUM ANALYZE').finally(() => client.end());
      expect(await plans(schema)).toEqual([]);
    } finally {
      await store.close();
    }
  });

  it('read the unfinished tasks of a cell from their index, among many tasks, and compile nothing', { timeout: 120_000 }, async () => {
    const schema = 'taken';
    const store = await openPostgresStore(server.url, { schema, search: false });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const database = await openPgDatabase({ url: server.url, readers: 1, answerMsMax: 60_000 });
    try {
      await store.commit([aTask(1, {}, 1)]);
      // 100,000 tasks, of which every hundredth is unfinished.
      await client.query(`INSERT INTO taken.tasks SELECT n + 1, n % 128, 'many-' || n, realm, context, dialect, NULL,
        CASE WHEN n % 100 = 0 THEN 2 ELSE 5 END, n, last, turn, attempt, bytes FROM taken.tasks, generate_series(1, 100000) AS n`);
      await client.query('VACUUM ANALYZE taken.tasks');
      const cell = 4;
      const found = (await store.unfinished([cell])).filter(({ id }) => id.startsWith('many-')).length;
      expect(found).toBe(Array.from({ length: 1000 }, (_, at) => (at + 1) * 100).filter((n) => n % 128 === cell).length);
      const { text } = unfinishedIn(quoted(schema));
      await client.query(`PREPARE taken AS ${text}`);
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE taken('[4]')`);
      expect(JSON.stringify(rows[0]['QUERY PLAN'])).toContain('"Index Name":"tasks_unfinished"');
      expect(await database.read<{ jit: string }>({ name: '', text: 'SHOW jit' })).toEqual([{ jit: 'off' }]);
    } finally {
      await database.close();
      await client.end();
      await store.close();
    }
  });

  it('delete the words of a task that are written while its deletion waits', async () => {
    const schema = 'waiting';
    const store = await openPostgresStore(server.url, { schema, search: false });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      await store.commit([aTask(1, {}, 1), aTask(2, {}, 1)]);
      await client.query('BEGIN');
      const { text } = searchStatements(quoted(schema)).put;
      const values = [[1, 2], [1, 1], ["'word':1", "'word':1"], 'off'];
      expect((await client.query(text, values)).rowCount).toBe(2);
      const deleted = store.commit([{ kind: 'forget', task: 1 as TaskKey }]);
      const waiting = 'SELECT FROM pg_stat_activity WHERE wait_event_type = $1';
      await eventually(async () => expect((await client.query(waiting, ['Lock'])).rowCount).toBe(1));
      await client.query('COMMIT');
      await deleted;
      expect((await client.query('SELECT task FROM waiting.said')).rows).toEqual([{ task: '2' }]);
      expect((await client.query(text, values)).rows).toEqual([{ task: '2' }]);
    } finally {
      await client.end();
      await store.close();
    }
  });
});
