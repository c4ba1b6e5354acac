import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { CommitUnknownError, type Store, type TaskRow, type Write } from '#engine';
import { contextId, externalId, isA2AError, taskId } from '#protocol';
import { openPgDatabase } from '../../src/engine/adapters/postgres/pg-database.ts';
import type { PostgresOptions, PostgresStore } from '../../src/engine/adapters/postgres.ts';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { ALICE, aSend, aTask, entriesOf, rowOf, seqOf } from '../contracts/rows.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { CommitCut, PostgresProxy } from '../support/postgres-proxy.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { times } from './size.ts';

/** A busy machine may stop this process for seconds. */
const LEASE_MS = 6000;

/** Commits as the engine does: asks for the verdict until it is certain, and sends again what was not written. */
async function commitAsEngine(store: Store, batch: readonly Write[]): Promise<void> {
  try {
    await store.commit(batch);
  } catch (thrown) {
    if (thrown instanceof CommitUnknownError && (await verdictOf(thrown))) return;
    if (!(thrown instanceof CommitUnknownError) && !(isA2AError(thrown) && thrown.kind === 'UNAVAILABLE')) throw thrown;
    await commitAsEngine(store, batch);
  }
}

async function verdictOf(unknown: CommitUnknownError): Promise<boolean> {
  let verdict: unknown;
  await eventually(async () => {
    verdict = await unknown.verdict().catch((thrown: unknown) => {
      if (isA2AError(thrown) && thrown.kind === 'UNAVAILABLE') throw thrown;
      return thrown;
    });
  });
  if (typeof verdict !== 'boolean') throw verdict;
  return verdict;
}

