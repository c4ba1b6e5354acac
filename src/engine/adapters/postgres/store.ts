import { createHash } from 'node:crypto';
import { CellsLostError } from '../../cells.ts';
import type { KeyRange, TakenNames } from '../../commit/outcome.ts';
import type { Blobs, ContextFilter, SendName, SendRecord, Store, TaskKey, Write } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { NetBatch } from './batch.ts';
import { nameKey, netOf, realmsOf } from './batch.ts';
import { createPostgresBlobs } from './blobs.ts';
import type { CellWriting } from './cell-owner-options.ts';
import { cellOf } from './cells.ts';
import { createClaims } from './claims.ts';
import type { NameMode } from './commit-sql.ts';
import { valuesOf } from './commit-values.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { HistoryCheck } from './history-check.ts';
import { acceptOrRefuse, createHistoryCheck } from './history-check.ts';
import { oneAtATime } from './in-turn.ts';
import type { PostgresOptions, ReplicaAccess } from './options.ts';
import { DEFAULTS } from './options.ts';
import { createPostgresReads } from './reads.ts';
import type { PostgresRealms } from './realms.ts';
import { createPostgresRealms } from './realms.ts';
import type { ReplicaOptions } from './replica.ts';
import { listReplicaRows } from './replica-list.ts';
import type { PostgresMeta, SchemaName } from './schema.ts';
import { MIGRATE_MS_MAX, migrate, quoted, stillTables } from './schema.ts';
import type { PostgresSearch } from './search/search.ts';
import { createPostgresSearch } from './search/search.ts';
import type { StoreMember } from './shares.ts';
import { joinStore } from './shares.ts';
import { watchTables } from './table-watch.ts';
import type { TableUse } from './tables.ts';
import { readTableUse, rewriteTables } from './tables.ts';
import { createPostgresTitles } from './titles.ts';
import type { SharedUsage } from './usage.ts';
import { sharedUsageOn } from './usage.ts';
import type { ClaimedCommit, CommitResult, Writer } from './writer.ts';
import { createWriter, ForgottenRealmError } from './writer.ts';

/** A `Store` in a Postgres database. */
export interface PostgresStore extends Store, ReplicaAccess {
  reserveKeys(): Promise<KeyRange>;
  /** Random id of the store. */
  readonly id: string;
  /** Large content, in the same database. */
  readonly blobs: Blobs;
  /** Signs page tokens. Belongs to the store. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** What takes the space of the database, in bytes. */
  tableUse(): Promise<TableUse>;
  /** What the callers of each process use, for limits that hold for all. */
  readonly usage: SharedUsage;
  /** Of these tasks, those that exist, or whose keys were not handed out yet. */
  existing(tasks: readonly TaskKey[]): Promise<ReadonlySet<TaskKey>>;
  /** The cells that this process owns. */
  readonly owned: readonly number[];
  /** The cell of a conversation. */
  cellOf(place: ContextFilter): number;
}

const KEYS_A_RANGE = 65_536;

/** Opens a store over a database that is connected already. */
export async function openStoreOn(database: PostgresDatabase, options: PostgresOptions): Promise<PostgresStore> {
  const { schema, report } = { ...DEFAULTS, ...options };
  const { onProblem } = options;
  const s = quoted(schema);
  const tables = await prepare(database, s, options);
  const store = await openOn(database, tables, options);
  if (onProblem === undefined) return store;
  const watch = watchTables({ database, schema: s, still: tables.still, onChange: onProblem, report });
  const { close } = store;
  return Object.assign(store, {
    close: async () => {
      watch.stop();
      await close();
    },
  });
}

