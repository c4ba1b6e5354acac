import { Socket } from 'node:net';
import type * as Pg from 'pg';
import { StoreError } from '../shared/store-error.ts';
import type { PostgresConnection, PostgresDatabase, Sql } from './database.ts';
import { toArray } from './text.ts';
import { hasNoTls, tlsOf } from './tls.ts';
import { urlProblem } from './url.ts';

/** How a store reaches its server. */
export interface PgOptions {
  readonly url: string;
  /** Maximum number of connections for reads. */
  readonly readers: number;
  /** A statement without an answer for this long counts as lost. */
  readonly answerMsMax: number;
}

const CONNECT_MS_MAX = 5000;
const NAME = 'parley';
/**
 * The server notices within about half a minute that the machine of a connection is gone, and not after two hours: until then a commit
 * that was under way keeps its locks. Times in seconds, and in milliseconds for the last one.
 */
const KEEPALIVES =
  'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; SET tcp_user_timeout = 30000';
const KEEPALIVE_MS = 10_000;
/** An operator may have another default. With `serializable` the server refuses statements that ran beside others, which are all to be sent again. */
const ISOLATION = "SET default_transaction_isolation = 'read committed'";
/** OID of int8. Its values here are counters and times, which fit a number. */
const INT8 = 20;

/** Loads `pg`, which is an optional peer. */
async function loadPg(): Promise<(typeof Pg)['default']> {
  const loaded = await import('pg').catch((cause: unknown) => {
    throw new StoreError('missing', 'a store on Postgres needs the package pg: npm install pg', cause);
  });
  return loaded.default;
}

/** Connects to a server by `pg`. Nothing is sent before the first statement. */
export async function openPgDatabase({ url, readers, answerMsMax }: PgOptions): Promise<PostgresDatabase> {
  const problem = urlProblem(url);
  if (problem !== undefined) throw new StoreError('failed', problem);
  const pg = await loadPg();
  const types: Pg.CustomTypesConfig = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
  };
  const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: KEEPALIVE_MS };
  const { url: connectionString, ssl, negotiation, isOptional } = tlsOf(url);
  const tls = negotiation === undefined ? {} : { sslnegotiation: negotiation };
  const base: Pg.PoolConfig = {
    connectionString,
    ssl,
    ...tls,
    application_name: NAME,
    ...keepAlive,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    types,
  };
  // The server overestimates lists, and compiles each one: 20 ms instead of 1.
  const verify: Pg.PoolConfig['verify'] = (client, done) => void client.query(`${ISOLATION}; SET jit = off`).then(() => done(), done);
  const reading = { max: readers, query_timeout: answerMsMax, idleTimeoutMillis: 30_000, allowExitOnIdle: true, verify };
  const pool = new pg.Pool({ ...base, ...reading });
  // A connection that breaks while it is idle is replaced by the pool.
  pool.on('error', () => {});
  // The pool listens while a connection is idle or has a query, but not during `verify`. Without a listener Node would end the process.
  pool.on('connect', (client) => void client.on('error', () => {}));
  /** As libpq does with `sslmode=prefer`, but not once a connection was encrypted: a server without TLS may then be that of an attacker. */
  let mayBePlain = isOptional;
  const encrypted = async <T>(run: () => Promise<T>): Promise<T> => {
    const tried = base.ssl;
    try {
      const done = await run();
      mayBePlain = false;
      return done;
    } catch (thrown) {
      // Another connection may have found out meanwhile.
      const isPlain = tried !== false && base.ssl === false;
      if (!hasNoTls(thrown) || !(mayBePlain || isPlain)) throw thrown;
      [mayBePlain, base.ssl, pool.options.ssl] = [false, false, false];
      return await run();
    }
  };
  const connect = async (answerMs: number): Promise<PostgresConnection> => {
    const socket = new Socket();
    const client = new pg.Client({ ...base, stream: () => socket });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(`${ISOLATION}; ${KEEPALIVES}`);
    } catch (thrown) {
      socket.destroy();
      throw thrown;
    }
    return connectionOf(client, socket, answerMs);
  };
  return {
    connect: (patience) => encrypted(() => connect(patience?.answerMsMax ?? answerMsMax)),
    read: async <R extends object>({ name, text }: Sql, values: readonly unknown[] = []) =>
      (await encrypted(() => pool.query<R>({ name, text, values: sent(values) }))).rows,
    // A start that fails closes the store twice: the pool refuses to end a second time.
    close: async () => {
      if (!pool.ending) await pool.end();
    },
  };
}

function sent(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? toArray(value) : value));
}

function connectionOf(client: Pg.Client, socket: Socket, answerMsMax: number): PostgresConnection {
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => socket.destroy(new Error('the database did not answer in time')), answerMsMax);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    query: async <R extends object>({ name, text }: Sql, values: readonly unknown[] = []) =>
      (await answered(client.query<R>({ ...(name === '' ? {} : { name }), text, values: sent(values) }))).rows,
    run: async (text) => {
      await answered(client.query(text));
    },
    end: async () => {
      await answered(client.end()).catch(() => {});
      socket.destroy();
    },
    cut: () => void socket.destroy(),
  };
}
