import { StoreError } from '../shared/store-error.ts';
import type { PostgresConnection, Sql } from './database.ts';
import { sqlState } from './errors.ts';

/** Where the tables are, as a quoted name for statements. */
export type SchemaName = string;

/** The quoted form of a schema's name. */
export function quoted(name: string): SchemaName {
  return `"${name.replaceAll('"', '""')}"`;
}

interface Step {
  /** The oldest program, by its number of steps, that may use the tables after this step. */
  readonly needs: number;
  readonly sql: (s: SchemaName) => string;
}

/**
 * Step n migrates from version n to n + 1. A released step is never changed. Replicas of the version
 * before keep working while a step runs and after it, so a step only adds: tables, columns with a default,
 * indexes. `needs` is raised by a later release, once no replica of the old version is left.
 */
export const STEPS: readonly Step[] = [
  {
    needs: 1,
    sql: (s) => `
  CREATE TABLE ${s}.replicas (
    replica bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, url text NOT NULL, started timestamptz NOT NULL DEFAULT clock_timestamp(),
    until timestamptz NOT NULL
  );
  CREATE TABLE ${s}.writers (
    writer bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, replica bigint NOT NULL REFERENCES ${s}.replicas ON DELETE CASCADE
  );
  CREATE INDEX writers_replica ON ${s}.writers (replica);
  CREATE TABLE ${s}.cells (
    cell integer PRIMARY KEY, replica bigint REFERENCES ${s}.replicas ON DELETE SET NULL, epoch bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX cells_replica ON ${s}.cells (replica);
  CREATE SEQUENCE ${s}.keys INCREMENT BY 65536;
  CREATE TABLE ${s}.realms (
    realm integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, digest text COLLATE "C" NOT NULL UNIQUE, tenant text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL
  );
  CREATE INDEX realms_tenant ON ${s}.realms USING hash (tenant);
  CREATE INDEX realms_agent ON ${s}.realms USING hash (agent);
  CREATE TABLE ${s}.tasks (
    key bigint PRIMARY KEY, cell integer NOT NULL, id text COLLATE "C" NOT NULL UNIQUE, realm integer NOT NULL,
    context text COLLATE "C" NOT NULL, dialect text NOT NULL, alias text COLLATE "C", state smallint NOT NULL, status_at bigint NOT NULL,
    last integer NOT NULL, turn integer NOT NULL, attempt integer NOT NULL, bytes bigint NOT NULL
  );
  CREATE INDEX tasks_realm ON ${s}.tasks (realm, state, status_at, key);
  CREATE INDEX tasks_context ON ${s}.tasks (realm, context, state, status_at, key);
  CREATE INDEX tasks_state ON ${s}.tasks (state, status_at, key);
  CREATE INDEX tasks_alias ON ${s}.tasks (realm, alias, key) WHERE alias IS NOT NULL;
  CREATE TABLE ${s}.segments (
    task bigint NOT NULL, first integer NOT NULL, last integer NOT NULL, words text, chunks text, PRIMARY KEY (task, first)
  );
  CREATE INDEX segments_words ON ${s}.segments (task, first) WHERE words IS NOT NULL;
  CREATE TABLE ${s}.names (
    realm integer NOT NULL, kind smallint NOT NULL, name text COLLATE "C" NOT NULL, token text, task bigint, seq integer, fingerprint text, at bigint,
    delivered boolean NOT NULL DEFAULT false, answer text, PRIMARY KEY (realm, kind, name)
  );
  CREATE INDEX names_task ON ${s}.names (task) WHERE task IS NOT NULL;
  CREATE INDEX names_at ON ${s}.names (at) WHERE task IS NULL;
  CREATE TABLE ${s}.pushes (
    task bigint NOT NULL, id text COLLATE "C" NOT NULL, n bigint GENERATED ALWAYS AS IDENTITY, dialect text NOT NULL, after integer NOT NULL,
    config text NOT NULL, sealed text, PRIMARY KEY (task, id)
  );
  CREATE TABLE ${s}.outbox (
    n bigint PRIMARY KEY, task bigint NOT NULL, config text COLLATE "C" NOT NULL, done integer NOT NULL, up_to integer, dead boolean NOT NULL,
    attempts integer NOT NULL, due_at bigint NOT NULL, failing_since bigint, problem text
  );
  CREATE INDEX outbox_task ON ${s}.outbox (task);
  CREATE INDEX outbox_dead ON ${s}.outbox (dead, n);
  CREATE TABLE ${s}.blobs (task bigint NOT NULL, name text COLLATE "C" NOT NULL, content bytea NOT NULL, PRIMARY KEY (task, name));
  CREATE TABLE ${s}.secrets (name text PRIMARY KEY, value text NOT NULL);
  INSERT INTO ${s}.cells (cell) SELECT generate_series(0, (SELECT cells - 1 FROM ${s}.meta));
  `,
  },
  {
    // Programs of version 1 fill no index. When they delete a task, its words go with it.
    needs: 1,
    sql: (s) => `
  CREATE TABLE ${s}.said (
    task bigint PRIMARY KEY REFERENCES ${s}.tasks (key) ON DELETE CASCADE, last integer NOT NULL, words tsvector NOT NULL
  );
  CREATE INDEX said_words ON ${s}.said USING gin (words);
  `,
  },
  {
    needs: 1,
    sql: (s) => `
  ALTER TABLE ${s}.replicas ADD COLUMN link text NOT NULL DEFAULT '', ADD COLUMN public_key text NOT NULL DEFAULT '';
  `,
  },
  {
    // A program of version 3 that deletes the last task of a conversation leaves its name until the owner is erased.
    needs: 1,
    sql: (s) => `
  CREATE TABLE ${s}.titles (
    digest text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, principal text COLLATE "C" NOT NULL, context text COLLATE "C" NOT NULL,
    name text NOT NULL
  );
  `,
  },
  {
    // Numbers of queues come from the sequence of keys from now on. A program of version 4 counts on from the highest number.
    needs: 1,
    sql: (s) => `
  ALTER TABLE ${s}.replicas ADD COLUMN leaving boolean NOT NULL DEFAULT false;
  ALTER TABLE ${s}.meta ADD COLUMN drops bigint NOT NULL DEFAULT 0;
  CREATE TABLE ${s}.agents (agent text COLLATE "C" PRIMARY KEY, seen timestamptz NOT NULL);
  SELECT setval('${s.replaceAll("'", "''")}.keys', greatest((SELECT last_value FROM ${s}.keys), (SELECT coalesce(max(n), 1) FROM ${s}.outbox)));
  `,
  },
  {
    // Programs of an older version read their API keys from files.
    needs: 1,
    sql: (s) => `
  CREATE TABLE ${s}.api_keys (
    n bigint GENERATED ALWAYS AS IDENTITY, hash text COLLATE "C" PRIMARY KEY, record text NOT NULL, revoked boolean NOT NULL DEFAULT false
  );
  CREATE TABLE ${s}.usage (node text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL, counts text NOT NULL);
  `,
  },
  {
    // Programs of an older version write their audit log to files.
    needs: 1,
    sql: (s) => `
  CREATE SEQUENCE ${s}.audit_chain;
  CREATE TABLE ${s}.audit_chains (
    chain bigint PRIMARY KEY, node text NOT NULL, started timestamptz NOT NULL DEFAULT clock_timestamp(),
    start bigint NOT NULL DEFAULT 0, start_hash text NOT NULL DEFAULT ''
  );
  CREATE TABLE ${s}.audit (
    chain bigint NOT NULL REFERENCES ${s}.audit_chains, first bigint NOT NULL, last bigint NOT NULL, since bigint NOT NULL, at bigint NOT NULL,
    hash text NOT NULL, lines text NOT NULL, n bigint NOT NULL UNIQUE, PRIMARY KEY (chain, first)
  );
  CREATE INDEX audit_since ON ${s}.audit (since, n);
  CREATE TABLE ${s}.audit_place (one smallint PRIMARY KEY CHECK (one = 1), n bigint NOT NULL);
  INSERT INTO ${s}.audit_place (one, n) VALUES (1, 0);
  `,
  },
  {
    // A name is marked as delivered soon after it is written: with room in its page the mark needs no new entries in the indexes. A trigger
    // instead of the foreign key of `said`, whose check of each task cost more than its words. It sees words that were written while the
    // deletion waited for their lock. A server that was built without lz4 keeps its own compression, which takes several times as long.
    needs: 1,
    sql: (s) => `
  ALTER TABLE ${s}.names SET (fillfactor = 50);
  CREATE FUNCTION ${s}.forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN DELETE FROM ${s}.said WHERE task IN (SELECT key FROM gone); RETURN NULL; END $$;
  CREATE TRIGGER forget_words AFTER DELETE ON ${s}.tasks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION ${s}.forget_words();
  ALTER TABLE ${s}.said DROP CONSTRAINT said_task_fkey;
  DO $$ BEGIN
    ALTER TABLE ${s}.segments ALTER COLUMN words SET COMPRESSION lz4, ALTER COLUMN chunks SET COMPRESSION lz4;
    EXCEPTION WHEN feature_not_supported THEN NULL;
  END $$;
  `,
  },
  {
    // `lost`: what a replica has found missing after a failover. Replicas of an older version do not look.
    // For takeover: the unfinished tasks of a cell, without reading those of all cells. A task that ends with its first commit never enters
    // the index. Commits of other replicas wait while it is made, for about half a second for each million tasks.
    needs: 1,
    sql: (s) => `
  CREATE INDEX tasks_unfinished ON ${s}.tasks (cell, key) WHERE state < 5;
  ALTER TABLE ${s}.meta ADD COLUMN lost text;
  `,
  },
];

