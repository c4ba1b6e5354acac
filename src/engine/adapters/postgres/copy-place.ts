import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { SchemaName } from './schema.ts';
import { quoted } from './schema.ts';

/** What a database says about a copy of another store into it. */
export interface CopyNote {
  /** The id of the store that is copied. */
  readonly source: string;
  /** `running`: the copy is not complete, and no node may serve it. */
  readonly state: 'running' | 'done';
  /** When the copy was started, or was done. */
  readonly at: string;
}

/** The place of a copy: the parts of a Postgres store that no commit writes. Its tables must exist. */
export interface CopyPlace {
  /** Undefined: nothing was copied to this database. */
  note(): Promise<CopyNote | undefined>;
  /** Undefined deletes the note. */
  write(note: CopyNote | undefined): Promise<void>;
  /** Replaces a secret of the node. */
  putSecret(name: string, value: string): Promise<void>;
  /** The next reserved keys are higher than this one. */
  reserveAfter(key: number): Promise<void>;
  /** The task with the highest key, and its last entry. Copies are in the order of keys, so all tasks below it are complete. */
  newest(): Promise<{ readonly key: number; readonly last: number } | undefined>;
  close(): Promise<void>;
}

const NOTE = 'copy';

export function copyPlaceOn(database: PostgresDatabase, schema: string): CopyPlace {
  const s = quoted(schema);
  const sql = statements(s);
  const read = <R extends object>(statement: Sql, values: readonly unknown[] = []): Promise<readonly R[]> =>
    reading(() => database.read<R>(statement, values));
  return {
    note: async () => {
      const [stored] = await read<{ value: string }>(sql.secret, [NOTE]);
      return stored === undefined ? undefined : (JSON.parse(stored.value) as CopyNote);
    },
    write: async (note) => void (await (note === undefined ? read(sql.drop, [NOTE]) : read(sql.put, [NOTE, JSON.stringify(note)]))),
    putSecret: async (name, value) => void (await read(sql.put, [name, value])),
    reserveAfter: async (key) => void (await read(sql.reserve, [key])),
    newest: async () => (await read<{ key: number; last: number }>(sql.newest))[0],
    close: () => database.close(),
  };
}

function statements(s: SchemaName): Readonly<Record<'secret' | 'put' | 'drop' | 'reserve' | 'newest', Sql>> {
  const keys = `'${s.replaceAll("'", "''")}.keys'`;
  return {
    secret: { name: 'copy-secret', text: `SELECT value FROM ${s}.secrets WHERE name = $1` },
    put: {
      name: 'copy-put',
      text: `INSERT INTO ${s}.secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`,
    },
    drop: { name: 'copy-drop', text: `DELETE FROM ${s}.secrets WHERE name = $1` },
    reserve: { name: 'copy-reserve', text: `SELECT setval(${keys}, greatest($1::bigint + 1, nextval(${keys})), false)` },
    newest: { name: 'copy-newest', text: `SELECT key, last FROM ${s}.tasks ORDER BY key DESC LIMIT 1` },
  };
}
