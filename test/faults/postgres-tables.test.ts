import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Write } from '#engine';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { entriesOf, rowOf, seqOf } from '../contracts/rows.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, postgresPrograms, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getTask, sendInit, sendTask } from './client.ts';
import { startParley } from './parley.ts';

/** An operator who takes tables away from running nodes. */
suiteNeeding('postgresql', hasPostgres, 'tables of running nodes', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  const env = { PARLEY_AUTH_FOLDER: join(folder, 'auth') };
  let server: PostgresServer | undefined;
  let store = '';
  const nodes: Parley[] = [];

  const sql = async (text: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: server?.url ?? '' });
    await client.connect();
    return await client.query(text).finally(() => client.end());
  };
  const start = async (): Promise<Parley> => {
    const args = ['--store', store, '--store-lease-ms', '2000'];
    const node = await startParley({ agent: 'echo', data: join(folder, `node-${nodes.length}`), args, env });
    nodes.push(node);
    return node;
  };
  const readiness = async (node: Parley): Promise<object> => {
    const response = await fetch(`${node.url}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  const cellsOf = async (node: Parley): Promise<number> =>
    Number(/^parley_replica_cells (\d+)$/m.exec(await fetch(`${node.url}/metrics`).then((got) => got.text()))?.[1]);
  const unready = (reason: string): object => ({ status: 503, body: { status: 'unavailable', message: expect.stringContaining(reason) } });

  beforeAll(async () => {
    server = await startPostgres(place);
    await sql('CREATE ROLE node LOGIN');
    await sql('GRANT CREATE ON DATABASE postgres TO node');
    store = server.url.replace('parley@', 'node@');
  });
  afterAll(async () => {
    for (const node of nodes) await node.kill();
    await server?.stop();
  });

  const refusesAll = async (node: Parley): Promise<void> => {
    const rest = await fetch(`${node.url}/message:send`, sendInit('refused'));
    expect([rest.status, rest.headers.get('Retry-After')]).toEqual([503, '1']);
    expect(await rest.json()).toMatchObject({ error: { status: 'UNAVAILABLE' } });
    const params = {
      message: { kind: 'message', role: 'user', messageId: crypto.randomUUID(), parts: [{ kind: 'text', text: 'refused' }] },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params });
    const rpc = await fetch(node.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    expect([rpc.status, rpc.headers.get('Retry-After')]).toEqual([503, '1']);
  };

  it.each([
    [
      'a schema that is renamed',
      'ALTER SCHEMA parley RENAME TO away',
      'ALTER SCHEMA away RENAME TO parley',
      'not in its database',
      'the schema parley is not in',
    ],
    [
      'a table that is gone',
      'ALTER TABLE parley.segments RENAME TO away',
      'ALTER TABLE parley.away RENAME TO segments',
      'not in its database',
      ': segments. Bring them back',
    ],
    [
      'rights on a table',
      'REVOKE ALL ON parley.tasks FROM node',
      'GRANT ALL ON parley.tasks TO node',
      'may not use its tables',
      'GRANT ALL ON ALL TABLES IN SCHEMA',
    ],
    [
      'rights on the schema',
      'ALTER SCHEMA parley OWNER TO parley; REVOKE ALL ON SCHEMA parley FROM node',
      'ALTER SCHEMA parley OWNER TO node',
      'may not use its tables',
      'GRANT USAGE ON SCHEMA',
    ],
  ])('refuses requests without %s, and continues by itself when it is back', async (_, take, giveBack, reason, advice) => {
    const node = nodes[0] ?? (await start());
    const before = await sendTask(node.url, 'before');
    await sql(take);
    try {
      await eventually(async () => expect(await readiness(node)).toEqual(unready(reason)));
      await refusesAll(node);
      await eventually(() => expect(node.errors()).toContain(advice));
      if (take.includes('SCHEMA')) await eventually(async () => expect(await cellsOf(node)).toBe(0));
    } finally {
      await sql(giveBack);
    }
    await eventually(async () => expect(await readiness(node)).toMatchObject({ status: 200 }));
    await eventually(async () => expect(await sendTask(node.url, 'after')).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } }));
    expect(await getTask(node.url, before.id)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(node.errors()).not.toContain('internal error');
  });

  it('writes nothing into tables that another node has made, and continues with its own', async () => {
    const old = nodes[0] ?? (await start());
    const before = await sendTask(old.url, 'before');
    await sql('ALTER SCHEMA parley RENAME TO away');
    const fresh = await start();
    await eventually(async () => expect(await readiness(old)).toEqual(unready('the tables of this node were replaced')));
    await refusesAll(old);
    const { id } = await sendTask(fresh.url, 'new');
    const { rows } = await sql('SELECT id FROM parley.tasks');
    expect(rows).toEqual([{ id }]);
    expect((await sql('SELECT url FROM parley.replicas')).rows).toEqual([{ url: expect.stringContaining(String(fresh.pid)) }]);
    expect((await sql('SELECT lost FROM parley.meta')).rows).toEqual([{ lost: null }]);
    await fresh.stop();
    await sql('DROP SCHEMA parley CASCADE; ALTER SCHEMA away RENAME TO parley');
    await eventually(async () => expect(await readiness(old)).toMatchObject({ status: 200 }));
    await eventually(async () => expect(await getTask(old.url, before.id)).toMatchObject({ id: before.id }));
    await eventually(async () => expect(await sendTask(old.url, 'again')).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } }));
  });

  it('are fenced from a writer of tables that were dropped, although its numbers are those of a new one', async () => {
    const options = { schema: 'numbered', leaseMs: 120_000 };
    const old = await openPostgresStore(store, options);
    const saved = (n: number): readonly Write[] => [
      { kind: 'task', row: { ...rowOf(n), last: seqOf(1) }, isNew: true, entries: entriesOf(1, 1) },
    ];
    await old.commit(saved(1));
    await sql('DROP SCHEMA numbered CASCADE');
    const fresh = await openPostgresStore(store, options);
    await fresh.commit(saved(2));
    await expect(old.commit(saved(3))).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    expect((await sql('SELECT key::int FROM numbered.tasks')).rows).toEqual([{ key: 2 }]);
    await old.close();
    await fresh.commit(saved(4));
    await fresh.close();
  });

  /** Restores a backup of the schema. `before` runs in the same session, and `pause` seconds pass while only a part of it is there. */
  const restore = (dump: string, before: string, pause: number, options: readonly string[] = []): void => {
    const [meta = '', ...rest] = dump.split(/(?<=^COPY parley[.]meta .*\n(?:.*\n)*?\\\.\n)/m);
    const input = `${before};\n${meta}SELECT pg_sleep(${pause});\n${rest.join('')}`;
    execFileSync(join(postgresPrograms(), 'psql'), ['-v', 'ON_ERROR_STOP=1', '-q', ...options, server?.url ?? ''], {
      input,
      stdio: 'pipe',
    });
  };
  const dumped = (): string =>
    execFileSync(join(postgresPrograms(), 'pg_dump'), ['--schema=parley', '--no-owner', server?.url ?? ''], { encoding: 'utf8' });

  it.each([
    ['in one transaction', 0, ['-1']],
    ['slowly', 6, []],
  ] as const)('are left alone when a backup replaces them %s, until the node is restarted', async (_, pause, options) => {
    await sql('DROP SCHEMA IF EXISTS parley CASCADE');
    await Promise.all(nodes.splice(0).map((node) => node.kill()));
    const node = await start();
    const { id } = await sendTask(node.url, 'saved');
    const dump = dumped();
    await sendTask(node.url, 'after the backup');
    restore(dump, 'DROP SCHEMA parley CASCADE', pause, options);
    await sql(
      'ALTER SCHEMA parley OWNER TO node; GRANT ALL ON ALL TABLES IN SCHEMA parley TO node; GRANT ALL ON ALL SEQUENCES IN SCHEMA parley TO node',
    );
    await eventually(async () => expect(await readiness(node)).toEqual(unready('the tables of this node were replaced')));
    await eventually(async () => expect(await cellsOf(node)).toBe(0));
    await refusesAll(node);
    expect((await sql('SELECT id FROM parley.tasks')).rows).toEqual([{ id }]);
    expect((await sql('SELECT lost FROM parley.meta')).rows).toEqual([{ lost: null }]);
    await node.stop();
    const again = await start();
    await eventually(async () => expect(await getTask(again.url, id)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } }));
    await eventually(async () => expect(await sendTask(again.url, 'again')).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } }));
  });
});