/** All tables and sequences that this program uses. */
export const TABLES: readonly string[] = [
  'meta',
  ...STEPS.flatMap(({ sql }) => [...sql('').matchAll(/CREATE (?:TABLE|SEQUENCE) \.(\w+)/g)].map(([, name = '']) => name)),
];

/**
 * Returns a condition that fails once a table of the store has been replaced: by a restored backup, which may be older or not complete yet, or
 * by another store, whose replicas have the same numbers. It holds again for tables that were only renamed.
 */
export async function stillTables(connection: PostgresConnection, s: SchemaName): Promise<string> {
  const names = TABLES.map((name) => `to_regclass('${s.replaceAll("'", "''")}.${name}')::oid`);
  const now = `concat_ws(' ', ${names.join(', ')})`;
  const [found] = await connection.query<{ oids: string }>({ name: '', text: `SELECT ${now} AS oids` });
  return `${now} = '${found?.oids}'`;
}

/** What the store's one row of `meta` says. */
export interface PostgresMeta {
  readonly version: number;
  readonly needs: number;
  /** Random id of the store. */
  readonly store: string;
  /** Number of cells. Fixed when the store is created. */
  readonly cells: number;
}

/** A new index of many tasks takes a while. */
export const MIGRATE_MS_MAX = 3_600_000;
const OLDEST_SERVER = 140_000;
/** Another replica may migrate at the same time. The second one finds the tables there. */
const RACES = new Set(['22012', '23505', '42P07', '42P06', '40P01', '55P03']);
const TRIES = 20;

