import { createHash } from 'node:crypto';
import { CellsLostError } from '../../cells.ts';
import type { KeyRange, TakenNames } from '../../commit/outcome.ts';
import type { Blobs, ContextFilter, Store, Write } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { NetBatch } from './batch.ts';
import { netOf, realmsOf } from './batch.ts';
import { createPostgresBlobs } from './blobs.ts';
import type { CellWriting } from './cell-owner-options.ts';
import { cellOf } from './cells.ts';
import { createClaims } from './claims.ts';
import type { NameMode } from './commit-sql.ts';
import { valuesOf } from './commit-values.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { LeaseClock } from './lease-watch.ts';
import { leaseClock } from './lease-watch.ts';
import { createPostgresReads } from './reads.ts';
import type { PostgresRealms } from './realms.ts';
import { createPostgresRealms } from './realms.ts';
import type { ReplicaAddress, ReplicaOptions, ReplicaOwner } from './replica.ts';
import type { ReplicaRow } from './replica-list.ts';
import { listReplicaRows } from './replica-list.ts';
import type { SchemaName } from './schema.ts';
import { migrate, quoted } from './schema.ts';
import type { PostgresSearch } from './search/search.ts';
import { createPostgresSearch } from './search/search.ts';
import type { StoreMember } from './shares.ts';
import { joinStore } from './shares.ts';
import type { TableUse } from './tables.ts';
import { readTableUse, rewriteTables } from './tables.ts';
import { createPostgresTitles } from './titles.ts';
import type { SharedUsage } from './usage.ts';
import { sharedUsageOn } from './usage.ts';
import type { ClaimedCommit, CommitResult, Writer } from './writer.ts';
import { createWriter, ForgottenRealmError } from './writer.ts';

/** Options of `openPostgresStore`. */
export interface PostgresOptions {
  /** The schema of the tables. Default `parley`. */
  readonly schema?: string;
  /** How long this process may own the store without renewing its lease. Default 10,000. */
  readonly leaseMs?: number;
  /** The address of this node, which another node names when it can't start. */
  readonly url?: string;
  /** Number of cells of a new store. It can't be changed later. Default 128. */
  readonly cells?: number;
  /**
   * `all` (default): this is the only writer. `fair`: one of several, each of which owns its share of the cells. A number: one of several, which
   * takes at most so many free cells and gives none back.
   */
  readonly share?: 'all' | 'fair' | number;
  /**
   * Called when another process owns the store: this one waits, and opens the store when the other one has ended. Absent: it throws a
   * StoreError.
   */
  readonly onStandby?: (owner: ReplicaOwner) => void;
  /** With `fair`: called when this process has taken cells of one that has ended, with their number. */
  readonly onTakeover?: (cells: number) => void;
  /** Called once, before this process joins the others. Returns where they reach it. Absent: they don't. */
  readonly announce?: (shared: ReplicaAccess) => Promise<ReplicaAddress>;
  /** Ends the wait while another process owns the store: opening fails with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Keep a full-text index (`search`). Default true. */
  readonly search?: boolean;
  /** Maximum number of connections for reads. Default 8. */
  readonly readers?: number;
  /** The server cancels a commit that waits longer than this for another one. Default 5,000. */
  readonly commitMsMax?: number;
  /** Gets internal errors, for the log. */
  readonly report?: (what: string, cause: unknown) => void;
  /** The time of the lease. Default: the clocks of the machine. */
  readonly clock?: LeaseClock;
  /** For tests only: how the outcome of a lost commit is found. Default `fenced`. */
  readonly verdicts?: 'fenced' | 'plain';
}

/** What replicas of one database share. */
export interface ReplicaAccess {
  /** The processes that use the store now, oldest first. */
  replicas(): Promise<readonly ReplicaRow[]>;
  /** Returns a secret of the node, after storing `fresh` if there is none. */
  sharedSecret(name: string, fresh: string): Promise<string>;
}

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
  /** The cells that this process owns. */
  readonly owned: readonly number[];
  /** The cell of a conversation. */
  cellOf(place: ContextFilter): number;
}