async function openOn(database: PostgresDatabase, meta: OpenedTables, options: PostgresOptions): Promise<PostgresStore> {
  const { schema, leaseMs, url, share, search, commitMsMax, report, clock, verdicts } = { ...DEFAULTS, ...options };
  const s = quoted(schema);
  const place = { schema: s, still: meta.still };
  const history = createHistoryCheck({ ...place, database, cells: meta.cells, report });
  const shared = replicaAccess(database, s, meta.still);
  const { inTurn, settled } = oneAtATime();
  const writing: CellWriting = {
    settle: (replica) => inTurn(() => writer.settle(replica)),
    release: (given, replica, to) => {
      history.release(given);
      return inTurn(() => writer.release(given, replica, to));
    },
  };
  const { onStandby, onTakeover, signal } = options;
  const address = await options.announce?.(shared);
  const member = await joinStore(history.database, s, {
    ...{ leaseMs, url, share, report, clock, onStandby, onTakeover, signal, address, writing },
    ...{ count: meta.cells, still: meta.still },
    onDrops: () => realms.reset(),
    onRejoin: () => history.release(),
  });
  const realms = createPostgresRealms(database, s);
  const writer = createWriter({ ...place, database: history.database, replica: member.replica, commitMsMax, report, verdicts });
  await member.begin();
  const [sql, seen] = [statements(s), new Set<string>()];
  const send = createSending({ writer, realms, history, seen, cells: meta.cells, report });
  const claim = createClaims({ database, schema: s, realms, send: (net, replica, look) => send(net, 'claim', { replica, look }) });
  const { read, rows, ...reads } = createPostgresReads(database, s, realms);
  const sought = { schema: s, realms, read, rows, entries: reads.entries, isShared: share !== 'all', report };
  const searching = search ? createPostgresSearch(sought) : undefined;
  return {
    ...reads,
    send: noting(reads.send, seen),
    names: createPostgresTitles(database, s),
    ...(searching === undefined ? {} : { search: searching.search }),
    commit: async (batch) => {
      const net = netOf(batch);
      await indexed(searching, batch, () => inTurn(() => send(net, 'replace')));
    },
    ...sharing(member, (batch, replica) => indexed(searching, batch, () => inTurn(() => claim(netOf(batch), replica)))),
    reserveKeys: async () => {
      const [range] = await reading(() => database.read<{ first: number }>(sql.reserve));
      if (range === undefined) throw new StoreError('failed', 'no keys were reserved');
      return { first: range.first, last: range.first + KEYS_A_RANGE - 1 };
    },
    existing: existingIn(database, sql.existing),
    tableUse: () => reading(() => readTableUse(database, s)),
    // Commits wait here, and not at the server, which would cancel them.
    compact: () => inTurn(() => rewriteTables(database, s)),
    id: meta.store,
    usage: sharedUsageOn(database, s),
    blobs: createPostgresBlobs(database, s),
    secret: new Uint8Array(createHash('sha256').update(`page tokens of ${meta.store}`).digest()),
    ...shared,
    get owned() {
      return member.owned();
    },
    cellOf: (place) => cellOf(place, meta.cells),
    close: async () => {
      await searching?.close();
      await settled();
      // Not the other way round: it may open the writer's connection once more.
      await member.leave();
      await writer.close();
      await database.close();
    },
  };
}

/** Creates or migrates the tables. Refuses a database that lacks commits, unless that is accepted. */
type OpenedTables = PostgresMeta & { readonly still: string };

async function prepare(database: PostgresDatabase, s: SchemaName, options: PostgresOptions): Promise<OpenedTables> {
  const { cells, acceptLoss } = { ...DEFAULTS, ...options };
  const connection = await database.connect({ answerMsMax: MIGRATE_MS_MAX });
  try {
    const meta = await migrate(connection, s, cells);
    const missing = await acceptOrRefuse(connection, s, acceptLoss);
    if (missing !== undefined) options.onAcceptedLoss?.(missing);
    return { ...meta, still: await stillTables(connection, s) };
  } finally {
    await connection.end();
  }
}

/** Commits, and tells the search what has changed. After a failure it may be written or not. */
async function indexed<T>(searching: PostgresSearch | undefined, batch: readonly Write[], commit: () => Promise<T>): Promise<T> {
  let isCertain = false;
  try {
    const committed = await commit();
    isCertain = true;
    return committed;
  } finally {
    searching?.committed(batch, isCertain);
  }
}

/** What a store has for its only writer, or for one of several. */
function sharing(
  { lease, cells, replica }: StoreMember,
  claim: (batch: readonly Write[], replica: number) => Promise<TakenNames>,
): Pick<Store, 'lease' | 'cells' | 'claim'> {
  if (cells === undefined) return lease === undefined ? {} : { lease };
  return {
    cells,
    claim: async (batch) => {
      const away = new Set<number>();
      for (const write of batch) {
        const cell = write.kind === 'task' ? cells.cellOf(write.row) : undefined;
        if (cell !== undefined && !cells.isOwn(cell)) away.add(cell);
      }
      if (away.size > 0 || replica.id === 0) throw new CellsLostError([...away]);
      return claim(batch, replica.id);
    },
  };
}

