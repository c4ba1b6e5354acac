import { isUnavailable } from '../commit/outcome.ts';
import type { CopyPlace } from './postgres/copy-place.ts';
import { copyPlaceOn } from './postgres/copy-place.ts';
import type { PostgresDatabase } from './postgres/database.ts';
import type { PostgresOptions } from './postgres/options.ts';
import { openPgDatabase } from './postgres/pg-database.ts';
import type { ReplicaRow } from './postgres/replica-list.ts';
import { readReplicas } from './postgres/replica-list.ts';
import type { SchemaName } from './postgres/schema.ts';
import { MIGRATE_MS_MAX, migrate, quoted } from './postgres/schema.ts';
import type { SharedAudit } from './postgres/shared-audit.ts';
import { sharedAuditOn } from './postgres/shared-audit.ts';
import type { SharedKeys } from './postgres/shared-keys.ts';
import { sharedKeysOn } from './postgres/shared-keys.ts';
import type { PostgresStore } from './postgres/store.ts';
import { openStoreOn } from './postgres/store.ts';
import { whyUnusable } from './postgres/unusable.ts';
import { placeOf } from './postgres/url.ts';
import { StoreError } from './shared/store-error.ts';

export type { CopyNote, CopyPlace } from './postgres/copy-place.ts';
export type { PostgresConnection, PostgresDatabase, Sql } from './postgres/database.ts';
export type { PostgresOptions, ReplicaAccess } from './postgres/options.ts';
export type { ReplicaAddress, ReplicaOwner } from './postgres/replica.ts';
export type { ReplicaRow } from './postgres/replica-list.ts';
export type { AuditChain, AuditCut, AuditRow, PlacedAuditRow, SharedAudit } from './postgres/shared-audit.ts';
export type { SharedKey, SharedKeys } from './postgres/shared-keys.ts';
export type { PostgresStore } from './postgres/store.ts';
export { openStoreOn } from './postgres/store.ts';
export type { StoreProblem } from './postgres/table-watch.ts';
export { isUnverified } from './postgres/tls.ts';
export { placeOf, urlProblem } from './postgres/url.ts';
export type { NodeUsage, SharedUsage } from './postgres/usage.ts';
export { StoreError } from './shared/store-error.ts';

const READERS = 8;

/**
 * Opens the store in a Postgres database (14 or newer), and creates its tables if there are none. Needs
 * the package `pg`. Throws a StoreError that says what to do (docs/postgres.md).
 *
 * ```ts
 * const store = await openPostgresStore('postgres://parley@localhost/parley');
 * ```
 */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<PostgresStore> {
  const { leaseMs = 10_000, readers = READERS } = options;
  const database = await openPgDatabase({ url, readers, answerMsMax: Math.max(leaseMs, 10_000) });
  try {
    return await openStoreOn(database, options);
  } catch (thrown) {
    await database.close();
    throw options.signal?.aborted === true ? thrown : cannotUse(url, thrown);
  }
}

/** The processes that use the store in a database, oldest first. Throws a StoreError if there is no store. */
export async function listReplicas(
  url: string,
  { schema = 'parley' }: Pick<PostgresOptions, 'schema'> = {},
): Promise<readonly ReplicaRow[]> {
  const database = await openPgDatabase({ url, readers: 1, answerMsMax: 10_000 });
  try {
    const rows = await readReplicas(database, schema);
    if (rows === undefined)
      throw new StoreError('missing', `no node has used the database at ${placeOf(url)} yet: start one with parley serve --store`);
    return rows;
  } catch (thrown) {
    throw cannotUse(url, thrown);
  } finally {
    await database.close();
  }
}

/** For `parley store copy`: what no commit writes. The store must have been opened once, so that its tables exist. */
export async function openCopyPlace(url: string, { schema = 'parley' }: Pick<PostgresOptions, 'schema'> = {}): Promise<CopyPlace> {
  return copyPlaceOn(await openPgDatabase({ url, readers: 1, answerMsMax: 60_000 }), schema);
}

/** The API keys of the nodes on a database. Creates the tables if there are none. Throws a StoreError that says what to do. */
export async function openSharedKeys(url: string, options: TableOptions = {}): Promise<SharedKeys> {
  return await onTables(url, options, sharedKeysOn);
}

/** The audit records of the nodes on a database. Creates the tables if there are none. Throws a StoreError that says what to do. */
export async function openSharedAudit(url: string, options: TableOptions = {}): Promise<SharedAudit> {
  return await onTables(url, options, sharedAuditOn);
}

type TableOptions = Pick<PostgresOptions, 'schema' | 'cells'>;

async function onTables<T>(
  url: string,
  { schema = 'parley', cells = 128 }: TableOptions,
  use: (database: PostgresDatabase, s: SchemaName) => T,
): Promise<T> {
  const database = await openPgDatabase({ url, readers: 1, answerMsMax: 10_000 });
  try {
    const connection = await database.connect({ answerMsMax: MIGRATE_MS_MAX });
    await migrate(connection, quoted(schema), cells).finally(() => connection.end());
    return use(database, quoted(schema));
  } catch (thrown) {
    await database.close();
    throw cannotUse(url, thrown);
  }
}

/** Runs something on a database that is open. Throws a StoreError that says what to do if the database does not answer, or refuses. */
export async function explained<T>(url: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw isUnavailable(thrown) ? cannotUse(url, thrown) : thrown;
  }
}

function cannotUse(url: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const why = cause instanceof Error ? cause.message || String(cause.cause ?? cause.name) : String(cause);
  return new StoreError('failed', `the database at ${placeOf(url)} can't be used: ${whyUnusable(cause, why)}`, thrown);
}
