import { openPgDatabase } from './postgres/pg-database.ts';
import type { ReplicaRow } from './postgres/replica-list.ts';
import { readReplicas } from './postgres/replica-list.ts';
import type { PostgresOptions, PostgresStore } from './postgres/store.ts';
import { openStoreOn } from './postgres/store.ts';
import { StoreError } from './shared/store-error.ts';

export type { PostgresConnection, PostgresDatabase, Sql } from './postgres/database.ts';
export type { ReplicaAddress, ReplicaOwner } from './postgres/replica.ts';
export type { ReplicaRow } from './postgres/replica-list.ts';
export type { PostgresOptions, PostgresStore, ReplicaAccess } from './postgres/store.ts';
export { openStoreOn } from './postgres/store.ts';

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
    if (rows === undefined) throw new StoreError('missing', `the database at ${placeOf(url)} has no tasks of Parley`);
    return rows;
  } catch (thrown) {
    throw cannotUse(url, thrown);
  } finally {
    await database.close();
  }
}

function cannotUse(url: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const why = cause instanceof Error ? cause.message || String(cause.cause ?? cause.name) : String(cause);
  return new StoreError('failed', `the database at ${placeOf(url)} can't be used: ${why}`, thrown);
}

/** A database's URL without its password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