/** The server keeps the bytes of `SQL_ASCII` as they are. Every other encoding lacks characters, and a commit that has one fails. */
const ENCODINGS: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII']);

interface ServerFacts {
  readonly n: number;
  readonly encoding: string;
  readonly hasSchema: boolean;
}

/** Creates or migrates the tables, and returns what they hold. Throws a StoreError if this program is too old for them. */
export async function migrate(connection: PostgresConnection, s: SchemaName, cells: number): Promise<PostgresMeta> {
  const hasSchema = await checkServer(connection, s);
  for (let tries = 1; ; tries += 1) {
    try {
      const meta = await readMeta(connection, s);
      if (meta?.version === STEPS.length) return checked(meta);
      if (meta !== undefined && meta.version > STEPS.length) return checked(meta);
      await connection.run(scriptFrom(meta?.version ?? 0, s, { cells, hasSchema }));
    } catch (thrown) {
      if (tries >= TRIES || !RACES.has(sqlState(thrown) ?? '')) throw thrown;
      // The failed script left its transaction open.
      await connection.run('ROLLBACK');
    }
  }
}

/** Throws a StoreError if tasks can't be kept in this database. Returns whether the schema is there. */
async function checkServer(connection: PostgresConnection, s: SchemaName): Promise<boolean> {
  const text = `SELECT current_setting('server_version_num')::int AS n, current_setting('server_encoding') AS encoding,
    to_regnamespace($1) IS NOT NULL AS "hasSchema"`;
  const [server] = await connection.query<ServerFacts>({ name: '', text }, [s]);
  if (server === undefined) return false;
  const { n, encoding, hasSchema } = server;
  if (n < OLDEST_SERVER) throw new StoreError('foreign', `the server is Postgres ${Math.floor(n / 10_000)}; Parley needs 14 or newer`);
  if (!ENCODINGS.has(encoding))
    throw new StoreError(
      'foreign',
      `the encoding of the database is ${encoding}, which lacks most characters. Create one with: createdb --encoding UTF8 --template template0 --owner USER NAME`,
    );
  return hasSchema;
}

