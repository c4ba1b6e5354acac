import type { AdminStoreBytes } from '#protocol';
import type { PostgresDatabase } from './database.ts';
import type { SchemaName } from './schema.ts';

/** What the tables hold, with their indexes, in bytes. */
export type TableUse = Pick<AdminStoreBytes, 'tasks' | 'events' | 'idempotency' | 'push' | 'search' | 'other' | 'blobs' | 'audit'>;

const KINDS: Readonly<Record<string, keyof TableUse>> = {
  tasks: 'tasks',
  segments: 'events',
  names: 'idempotency',
  pushes: 'push',
  outbox: 'push',
  blobs: 'blobs',
  said: 'search',
  audit: 'audit',
  audit_chains: 'audit',
};

/** The size of each table, as the server knows it. */
export async function readTableUse(database: PostgresDatabase, s: SchemaName): Promise<TableUse> {
  const use = { tasks: 0, events: 0, idempotency: 0, push: 0, search: 0, other: 0, blobs: 0, audit: 0 };
  const text = `SELECT c.relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace($1)::oid`;
  for (const { name, bytes } of await database.read<{ name: string; bytes: number }>({ name: 'table-use', text }, [s])) {
    use[KINDS[name] ?? 'other'] += bytes;
  }
  return use;
}

/** Tables with content of callers. */
const WITH_CONTENT = ['tasks', 'segments', 'names', 'pushes', 'outbox', 'blobs', 'realms', 'said', 'titles'];

const REWRITE_MS_MAX = 3_600_000;

/**
 * Writes the tables to new files without deleted rows. A plain VACUUM leaves their bytes in the pages. Reads of a table wait while it is
 * rewritten. The server's own log (WAL) keeps deleted content until the server reuses it.
 */
export async function rewriteTables(database: PostgresDatabase, s: SchemaName): Promise<void> {
  const connection = await database.connect({ answerMsMax: REWRITE_MS_MAX });
  try {
    for (const table of WITH_CONTENT) await connection.query({ name: '', text: `VACUUM (FULL) ${s}.${table}` });
  } finally {
    await connection.end();
  }
}
