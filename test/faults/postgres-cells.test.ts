import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { CellEvents, StoreCells, TaskRow, Write } from '#engine';
import { CellsLostError, CommitUnknownError } from '#engine';
import { contextId, pushConfigId, taskId } from '#protocol';
import type { PostgresOptions, PostgresStore } from '../../src/engine/adapters/postgres.ts';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { aPush, aTask, entriesOf, rowOf, seqOf } from '../contracts/rows.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { PostgresProxy } from '../support/postgres-proxy.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';

/** A store with several owners, and what it has told about its cells. */
interface Node {
  readonly store: PostgresStore;
  readonly cells: StoreCells;
  readonly claim: NonNullable<PostgresStore['claim']>;
  readonly told: string[];
  /** What the engine would say that nobody uses. */
  idle: readonly number[] | 'all';
}

const CELLS = 12;

suiteNeeding('postgresql', hasPostgres, 'cells that several replicas own', () => {
  const folder = postgresFolder();
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let schema = '';
  let key = 0;
  const nodes: Node[] = [];
  beforeAll(async () => {
    server = await startPostgres(folder);
  }, 120_000);
  afterAll(() => server.stop());
  beforeEach(async () => {
    proxy = await startPostgresProxy(server.port);
    key += 1;
    schema = `cells-${key}`;
  });
  afterEach(async () => {
    for (const { store } of nodes.splice(0)) await store.close();
    await proxy.close();
  });
  const through = (): string => server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const open = async (url = server.url, more: PostgresOptions = {}): Promise<Node> => {
    const store = await openPostgresStore(url, { schema, cells: CELLS, leaseMs: 60_000, share: 'fair', ...more });
    const { cells, claim } = store;
    if (cells === undefined || claim === undefined) throw new Error('the store has one owner');
    const node: Node = { store, cells, claim, told: [], idle: 'all' };
    const events: CellEvents = {
      gained: (gained) => void node.told.push(`gained ${gained.length}`),
      lost: (lost) => void node.told.push(`lost ${lost.length}`),
      idle: async () => (node.idle === 'all' ? cells.own() : node.idle),
      failed: (cause) => void node.told.push(`failed: ${cause}`),
    };
    cells.follow(events);
    nodes.push(node);
    return node;
  };
  const close = async (node: Node): Promise<void> => {
    nodes.splice(nodes.indexOf(node), 1);
    await node.store.close();
  };
  const owning = (...counts: readonly number[]): Promise<number> =>
    eventually(() => expect(nodes.map(({ cells }) => cells.own().length)).toEqual(counts));
  const query = async (text: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return client.query(text).finally(() => client.end());
  };

  /** A new task in a cell. */
  const made = (cells: StoreCells, cell: number): { readonly row: TaskRow; readonly write: Write } => {
    key += 1;
    const place = { contextId: contextId(cells.idIn(cell, `c${key}`)) };
    return { row: rowOf(key, { ...place, last: seqOf(1) }), write: aTask(key, place, 1) };
  };
  const anyOf = (cells: StoreCells): number => {
    const cell = cells.pick();
    if (cell === undefined) throw new Error('it owns no cell');
    return cell;
  };
  const next = (row: TaskRow): Write => ({ kind: 'task', row: { ...row, last: seqOf(2) }, isNew: false, entries: entriesOf(2, 2) });

  it('are divided evenly when replicas come and go', async () => {
    const taken: number[] = [];
    const first = await open(server.url, { onTakeover: (cells) => void taken.push(cells) });
    expect([first.cells.own().length, first.told]).toEqual([CELLS, [`gained ${CELLS}`]]);
    const second = await open();
    await owning(6, 6);
    await open();
    await owning(4, 4, 4);
    const own = nodes.flatMap(({ cells }) => cells.own());
    expect(new Set(own).size).toBe(CELLS);
    expect(taken).toEqual([]);
    await close(second);
    await owning(6, 6);
    expect(taken).toEqual([2]);
    await close(first);
    await owning(CELLS);
  });

  it('stay where they are used, and take no new conversation once others need them', async () => {
    const first = await open();
    first.idle = [];
    const second = await open();
    // New conversations begin in cells that it keeps.
    await eventually(() => new Set(Array.from({ length: 50 }, () => first.cells.pick())).size === 6);
    expect([first.cells.own().length, second.cells.own().length]).toEqual([CELLS, 0]);
    expect(second.cells.pick()).toBeUndefined();
    first.idle = [0, 1];
    await owning(10, 2);
    expect(second.cells.own()).toEqual([0, 1]);
    first.idle = 'all';
    await owning(6, 6);
  });

  it('accept commits of their owner only', async () => {
    const [one, two] = [await open(), await open()];
    await owning(6, 6);
    const cell = anyOf(one.cells);
    const { row, write } = made(one.cells, cell);
    await one.claim([write, aPush(row.key, 'hook')]);
    const refused = (batch: readonly Write[]): Promise<unknown> => two.claim(batch).catch((thrown: unknown) => thrown);
    const own = made(two.cells, anyOf(two.cells));
    expect(await refused([own.write, next(row)])).toEqual(new CellsLostError([cell]));
    // Writes that name a task by its key only.
    const queue = { n: 1, task: row.key, config: pushConfigId('hook'), done: seqOf(0), state: 'open', attempts: 0, dueAt: 0 } as const;
    const byKey: readonly Write[] = [
      { kind: 'forget', task: row.key },
      { kind: 'unpush', task: row.key, id: pushConfigId('hook') },
      { kind: 'outbox', row: queue },
    ];
    for (const each of byKey) expect(await refused([own.write, each])).toEqual(new CellsLostError([cell]));
    await one.claim([{ kind: 'outbox', row: queue }]);
    expect(await refused([own.write, { kind: 'unoutbox', n: 1 }])).toEqual(new CellsLostError([cell]));
    expect(await two.store.task('any', own.row.id)).toBeUndefined();
    expect(await two.store.task('any', row.id)).toEqual(row);
    await two.claim([own.write]);
    expect(await one.store.task('any', own.row.id)).toEqual(own.row);
    expect(await one.store.unfinished(one.cells.own())).toEqual([row]);
    expect(await one.store.unfinished()).toEqual([row, own.row]);
    expect((await two.store.outbox({ limit: 9, cells: two.cells.own() })).length).toBe(0);
    expect((await two.store.outbox({ limit: 9, cells: one.cells.own() })).length).toBe(1);
    const range = { before: Number.MAX_SAFE_INTEGER, limit: 9 };
    await two.claim([{ ...next(own.row), row: { ...own.row, last: seqOf(2), state: 'TASK_STATE_COMPLETED' } } as Write]);
    expect([await one.store.finished(), await one.store.finished(one.cells.own())]).toEqual([1, 0]);
    expect((await one.store.quiet('finished', { ...range, cells: one.cells.own() })).length).toBe(0);
    expect((await one.store.quiet('finished', { ...range, cells: two.cells.own() })).map(({ id }) => id)).toEqual([own.row.id]);
  });

  it('are released between two commits, and refuse later ones', async () => {
    const one = await open();
    const { row, write } = made(one.cells, 3);
    const [before] = [one.claim([write])];
    const releasing = one.cells.release([3]);
    await before;
    await releasing;
    expect(one.told.at(-1)).toBe('lost 1');
    // Without others it takes the cell again.
    await owning(CELLS);
    expect(one.told.at(-1)).toBe('gained 1');
    await one.claim([next(row)]);
    // The control: a cell that somebody else gives away under it.
    await query(`UPDATE "${schema}".cells SET replica = NULL WHERE cell = 3`);
    const more: Write = { kind: 'task', row: { ...row, last: seqOf(3) }, isNew: false, entries: entriesOf(3, 3) };
    const outcome = await one.claim([more]).catch((thrown: unknown) => thrown);
    expect(outcome).toEqual(new CellsLostError([3]));
    expect((await one.store.task('any', row.id))?.last).toBe(2);
  });

  it('go to the others when a replica is cut off, and it starts anew under another number', async () => {
    const lease = { leaseMs: 1500 };
    const cut = await open(through(), lease);
    const cell = anyOf(cut.cells);
    const { row, write } = made(cut.cells, cell);
    await cut.claim([write]);
    proxy.partition();
    const other = await open(server.url, lease);
    await eventually(() => expect(other.cells.own()).toHaveLength(CELLS));
    expect([cut.cells.own(), cut.cells.isOwn(cell), cut.cells.pick(), cut.told.at(-1)]).toEqual([[], false, undefined, `lost ${CELLS}`]);
    await other.claim([next(row)]);
    expect(await cut.claim([next(row)]).catch((thrown: unknown) => thrown)).toEqual(new CellsLostError([cell]));
    proxy.heal();
    await owning(6, 6);
    expect(cut.told.at(-1)).toBe('gained 6');
    const mine = made(cut.cells, anyOf(cut.cells));
    await cut.claim([mine.write]);
    expect(await other.store.task('any', mine.row.id)).toEqual(mine.row);
    expect((await query(`SELECT replica FROM "${schema}".replicas`)).rows).toHaveLength(2);
  });

  it('are lost before the lease ends, and gained again if it is renewed in time', async () => {
    const moment = { ticks: 0, wall: 0 };
    const now = () => ({ ticks: performance.now() + moment.ticks, wall: Date.now() + moment.wall });
    const { leaseClock } = await import('../../src/engine/adapters/postgres/lease-watch.ts');
    const one = await open(server.url, { clock: { ...leaseClock, now }, leaseMs: 20_000 });
    // A machine that was suspended: only its wall clock shows it.
    moment.wall += 18_000;
    expect(one.cells.isOwn(0)).toBe(false);
    expect(one.told.at(-1)).toBe(`lost ${CELLS}`);
    await owning(CELLS);
    expect(one.told.at(-1)).toBe(`gained ${CELLS}`);
  });

  it('can not be written by a commit that began under a number that is buried', async () => {
    const one = await open();
    const { row, write } = made(one.cells, 5);
    await one.claim([write]);
    await query(`DELETE FROM "${schema}".replicas`);
    // It was made under the old number, and another replica may have written meanwhile.
    const stale = await one.claim([next(row)]).catch((thrown: unknown) => thrown);
    expect(stale).toBeInstanceOf(CellsLostError);
    expect(one.told.at(-1)).toBe(`lost ${CELLS}`);
    await owning(CELLS);
    expect((await one.store.task('any', row.id))?.last).toBe(1);
    await one.claim([next(row)]);
  });

  it('tell after a lost answer that its replica is buried', async () => {
    const one = await open(through());
    const { row, write } = made(one.cells, 5);
    proxy.cutNext('before');
    const unknown = await one.claim([write]).catch((thrown: unknown) => thrown);
    if (!(unknown instanceof CommitUnknownError)) throw new Error('the commit was not cut', { cause: unknown });
    await query(`DELETE FROM "${schema}".replicas`);
    expect(await unknown.verdict().catch((thrown: unknown) => thrown)).toBeInstanceOf(CellsLostError);
    expect(await one.store.task('any', taskId(row.id))).toBeUndefined();
    await owning(CELLS);
  });

  it('are handed over by a replica that is about to end, and not if it is the last one', async () => {
    const [one, two] = [await open(), await open()];
    await owning(6, 6);
    one.idle = one.cells.own().slice(0, 4);
    one.cells.stopTaking();
    await owning(2, 10);
    one.idle = 'all';
    await owning(0, CELLS);
    two.cells.stopTaking();
    await eventually(async () => (await two.store.replicas()).filter(({ isLeaving }) => isLeaving).length === 2);
    const { write } = made(two.cells, anyOf(two.cells));
    await two.claim([write]);
    expect(two.cells.own()).toHaveLength(CELLS);
  });

  it('take tasks of an owner whom another replica has deleted', async () => {
    const [one, two] = [await open(), await open()];
    await owning(6, 6);
    const old = made(two.cells, anyOf(two.cells));
    await two.claim([old.write]);
    const { owner } = old.row;
    expect((await one.store.list({ owner, agent: 'echo', limit: 9 })).length).toBe(1);
    await two.claim([{ kind: 'forget', task: old.row.key }]);
    await two.claim([{ kind: 'forgetOwner', owner }]);
    expect((await query(`SELECT 1 FROM "${schema}".realms`)).rowCount).toBe(0);
    // The first one still has the number of the deleted owner in memory.
    const again = made(one.cells, anyOf(one.cells));
    await one.claim([again.write]);
    expect(await two.store.list({ owner: 'any', limit: 9 })).toEqual([again.row]);
    // And the second one sees what it reads by the new number.
    await eventually(async () => expect(await two.store.list({ owner, agent: 'echo', limit: 9 })).toEqual([again.row]));
  });

  it('remember which agents replicas have had', async () => {
    const one = await open();
    one.cells.serve(['echo']);
    expect(await one.cells.abandoned(['echo', 'gone'])).toEqual([]);
    await query(`UPDATE "${schema}".agents SET seen = seen - interval '11 minutes'`);
    expect(await one.cells.abandoned(['gone'])).toEqual(['gone']);
    const two = await open();
    two.cells.serve(['gone']);
    await eventually(async () => (await one.cells.abandoned(['gone'])).length === 0);
  });
});
