import { createHash } from 'node:crypto';
import type { KeyRange, TakenNames } from '../../commit/outcome.ts';
import type { Blobs, Store, TaskRow, Write } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { NetBatch } from './batch.ts';
import { netOf, realmsOf } from './batch.ts';
import { createPostgresBlobs } from './blobs.ts';
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
import { cellOf } from './records.ts';
import type { ReplicaAddress, ReplicaOptions, ReplicaOwner } from './replica.ts';
import { joinReplicas } from './replica.ts';
import type { ReplicaRow } from './replica-list.ts';
import { listReplicaRows } from './replica-list.ts';
import type { SchemaName } from './schema.ts';
import { migrate, quoted } from './schema.ts';
import { createPostgresSearch } from './search/search.ts';
import type { TableUse } from './tables.ts';
import { readTableUse, rewriteTables } from './tables.ts';
import type { CommitResult } from './writer.ts';
import { createWriter } from './writer.ts';

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
  /** `all` (default): this is the only writer. A number: takes at most so many free cells, beside other writers. */
  readonly share?: 'all' | number;
  /**
   * Called when another process owns the store: this one waits, and opens the store when the other one has ended. Absent: it throws a
   * StoreError.
   */
  readonly onStandby?: (owner: ReplicaOwner) => void;
  /** Called once, before this process joins the others. Returns where they reach it. Absent: they don't. */
  readonly announce?: (shared: ReplicaAccess) => Promise<ReplicaAddress>;
  /** Ends the wait while another process owns the store: opening fails with the reason of the signal. */
  readonly signal?: AbortSignal;
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

/** What replicas of one database share, also while they stand by. */
export interface ReplicaAccess {
  /** The processes that use the store now, oldest first. */
  replicas(): Promise<readonly ReplicaRow[]>;
  /** Returns a secret of the node, after storing `fresh` if there is none. */
  sharedSecret(name: string, fresh: string): Promise<string>;
}

/** A `Store` in a Postgres database. */
export interface PostgresStore extends Store, ReplicaAccess {
  reserveKeys(): Promise<KeyRange>;
  /** Large content, in the same database. */
  readonly blobs: Blobs;
  /** Signs page tokens. Belongs to the store. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** What takes the space of the database, in bytes. */
  tableUse(): Promise<TableUse>;
  /** The cells that this process owns. */
  readonly cells: readonly number[];
  /** The cell of a task. */
  cellOf(task: Pick<TaskRow, 'owner' | 'agent' | 'contextId'>): number;
}

const DEFAULTS = {
  schema: 'parley',
  leaseMs: 10_000,
  url: '',
  cells: 128,
  share: 'all',
  commitMsMax: 5000,
  report: () => {},
  clock: leaseClock,
  verdicts: 'fenced',
} as const;
const KEYS_A_RANGE = 65_536;

/** Opens a store over a database that is connected already. */
export async function openStoreOn(database: PostgresDatabase, options: PostgresOptions): Promise<PostgresStore> {
  const { schema, leaseMs, url, cells, share, commitMsMax, report, clock, verdicts } = { ...DEFAULTS, ...options };
  const s = quoted(schema);
  const connection = await database.connect();
  const meta = await migrate(connection, s, cells).finally(() => connection.end());
  const shared = replicaAccess(database, s);
  const { onStandby, signal } = options;
  const joining: ReplicaOptions = { leaseMs, url, share, report, clock, onStandby, signal, address: await options.announce?.(shared) };
  const replica = await joinReplicas(database, s, joining);
  const realms = createPostgresRealms(database, s);
  const writer = createWriter({ database, schema: s, replica, commitMsMax, report, verdicts });
  const sql = statements(s);
  const dropRealms = realmDropper(realms, report);

  const send = async (net: NetBatch, mode: NameMode, look?: () => Promise<TakenNames>): Promise<CommitResult> => {
    await realms.obtain(realmsOf(net));
    const forgotten: number[] = [];
    for (const owner of net.owners) forgotten.push(...(await realms.within(owner, undefined)));
    const result = await writer.commit(valuesOf(net, mode, { realms, cells: meta.cells, forgotten }), net, look);
    await dropRealms(forgotten);
    return result;
  };
  const claim = createClaims({ database, schema: s, realms, send: (net, look) => send(net, 'claim', look) });
  /** One commit at a time: the outcome of a second one behind a lost one would be harder to find. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const next = last.then(run);
    last = next.catch(() => {});
    return next;
  };
  const claimInTurn = (net: NetBatch): ReturnType<typeof claim> => inTurn(() => claim(net));
  const { read, rows, ...reads } = createPostgresReads(database, s, realms);
  const searching = createPostgresSearch({ schema: s, realms, read, rows, entries: reads.entries, isShared: share !== 'all', report });
  return {
    ...reads,
    search: searching.search,
    commit: async (batch) => {
      const net = netOf(batch);
      await inTurn(() => send(net, 'replace'));
      searching.committed(batch);
    },
    ...(share === 'all' ? {} : { claim: (batch: readonly Write[]) => claimInTurn(netOf(batch)).finally(() => searching.committed(batch)) }),
    reserveKeys: async () => {
      const [range] = await reading(() => database.read<{ first: number }>(sql.reserve));
      if (range === undefined) throw new StoreError('failed', 'no keys were reserved');
      return { first: range.first, last: range.first + KEYS_A_RANGE - 1 };
    },
    lease: replica.lease,
    tableUse: () => reading(() => readTableUse(database, s)),
    // Commits wait here, and not at the server, which would cancel them.
    compact: () => inTurn(() => rewriteTables(database, s)),
    blobs: createPostgresBlobs(database, s),
    secret: new Uint8Array(createHash('sha256').update(`page tokens of ${meta.store}`).digest()),
    ...shared,
    get cells() {
      return replica.cells;
    },
    cellOf: (task) => cellOf(task, meta.cells),
    close: async () => {
      await searching.close();
      await last;
      await writer.close();
      await replica.leave();
      await database.close();
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
