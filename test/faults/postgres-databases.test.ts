import { afterAll, beforeAll, expect, it } from 'vitest';
import { contextId } from '#protocol';
import { openPgDatabase } from '../../src/engine/adapters/postgres/pg-database.ts';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { run } from '../cli/run.ts';
import { entriesOf, rowOf, seqOf } from '../contracts/rows.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { operate } from './replicas/audit.ts';

const TEXT = 'grüße, 漢字 and 🎉';

suiteNeeding('postgresql', hasPostgres, 'databases that an operator has prepared', () => {
  const folder = postgresFolder();
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(folder);
  }, 120_000);
  afterAll(() => server.stop());

  const urlOf = (database: string, role = 'parley'): string =>
    server.url.replace('parley@', `${role}@`).replace(/\/postgres$/, `/${database}`);
  const encoded = async (name: string, encoding: string): Promise<string> => {
    await operate(server.url, `CREATE DATABASE ${name} ENCODING '${encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`);
    return urlOf(name);
  };
  /** Stores a task, and returns its conversation as it is read back. */
  const kept = async (url: string): Promise<string | undefined> => {
    const store = await openPostgresStore(url);
    const row = { ...rowOf(1), contextId: contextId(TEXT), last: seqOf(1) };
    await store.commit([{ kind: 'task', row, isNew: true, entries: entriesOf(1, 1) }]);
    const read = await store.task('any', row.id);
    await store.close();
    return read?.contextId;
  };

  it('may give the role a schema of its own, and no right to create one', async () => {
    await operate(server.url, 'CREATE ROLE tenant LOGIN');
    await operate(server.url, 'CREATE DATABASE shared');
    await expect(openPostgresStore(urlOf('shared', 'tenant'))).rejects.toThrow('GRANT CREATE ON DATABASE');
    await operate(urlOf('shared'), 'CREATE SCHEMA parley AUTHORIZATION tenant');
    expect(await kept(urlOf('shared', 'tenant'))).toBe(TEXT);
  });

  it('are refused if their encoding lacks characters, before any commit could fail by them', async () => {
    const advice = 'the encoding of the database is LATIN1, which lacks most characters. Create one with: createdb --encoding UTF8';
    await expect(openPostgresStore(await encoded('latin', 'LATIN1'))).rejects.toThrow(advice);
    expect(await kept(await encoded('bytes', 'SQL_ASCII'))).toBe(TEXT);
  });

  it('that are read-only say so to every command', async () => {
    await operate(server.url, 'CREATE DATABASE kept');
    expect(await kept(urlOf('kept'))).toBe(TEXT);
    await operate(server.url, 'ALTER DATABASE kept SET default_transaction_read_only = on');
    await expect(openPostgresStore(urlOf('kept'))).rejects.toThrow('this server or database is read-only');
    const refused = await run(['keys', 'create', 'ann', '--store', urlOf('kept')]);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('this server or database is read-only')]);
  });

  it('may isolate transactions more strictly than a node needs, which would refuse commits that run beside others', async () => {
    await operate(server.url, 'CREATE DATABASE strict');
    await operate(server.url, "ALTER DATABASE strict SET default_transaction_isolation = 'serializable'");
    const database = await openPgDatabase({ url: urlOf('strict'), readers: 1, answerMsMax: 5000 });
    const connection = await database.connect();
    const level = { name: '', text: 'SHOW transaction_isolation' };
    expect(await connection.query(level)).toEqual([{ transaction_isolation: 'read committed' }]);
    expect(await database.read(level)).toEqual([{ transaction_isolation: 'read committed' }]);
    await connection.end();
    await database.close();
    expect(await kept(urlOf('strict'))).toBe(TEXT);
  });
});
