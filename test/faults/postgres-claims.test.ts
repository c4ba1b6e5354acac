import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SendRecord, TakenNames, TaskKey, TaskRow, Write } from '#engine';
import { CommitUnknownError } from '#engine';
import { contextId, externalId, messageId, taskId } from '#protocol';
import type { PostgresDatabase } from '../../src/engine/adapters/postgres/database.ts';
import { openPgDatabase } from '../../src/engine/adapters/postgres/pg-database.ts';
import type { PostgresStore } from '../../src/engine/adapters/postgres.ts';
import { openPostgresStore, openStoreOn } from '../../src/engine/adapters/postgres.ts';
import { aSend, entriesOf, rowOf, seqOf } from '../contracts/rows.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { PostgresProxy } from '../support/postgres-proxy.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';

suiteNeeding('postgresql', hasPostgres, 'names that several replicas use', () => {
  const folder = postgresFolder();
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let stores: readonly PostgresStore[] = [];
  let key = 0;
  beforeAll(async () => {
    server = await startPostgres(folder);
  }, 120_000);
  afterAll(() => server.stop());
  beforeEach(async () => {
    proxy = await startPostgresProxy(server.port);
    key += 1;
    const options = { schema: `names-${key}`, share: 64, leaseMs: 120_000 };
    const through = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
    stores = [await openPostgresStore(server.url, options), await openPostgresStore(through, options)];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    await proxy.close();
  });
  const storeAt = (at: number): PostgresStore & Required<Pick<PostgresStore, 'claim'>> => {
    const store = stores[at];
    if (store?.claim === undefined) throw new Error('the store has one writer');
    return { ...store, claim: store.claim };
  };

  /** A new task with its send, in a cell that the store owns. */
  const made = (store: PostgresStore, more: { readonly alias?: string; readonly token?: string; readonly follows?: TaskKey } = {}) => {
    key += 1;
    const plain: TaskRow = { ...rowOf(key), last: seqOf(1), ...(more.alias === undefined ? {} : { alias: externalId(more.alias) }) };
    const row = inOwnCell(store, plain);
    const task: Write = {
      kind: 'task',
      row,
      isNew: true,
      entries: entriesOf(1, 1),
      ...(more.follows === undefined ? {} : { follows: more.follows }),
    };
    const send = aSend(key, more.token === undefined ? {} : { token: more.token });
    if (send.kind !== 'send') throw new Error('a send is a send');
    return { row, batch: [task, send], send: send.record };
  };
  const lost = ({ tasks }: TakenNames): readonly number[] => [...tasks];

  it('gives a send to the first, and again once its answer was delivered', async () => {
    const [one, two] = [storeAt(0), storeAt(1)];
    const first = made(one, { token: 'id m' });
    const second = made(two, { token: 'id m' });
    expect(lost(await one.claim(first.batch))).toEqual([]);
    expect(lost(await two.claim(second.batch))).toEqual([second.row.key]);
    expect(await two.task('any', second.row.id)).toBeUndefined();
    expect((await two.send(second.send))?.task?.id).toBe(first.row.id);
    await one.claim([{ kind: 'delivered', name: first.send }]);
    expect(lost(await two.claim(second.batch))).toEqual([]);
    expect((await one.send(first.send))?.task?.id).toBe(second.row.id);
    // A mark and a new send of the same name are one batch.
    const third = made(two, { token: 'id m' });
    expect(lost(await two.claim([{ kind: 'delivered', name: second.send }, ...third.batch]))).toEqual([]);
  });

  it('gives an alias to a task that follows the one that has it, and to no other', async () => {
    const [one, two] = [storeAt(0), storeAt(1)];
    const first = made(one, { alias: 'job' });
    expect(lost(await one.claim(first.batch))).toEqual([]);
    const blind = made(two, { alias: 'job' });
    expect(lost(await two.claim(blind.batch))).toEqual([blind.row.key]);
    expect(await two.send(blind.send)).toBeUndefined();
    const next = made(two, { alias: 'job', follows: first.row.key });
    const later = made(one, { alias: 'job', follows: first.row.key });
    expect(lost(await two.claim(next.batch))).toEqual([]);
    expect(lost(await one.claim(later.batch))).toEqual([later.row.key]);
    expect((await one.byAlias(first.row.owner, first.row.agent, externalId('job')))?.id).toBe(next.row.id);
    // Two tasks of one alias within one batch.
    const pair = made(two, { alias: 'pair' });
    const newer = made(two, { alias: 'pair', follows: pair.row.key });
    expect(lost(await two.claim([...pair.batch, ...newer.batch]))).toEqual([]);
    expect((await one.byAlias(first.row.owner, first.row.agent, externalId('pair')))?.id).toBe(newer.row.id);
    // After a commit that failed, a batch has the older one last.
    const older = made(two, { alias: 'turned' });
    const last = made(two, { alias: 'turned', follows: older.row.key });
    expect(lost(await two.claim([...last.batch, ...older.batch]))).toEqual([]);
    expect((await one.byAlias(first.row.owner, first.row.agent, externalId('turned')))?.id).toBe(last.row.id);
  });

  it('finds the newest task of an alias, also if its key is lower', async () => {
    const [one, two] = [storeAt(0), storeAt(1)];
    const low = made(one, { alias: 'reversed' });
    const high = made(two, { alias: 'reversed' });
    const next: Write = { kind: 'task', row: low.row, isNew: true, entries: entriesOf(1, 1), follows: high.row.key };
    expect(lost(await two.claim(high.batch))).toEqual([]);
    expect(lost(await one.claim([next]))).toEqual([]);
    const { owner, agent } = low.row;
    expect((await two.byAlias(owner, agent, externalId('reversed')))?.key).toBe(low.row.key);
    await one.claim([{ kind: 'forget', task: low.row.key }]);
    expect((await two.byAlias(owner, agent, externalId('reversed')))?.key).toBe(high.row.key);
  });

  it('leaves the alias free if the send is known', async () => {
    const [one, two] = [storeAt(0), storeAt(1)];
    await one.claim(made(one, { token: 'key 1' }).batch);
    const torn = made(two, { alias: 'free', token: 'key 1' });
    const whole = made(two, { alias: 'other' });
    expect(lost(await two.claim([...torn.batch, ...whole.batch]))).toEqual([torn.row.key]);
    expect((await two.task('any', whole.row.id))?.id).toBe(whole.row.id);
    expect(lost(await one.claim(made(one, { alias: 'free' }).batch))).toEqual([]);
  });

  it('replaces the record of its own task by a direct answer, and that of no other', async () => {
    const [one, two] = [storeAt(0), storeAt(1)];
    const task = made(one, { token: 'id direct' });
    await one.claim(task.batch);
    const { task: _, ...rest } = task.send;
    const record: SendRecord = { ...rest, answer: { messageId: messageId('a'), role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } };
    const stranger = await two.claim([{ kind: 'send', record }]);
    expect([...stranger.sends]).toEqual([record]);
    const own = await one.claim([
      { kind: 'forget', task: task.row.key },
      { kind: 'send', record, was: task.row.key },
    ]);
    expect(own.sends.size).toBe(0);
    expect((await two.send(record))?.answer?.parts[0]?.text).toBe('hi');
  });

  it('knows after a lost answer which names it has', async () => {
    const [one, two] = [storeAt(0), storeAt(1)];
    await one.claim(made(one, { token: 'id taken' }).batch);
    const loser = made(two, { token: 'id taken' });
    const winner = made(two, { token: 'id free' });
    const cutReply = async (): Promise<boolean | TakenNames> => {
      proxy.cutNext('reply');
      const unknown = await two.claim([...loser.batch, ...winner.batch]).catch((thrown: unknown) => thrown);
      if (!(unknown instanceof CommitUnknownError)) throw new Error('the commit was not cut', { cause: unknown });
      return unknown.verdict();
    };
    // It does not know of the first task: the server refuses the statement for new names, and nothing is written.
    expect(await cutReply()).toBe(false);
    expect(await two.send(loser.send)).toBeDefined();
    const verdict = await cutReply();
    if (typeof verdict === 'boolean') throw new Error('the verdict names nothing');
    expect(lost(verdict)).toEqual([loser.row.key]);
    expect(await one.task('any', taskId(loser.row.id))).toBeUndefined();
    expect((await one.task('any', taskId(winner.row.id)))?.id).toBe(winner.row.id);
  });

  it.each([
    ['aliases', true],
    ['aliases', false],
    ['sends', true],
    ['sends', false],
  ] as const)('%s that two replicas claim in opposite order are a deadlock only in the control (sorted: %s)', async (kind, isSorted) => {
    const schema = `order-${key}`;
    for (let at = 0; at < 2; at += 1) {
      const database = await openPgDatabase({ url: server.url, readers: 2, answerMsMax: 60_000 });
      const store = await openStoreOn(isSorted ? database : unsorted(database), { schema, share: 64, leaseMs: 120_000 });
      stores = [...stores, store];
    }
    const [one, two] = [storeAt(2), storeAt(3)];
    await one.claim(made(one).batch);
    const named = (store: PostgresStore, names: readonly string[]): readonly Write[] =>
      names.flatMap((name) => made(store, kind === 'aliases' ? { alias: name } : { token: name }).batch);
    const blocker = new pg.Client({ connectionString: server.url });
    await blocker.connect();
    const waiting = async (): Promise<number | null> => (await operator(WAITING)).rowCount;
    try {
      await blocker.query('BEGIN');
      await blocker.query(`INSERT INTO "${schema}".names (realm, kind, name) SELECT realm, $1, 'name 2' FROM "${schema}".realms`, [
        kind === 'aliases' ? 2 : 1,
      ]);
      const claims = [one.claim(named(one, ['name 1', 'name 2', 'name 3']))];
      await eventually(async () => (await waiting()) === 1);
      claims.push(two.claim(named(two, ['name 3', 'name 2', 'name 1'])));
      await eventually(async () => (await waiting()) === 2);
      // Unsorted, one of them has the first name and the other one the last, and both wait for the one between.
      await blocker.query('ROLLBACK');
      const results = await Promise.allSettled(claims);
      const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason.cause)] : []));
      expect(failures).toEqual(isSorted ? [] : [expect.stringContaining('deadlock detected')]);
      expect(results.flatMap((result) => (result.status === 'fulfilled' ? lost(result.value) : []))).toHaveLength(isSorted ? 3 : 0);
    } finally {
      await blocker.end();
    }
  });

  const operator = async (text: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return client.query(text).finally(() => client.end());
  };
});

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;

/** The database of the control: names are inserted in the order in which a batch has them. */
function unsorted(database: PostgresDatabase): PostgresDatabase {
  return {
    ...database,
    connect: async (options) => {
      const connection = await database.connect(options);
      return {
        ...connection,
        query: ({ name, text }, values) =>
          connection.query({ name, text: text.replaceAll(/ORDER BY realm, (?:alias|name) COLLATE "C"/g, '') }, values),
      };
    },
  };
}

/** The row in a context whose cell the store owns. */
function inOwnCell(store: PostgresStore, row: TaskRow): TaskRow {
  for (let at = 0; ; at += 1) {
    const candidate = { ...row, contextId: contextId(`c${at}`) };
    if (store.owned.includes(store.cellOf(candidate))) return candidate;
  }
}
