import { openPgDatabase } from './postgres/pg-database.ts';
import type { PostgresOptions, PostgresStore } from './postgres/store.ts';
import { openStoreOn } from './postgres/store.ts';
import { StoreError } from './shared/store-error.ts';

export type { PostgresConnection, PostgresDatabase, Sql } from './postgres/database.ts';
export type { PostgresOptions, PostgresStore } from './postgres/store.ts';
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
    if (thrown instanceof StoreError) throw thrown;
    const why = thrown instanceof Error ? thrown.message || String(thrown.cause ?? thrown.name) : String(thrown);
    throw new StoreError('failed', `the database at ${placeOf(url)} can't be used: ${why}`, thrown);
  }
}

/** A database's URL without its password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