/** All steps from a version on. The row of `meta` is locked, so that two replicas don't apply the same step. */
function scriptFrom(from: number, s: SchemaName, { cells, hasSchema }: { readonly cells: number; readonly hasSchema: boolean }): string {
  const steps = STEPS.slice(from).map((step) => step.sql(s));
  const create =
    from > 0
      ? ''
      : `${hasSchema ? '' : `CREATE SCHEMA IF NOT EXISTS ${s};`}
  CREATE TABLE ${s}.meta (
    one smallint PRIMARY KEY CHECK (one = 1), version integer NOT NULL, needs integer NOT NULL, store uuid NOT NULL, cells integer NOT NULL,
    last_key bigint NOT NULL DEFAULT 0
  );
  INSERT INTO ${s}.meta (one, version, needs, store, cells) VALUES (1, 0, 1, gen_random_uuid(), ${Math.trunc(cells)});`;
  // A writer of tables that were dropped is none of the new ones: its commits are refused.
  const writers =
    from > 0 ? '' : `SELECT setval(pg_get_serial_sequence('${s.replaceAll("'", "''")}.writers', 'writer'), (random() * 1e12)::bigint + 1);`;
  const guard = `SELECT 1 / (CASE WHEN version = ${from} THEN 1 ELSE 0 END) FROM ${s}.meta FOR UPDATE;`;
  const needs = STEPS.at(-1)?.needs ?? 1;
  return `BEGIN; SET LOCAL lock_timeout = '2s'; ${create} ${guard} ${steps.join('\n')} ${writers}
  UPDATE ${s}.meta SET version = ${STEPS.length}, needs = ${needs}; COMMIT;`;
}

function checked(meta: PostgresMeta): PostgresMeta {
  if (meta.needs <= STEPS.length) return meta;
  throw new StoreError(
    'newer',
    `the store has version ${meta.version}, which needs a later version of Parley: this one supports versions up to ${STEPS.length}`,
  );
}

async function readMeta(connection: PostgresConnection, s: SchemaName): Promise<PostgresMeta | undefined> {
  const there: Sql = { name: '', text: 'SELECT to_regclass($1) IS NOT NULL AS yes' };
  const [known] = await connection.query<{ yes: boolean }>(there, [`${s}.meta`]);
  if (known?.yes !== true) return undefined;
  const [meta] = await connection.query<PostgresMeta>({ name: '', text: `SELECT version, needs, store::text, cells FROM ${s}.meta` });
  return meta;
}