suiteNeeding('postgresql', hasPostgres, 'the store on a Postgres that fails', () => {
  const folder = postgresFolder();
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let schema = '';
  let key = 0;
  const nextKey = (): number => {
    key += 1;
    return key;
  };
  const opened: PostgresStore[] = [];
  const through = (): string => server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const open = async (url: string, options: PostgresOptions = {}): Promise<PostgresStore> => {
    const store = await openPostgresStore(url, { schema, leaseMs: LEASE_MS, ...options });
    opened.push(store);
    return store;
  };
  const operator = async <T>(use: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return use(client).finally(() => client.end());
  };
  beforeAll(async () => {
    server = await startPostgres(folder);
  }, 120_000);
  afterAll(() => server.stop());
  beforeEach(async () => {
    proxy = await startPostgresProxy(server.port);
    schema = `faults-${nextKey()}`;
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    await proxy.close();
  });

  it('gives one true verdict for every commit whose connection was cut', { timeout: 300_000 }, async () => {
    const store = await open(through(), { leaseMs: 60_000 });
    const cuts: readonly CommitCut[] = ['before', 'reply', 'late'];
    for (let round = 0; round < times(10, 60); round += 1) {
      for (const how of cuts) {
        key += 1;
        proxy.cutNext(how);
        await commitAsEngine(store, [aTask(key, {}, 2), aSend(key)]);
        proxy.deliver();
        const more: Write = { kind: 'task', row: rowOf(key, { last: seqOf(3) }), isNew: false, entries: entriesOf(3, 3) };
        proxy.cutNext(how);
        await commitAsEngine(store, [more]);
        proxy.deliver();
        const row = rowOf(key, { last: seqOf(3) });
        expect(await store.task('any', taskId(`t${key}`))).toEqual(row);
        expect(await store.entries(row.key, { after: seqOf(0), limit: 9 })).toEqual(entriesOf(1, 3));
      }
    }
    expect(proxy.cuts).toBe(times(10, 60) * cuts.length * 2);
  });

  it.each([
    ['never arrives after its verdict', 'fenced', 0],
    ['arrives after a verdict that only looked: the control', 'plain', 5],
  ] as const)('a late commit %s', { timeout: 120_000 }, async (_, verdicts, ghosts) => {
    const store = await open(through(), { verdicts, leaseMs: 60_000 });
    const late: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      key += 1;
      proxy.cutNext('late');
      const lost = await Promise.resolve(store.commit([aTask(key, {}, 1)])).catch((thrown: unknown) => thrown);
      if (!(lost instanceof CommitUnknownError)) throw new Error('the commit was not cut', { cause: lost });
      expect(await verdictOf(lost)).toBe(false);
      proxy.deliver();
      late.push(`t${key}`);
    }
    // The server ends a connection whose client is gone after it has executed what it got.
    await eventually(() => operator(async (client) => (await client.query(LATE_SESSIONS, [opened.length])).rowCount === 0));
    const found = await Promise.all(late.map((id) => store.task('any', taskId(id))));
    expect(found.filter((row) => row !== undefined)).toHaveLength(ghosts);
  });

  it('refuses the writes of a node that was cut off, once another has taken over', { timeout: 120_000 }, async () => {
    const old = await open(through());
    await old.commit([aTask(nextKey(), {}, 1)]);
    await expect(open(server.url)).rejects.toMatchObject({ fault: 'locked' });
    proxy.partition();
    const next = await open(server.url);
    const row = rowOf(key, { last: seqOf(2) });
    await next.commit([{ kind: 'task', row, isNew: false, entries: entriesOf(2, 2) }]);
    proxy.heal();
    const stale: Write = { kind: 'task', row, isNew: false, entries: entriesOf(2, 2) };
    await expect(commitAsEngine(old, [stale])).rejects.toMatchObject({ fault: 'locked' });
    expect(await next.task('any', row.id)).toEqual(row);
  });

  it('continues by itself after its lease has lapsed and nobody took over', { timeout: 120_000 }, async () => {
    const store = await open(through());
    await store.commit([aTask(nextKey(), {}, 1)]);
    proxy.partition();
    await eventually(() => operator(async (client) => (await client.query(LAPSED(schema))).rowCount === 1));
    proxy.heal();
    const row = rowOf(key, { last: seqOf(2) });
    await eventually(() => store.commit([{ kind: 'task', row, isNew: false, entries: entriesOf(2, 2) }]));
    expect(await store.task('any', row.id)).toEqual(row);
  });

  it('lets a takeover wait for a commit under way, which a change of the epoch does not', { timeout: 120_000 }, async () => {
    const store = await open(server.url, { leaseMs: 120_000, commitMsMax: 120_000 });
    await store.commit([aTask(nextKey(), {}, 1), aSend(key)]);
    await operator(async (blocker) => {
      await blocker.query('BEGIN');
      await blocker.query(`SELECT 1 FROM "${schema}".names FOR UPDATE`);
      const waiting = () => operator((client) => client.query(WAITING));
      let [isBuried, isCommitted] = [false, false];
      const commit = Promise.resolve(store.commit([aTask(key + 1, {}, 1), aSend(key + 1, { token: `id m${key}` })])).then(() => {
        isCommitted = true;
      });
      await eventually(async () => (await waiting()).rowCount === 1);
      // The control: the commit would become visible after this takeover.
      await operator((client) => client.query(`UPDATE "${schema}".cells SET epoch = epoch + 1`));
      expect(isCommitted).toBe(false);
      const burial = operator((client) => client.query(`DELETE FROM "${schema}".replicas`)).then(() => {
        isBuried = true;
      });
      await eventually(async () => (await waiting()).rowCount === 2);
      expect([isBuried, isCommitted]).toEqual([false, false]);
      await blocker.query('COMMIT');
      await Promise.all([commit, burial]);
    });
    expect(await store.task('any', taskId(`t${key + 1}`))).toBeDefined();
  });

  it('lets the server notice soon that a machine is gone', async () => {
    const database = await openPgDatabase({ url: server.url, readers: 1, answerMsMax: 60_000 });
    const connection = await database.connect();
    const shown: unknown[] = [];
    for (const name of ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout'])
      shown.push(...(await connection.query<object>({ name: '', text: `SHOW ${name}` })));
    expect(shown).toEqual([
      { tcp_keepalives_idle: '10' },
      { tcp_keepalives_interval: '5' },
      { tcp_keepalives_count: '4' },
      { tcp_user_timeout: '30000' },
    ]);
    await connection.end();
    await database.close();
  });

  it('makes one task of one name at three replicas', { timeout: 120_000 }, async () => {
    const share = { share: 43, leaseMs: 120_000 };
    const stores = [await open(server.url, share), await open(server.url, share), await open(server.url, share)];
    const names = 16;
    for (let round = 0; round < times(10, 150); round += 1) {
      const taken = await Promise.all(
        stores.map((store) => {
          const batch = Array.from({ length: names }, (_, at): readonly Write[] => {
            key += 1;
            const row = inOwnCell(store, { ...rowOf(key), alias: externalId(`name ${round} ${at}`), last: seqOf(1) });
            return [{ kind: 'task', row, isNew: true, entries: entriesOf(1, 1) }, aSend(key, { token: `key ${round} ${at}` })];
          });
          // Each replica has the names in another order.
          return store.claim?.(batch.toSorted(() => (store === stores[1] ? -1 : 1)).flat());
        }),
      );
      expect(taken.flatMap((each) => [...(each?.tasks ?? [])])).toHaveLength(names * (stores.length - 1));
    }
    expect(await stores[0]?.count({ owner: 'any' })).toBe(names * times(10, 150));
    const names_ = await operator((client) => client.query(ORPHANED(schema)));
    expect(names_.rowCount).toBe(0);
  });
});

/** Sessions of stores whose client is gone: all but the writer, the lease and the readers of the open stores. */
const LATE_SESSIONS = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'parley' AND query LIKE 'WITH held%' AND state <> 'idle' AND $1 > 0`;
const LAPSED = (schema: string): string => `SELECT 1 FROM "${schema}".replicas WHERE until < clock_timestamp()`;
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
const ORPHANED = (schema: string): string =>
  `SELECT 1 FROM "${schema}".names n WHERE NOT EXISTS (SELECT 1 FROM "${schema}".tasks k WHERE k.key = n.task)`;

/** The row in a context whose cell the store owns. */
function inOwnCell(store: PostgresStore, row: TaskRow): TaskRow {
  for (let at = 0; ; at += 1) {
    const candidate = { ...row, contextId: contextId(`c${at}`) };
    if (store.owned.includes(store.cellOf({ ...candidate, owner: ALICE }))) return candidate;
  }
}
