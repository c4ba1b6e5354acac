import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskKey } from '#engine';
import { taskId } from '#protocol';
import { quoted, STEPS } from '../../src/engine/adapters/postgres/schema.ts';
import { openStoreOn } from '../../src/engine/adapters/postgres.ts';
import { InProcessPostgres } from '../support/pglite.ts';
import { ALICE, aPush, aSend, aTask, entriesOf, rowOf, seqOf } from './rows.ts';
import { found, saying } from './search.ts';

const server = new InProcessPostgres();
beforeAll(() => server.ready(), 120_000);
afterAll(() => server.close());

const CURRENT = STEPS.length;
const CELLS = 128;

async function sql<R extends object>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
  return await server.database().read<R>({ name: '', text }, [...values]);
}

async function script(text: string): Promise<void> {
  await (await server.database().connect({})).run(text);
}

/** The tables as a program of that version made them. `meta` is of the first version, and is never changed but by steps. */
async function tablesOf(version: number, schema: string): Promise<void> {
  const s = quoted(schema);
  await script(`CREATE SCHEMA ${s}; CREATE TABLE ${s}.meta (
      one smallint PRIMARY KEY CHECK (one = 1), version integer NOT NULL, needs integer NOT NULL, store uuid NOT NULL, cells integer NOT NULL,
      last_key bigint NOT NULL DEFAULT 0);
    INSERT INTO ${s}.meta (one, version, needs, store, cells) VALUES (1, ${version}, 1, gen_random_uuid(), ${CELLS});
    ${STEPS.slice(0, version)
      .map((step) => step.sql(s))
      .join('\n')}`);
}

/** Columns, indexes, constraints and triggers, without the name of the schema. */
async function shapeOf(schema: string): Promise<readonly string[]> {
  const rows = await sql<{ what: string }>(
    `SELECT format('column %s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS what
       FROM information_schema.columns WHERE table_schema = $1
     UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = $1
     UNION ALL SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
       WHERE connamespace = $1::regnamespace AND contype <> 'n'
     UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal`,
    [schema],
  );
  return rows.map(({ what }) => what.replaceAll(quoted(schema), 's').replaceAll(`${schema}.`, 's.')).toSorted();
}

describe('the tables of an older version', () => {
  it.each(Array.from({ length: CURRENT - 1 }, (_, at) => at + 1))('%i are migrated with their tasks', async (version) => {
    const [schema, fresh] = [`from_${version}`, `fresh_${version}`];
    await tablesOf(version, schema);
    await script(`INSERT INTO ${schema}.realms (digest, tenant, principal, agent) VALUES ('old', '', 'old caller', 'echo');
      INSERT INTO ${schema}.tasks (key, cell, id, realm, context, dialect, state, status_at, last, turn, attempt, bytes)
        VALUES (1, 0, 'old', 1, 'c', 'v10', 5, 1000, 0, 1, 0, 0)`);
    const store = await openStoreOn(server.database(), { schema });
    expect(await store.task({ tenant: '', principal: 'old caller' }, taskId('old'))).toMatchObject({ key: 1, agent: 'echo' });
    await store.commit([aTask(7, {}, 2), aSend(7), aPush(7, 'p'), saying(8, 'words')]);
    expect(await store.entries(7 as TaskKey, { after: seqOf(0), limit: 10 })).toEqual(entriesOf(1, 2));
    expect(await found(store, 'words')).toEqual([8]);
    await store.close();
    expect(await sql(`SELECT version, needs, cells FROM ${schema}.meta`)).toEqual([
      { version: CURRENT, needs: STEPS.at(-1)?.needs, cells: CELLS },
    ]);
    await (await openStoreOn(server.database(), { schema: fresh })).close();
    expect(await shapeOf(schema)).toEqual(await shapeOf(fresh));
  });
});

describe('a program of this version', () => {
  const tables = async (schema: string): Promise<readonly string[]> =>
    (await sql<{ name: string }>('SELECT tablename AS name FROM pg_tables WHERE schemaname = $1', [schema])).map(({ name }) => name);

  it('works on while a later one adds columns to every table, and starts again on them', async () => {
    let store = await openStoreOn(server.database(), { schema: 'later' });
    await store.commit([aTask(1, {}, 2), aSend(1)]);
    for (const table of await tables('later')) await script(`ALTER TABLE later.${table} ADD COLUMN added integer NOT NULL DEFAULT 7`);
    await script(`UPDATE later.meta SET version = ${CURRENT + 1}`);
    for (const round of [2, 3]) {
      await store.commit([aTask(round, {}, 1), aSend(round), aPush(round, 'p')]);
      await store.commit([
        { kind: 'task', row: rowOf(1, { last: seqOf(round + 1) }), isNew: false, entries: entriesOf(round + 1, round + 1) },
      ]);
      expect(await store.task(ALICE, taskId(`t${round}`))).toEqual(rowOf(round, { last: seqOf(1) }));
      expect(await store.pushConfigs(round as TaskKey)).toHaveLength(1);
      await store.close();
      store = await openStoreOn(server.database(), { schema: 'later' });
    }
    expect(await store.entries(1 as TaskKey, { after: seqOf(0), limit: 10 })).toEqual(entriesOf(1, 4));
    await store.close();
    expect(await sql('SELECT version FROM later.meta')).toEqual([{ version: CURRENT + 1 }]);
  });

  it('refuses tables that need a later one', async () => {
    await (await openStoreOn(server.database(), { schema: 'needy' })).close();
    await script(`UPDATE needy.meta SET version = ${CURRENT + 2}, needs = ${CURRENT + 1}`);
    await expect(openStoreOn(server.database(), { schema: 'needy' })).rejects.toMatchObject({
      fault: 'newer',
      message: `the store has version ${CURRENT + 2}, which needs a later version of Parley: this one supports versions up to ${CURRENT}`,
    });
  });
});

/** What would break a program of the version before. A constraint that is gone does not. */
const TAKES_AWAY =
  /\bDROP (?!CONSTRAINT\b)|\bRENAME\b|\bALTER COLUMN \w+ (?:SET DATA )?TYPE\b|\bSET NOT NULL\b|\bADD COLUMN [^,;]*\bNOT NULL\b(?![^,;]*\bDEFAULT\b)/;

describe('a step', () => {
  it('only adds', () => {
    for (const { sql: of } of STEPS.slice(1)) expect(of('s')).not.toMatch(TAKES_AWAY);
  });

  it.each([
    'DROP TABLE s.a',
    'ALTER TABLE s.a DROP COLUMN b',
    'ALTER TABLE s.a ADD COLUMN b integer NOT NULL',
    'ALTER TABLE s.a RENAME TO b',
  ])('that has %s would be found', (text) => {
    expect(text).toMatch(TAKES_AWAY);
  });
});