function replicaAccess(database: PostgresDatabase, s: SchemaName, still: string): ReplicaAccess {
  const sql = statements(s);
  return {
    replicas: () => reading(() => listReplicaRows(database, s, still)),
    sharedSecret: async (name, fresh) => {
      await reading(() => database.read(sql.offerSecret, [name, fresh]));
      const [stored] = await reading(() => database.read<{ value: string }>(sql.secret, [name]));
      if (stored === undefined) throw new StoreError('failed', `the secret ${name} was not stored`);
      return stored.value;
    },
  };
}

function existingIn(database: PostgresDatabase, sql: Sql): PostgresStore['existing'] {
  return async (tasks) =>
    new Set((await reading(() => database.read<{ key: TaskKey }>(sql, [JSON.stringify(tasks)]))).map(({ key }) => key));
}

/** Names that a read finds cost a commit less if it knows of them before. Others are found by the commit. */
const SEEN_MAX = 10_000;

function noting(read: Store['send'], seen: Set<string>): (name: SendName) => Promise<SendRecord | undefined> {
  return async (name) => {
    const record = await read(name);
    if (record === undefined) return undefined;
    if (seen.size >= SEEN_MAX) seen.clear();
    seen.add(nameKey(name));
    return record;
  };
}

interface SendingParts {
  readonly writer: Writer;
  readonly realms: PostgresRealms;
  readonly history: HistoryCheck;
  /** Number of cells. */
  readonly cells: number;
  readonly report: ReplicaOptions['report'];
  /** Keys of sends that reads have found. */
  readonly seen: ReadonlySet<string>;
}

type Send = (net: NetBatch, mode: NameMode, claimed?: ClaimedCommit) => Promise<CommitResult>;

/** Sends batches with the numbers of their realms. */
function createSending({ writer, realms, history, seen, cells, report }: SendingParts): Send {
  const dropRealms = realmDropper(realms, report);
  const send: Send = async (net, mode, claimed) => {
    await realms.obtain(realmsOf(net));
    const forgotten: number[] = [];
    for (const owner of net.owners) forgotten.push(...(await realms.within(owner, undefined)));
    const result = await writer.commit(valuesOf(net, mode, { realms, cells, forgotten, seen }), net, claimed);
    history.acknowledged(net, result.made);
    await dropRealms(forgotten);
    return result;
  };
  return async (net, mode, claimed) => {
    try {
      return await send(net, mode, claimed);
    } catch (thrown) {
      if (!(thrown instanceof ForgottenRealmError)) throw thrown;
      // A second time, the realms are those that exist.
      realms.reset();
      return await send(net, mode, claimed);
    }
  };
}

/** Deletes realms of forgotten owners. Those that are still used stay. The commit is done already, so a failure waits for the next one. */
function realmDropper(realms: PostgresRealms, report: ReplicaOptions['report']): (forgotten: readonly number[]) => Promise<void> {
  const left = new Set<number>();
  return async (forgotten) => {
    for (const realm of forgotten) left.add(realm);
    if (left.size === 0) return;
    try {
      await realms.drop([...left]);
      left.clear();
    } catch (thrown) {
      report('the name of a forgotten owner is not deleted yet', thrown);
    }
  };
}

function statements(s: SchemaName): Readonly<Record<'reserve' | 'existing' | 'offerSecret' | 'secret', Sql>> {
  return {
    reserve: { name: 'reserve', text: `SELECT nextval('${s.replaceAll("'", "''")}.keys') AS first` },
    existing: {
      name: 'existing',
      text: `SELECT v::bigint AS key FROM json_array_elements_text($1::json) AS v WHERE v::bigint >= (SELECT last_value + ${KEYS_A_RANGE} FROM ${s}.keys)
        OR EXISTS (SELECT 1 FROM ${s}.tasks k WHERE k.key = v::bigint)`,
    },
    offerSecret: { name: 'offer-secret', text: `INSERT INTO ${s}.secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING` },
    secret: { name: 'secret', text: `SELECT value FROM ${s}.secrets WHERE name = $1` },
  };
}