const DEFAULTS = {
  schema: 'parley',
  leaseMs: 10_000,
  url: '',
  cells: 128,
  share: 'all',
  search: true,
  commitMsMax: 5000,
  report: () => {},
  clock: leaseClock,
  verdicts: 'fenced',
} as const;
const KEYS_A_RANGE = 65_536;

/** Opens a store over a database that is connected already. */
export async function openStoreOn(database: PostgresDatabase, options: PostgresOptions): Promise<PostgresStore> {
  const { schema, leaseMs, url, cells, share, search, commitMsMax, report, clock, verdicts } = { ...DEFAULTS, ...options };
  const s = quoted(schema);
  const connection = await database.connect();
  const meta = await migrate(connection, s, cells).finally(() => connection.end());
  const shared = replicaAccess(database, s);
  const { inTurn, settled } = oneAtATime();
  const writing: CellWriting = {
    settle: (replica) => inTurn(() => writer.settle(replica)),
    release: (given, replica, to) => inTurn(() => writer.release(given, replica, to)),
  };
  const { onStandby, onTakeover, signal } = options;
  const address = await options.announce?.(shared);
  const member = await joinStore(database, s, {
    ...{ leaseMs, url, share, report, clock, onStandby, onTakeover, signal, address, writing },
    count: meta.cells,
    onDrops: () => realms.reset(),
  });
  const realms = createPostgresRealms(database, s);
  const writer = createWriter({ database, schema: s, replica: member.replica, commitMsMax, report, verdicts });
  await member.begin();
  const sql = statements(s);

  const send = createSending({ writer, realms, cells: meta.cells, report });
  const claim = createClaims({ database, schema: s, realms, send: (net, replica, look) => send(net, 'claim', { replica, look }) });
  const { read, rows, ...reads } = createPostgresReads(database, s, realms);
  const sought = { schema: s, realms, read, rows, entries: reads.entries, isShared: share !== 'all', report };
  const searching = search ? createPostgresSearch(sought) : undefined;
  return {
    ...reads,
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

/** One commit at a time: the outcome of a second one behind a lost one would be harder to find. */
function oneAtATime(): { readonly inTurn: <T>(run: () => Promise<T>) => Promise<T>; readonly settled: () => Promise<unknown> } {
  let last: Promise<unknown> = Promise.resolve();
  return {
    inTurn: (run) => {
      const next = last.then(run);
      last = next.catch(() => {});
      return next;
    },
    settled: () => last,
  };
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

function replicaAccess(database: PostgresDatabase, s: SchemaName): ReplicaAccess {
  const sql = statements(s);
  return {
    replicas: () => reading(() => listReplicaRows(database, s)),
    sharedSecret: async (name, fresh) => {
      await reading(() => database.read(sql.offerSecret, [name, fresh]));
      const [stored] = await reading(() => database.read<{ value: string }>(sql.secret, [name]));
      if (stored === undefined) throw new StoreError('failed', `the secret ${name} was not stored`);
      return stored.value;
    },
  };
}

interface SendingParts {
  readonly writer: Writer;
  readonly realms: PostgresRealms;
  /** Number of cells. */
  readonly cells: number;
  readonly report: ReplicaOptions['report'];
}

type Send = (net: NetBatch, mode: NameMode, claimed?: ClaimedCommit) => Promise<CommitResult>;

/** Sends batches with the numbers of their realms. */
function createSending({ writer, realms, cells, report }: SendingParts): Send {
  const dropRealms = realmDropper(realms, report);
  const send: Send = async (net, mode, claimed) => {
    await realms.obtain(realmsOf(net));
    const forgotten: number[] = [];
    for (const owner of net.owners) forgotten.push(...(await realms.within(owner, undefined)));
    const result = await writer.commit(valuesOf(net, mode, { realms, cells, forgotten }), net, claimed);
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

function statements(s: SchemaName): Readonly<Record<'reserve' | 'offerSecret' | 'secret', Sql>> {
  return {
    reserve: { name: 'reserve', text: `SELECT nextval('${s.replaceAll("'", "''")}.keys') AS first` },
    offerSecret: { name: 'offer-secret', text: `INSERT INTO ${s}.secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING` },
    secret: { name: 'secret', text: `SELECT value FROM ${s}.secrets WHERE name = $1` },
  };
}
