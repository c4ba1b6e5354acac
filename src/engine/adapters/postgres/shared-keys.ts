import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { SchemaName } from './schema.ts';

/** An API key as stored: its hash, and a record of what it may do, which this table does not interpret. */
export interface SharedKey {
  readonly hash: string;
  readonly record: string;
}

/** The API keys of all nodes on a database. A key is added and revoked, and never deleted. */
export interface SharedKeys {
  /** A text that differs after each change. */
  stamp(): Promise<string>;
  all(): Promise<readonly SharedKey[]>;
  /** False if there is a key with this hash. */
  add(key: SharedKey): Promise<boolean>;
  /** Replaces the record of a key that is not revoked yet. False if there is none. */
  revoke(key: SharedKey): Promise<boolean>;
  close(): Promise<void>;
}

export function sharedKeysOn(database: PostgresDatabase, s: SchemaName): SharedKeys {
  const sql = statements(s);
  const read = <R extends object>(statement: Sql, values: readonly unknown[] = []): Promise<readonly R[]> =>
    reading(() => database.read<R>(statement, values));
  return {
    stamp: async () => JSON.stringify(await read(sql.stamp)),
    all: () => read<SharedKey>(sql.all),
    add: async ({ hash, record }) => (await read(sql.add, [hash, record])).length > 0,
    revoke: async ({ hash, record }) => (await read(sql.revoke, [hash, record])).length > 0,
    close: () => database.close(),
  };
}

function statements(s: SchemaName): Readonly<Record<'stamp' | 'all' | 'add' | 'revoke', Sql>> {
  return {
    // Both numbers only grow, so they differ after each change.
    stamp: { name: 'keys-stamp', text: `SELECT count(*) AS keys, count(*) FILTER (WHERE revoked) AS revoked FROM ${s}.api_keys` },
    all: { name: 'keys', text: `SELECT hash, record FROM ${s}.api_keys ORDER BY n` },
    add: { name: 'key-add', text: `INSERT INTO ${s}.api_keys (hash, record) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING hash` },
    revoke: {
      name: 'key-revoke',
      text: `UPDATE ${s}.api_keys SET record = $2, revoked = true WHERE hash = $1 AND NOT revoked RETURNING hash`,
    },
  };
}
