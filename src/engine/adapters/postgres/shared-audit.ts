import type { PostgresDatabase, Sql } from './database.ts';
import { reading, sqlState, UNIQUE, unavailable } from './errors.ts';
import type { SchemaName } from './schema.ts';

/** Audit records that a process has written together. The table does not interpret the lines. */
export interface AuditRow {
  /** One process has one chain, and a chain has one writer. */
  readonly chain: number;
  /** The numbers of the first and of the last record in their chain. */
  readonly first: number;
  readonly last: number;
  /** When the first and the last record were made, in milliseconds. */
  readonly since: number;
  readonly at: number;
  /** The hash of the last record. */
  readonly hash: string;
  readonly lines: string;
}

/** A row that is to be written. */
export interface NewAuditRow extends AuditRow {
  /** The address of the node that writes it. */
  readonly node: string;
  /** The hash of the record before it. Other nodes delete a chain when all of its records are old; it continues after this one. */
  readonly before: string;
}

/** A row in the order of all chains. */
export interface PlacedAuditRow extends AuditRow {
  /** The position of its last record among the records of all chains, in the order in which they were written. */
  readonly n: number;
  /** The address of the node that has written it. */
  readonly node: string;
}

/** The records of one process. */
export interface AuditChain {
  readonly chain: number;
  readonly node: string;
  /** The number and the hash of the last record that was deleted because of its age. 0: none was. */
  readonly start: number;
  readonly startHash: string;
}

/** The end of a chain, or of the part of it that is to be deleted. */
export interface AuditCut {
  readonly chain: number;
  readonly last: number;
  readonly hash: string;
}

/** The audit records of all nodes on a database. */
export interface SharedAudit {
  /** A number for a new chain, and the last record of all chains. The chain exists when a row of it is written. */
  begin(): Promise<{ readonly chain: number; readonly newest: AuditCut | undefined }>;
  /**
   * Writes a row. A row that is there already stays as it is: the answer to an earlier attempt may have been lost. Returns the time of
   * the database.
   */
  put(row: NewAuditRow): Promise<number>;
  chains(): Promise<readonly AuditChain[]>;
  /** The next rows after a position, in the order in which they were written. */
  after(n: number): Promise<readonly PlacedAuditRow[]>;
  /** The next rows before a position, the newest first. */
  before(n: number): Promise<readonly PlacedAuditRow[]>;
  /** The next rows with records of a time or later, by the time of their first record. Continues after `past`. */
  since(ms: number, past: PlacedAuditRow | undefined): Promise<readonly PlacedAuditRow[]>;
  /** The next rows of a chain, after a record. */
  of(chain: number, last: number): Promise<readonly AuditRow[]>;
  /** The hash of a record that is the last one of its row. Undefined: there is no such row. */
  hashOf(chain: number, last: number): Promise<string | undefined>;
  /** The position of the last record. */
  last(): Promise<number>;
  /** What is older than a time, in each chain. */
  old(ms: number): Promise<readonly AuditCut[]>;
  /** Deletes the part of a chain up to a record. A chain of which nothing is left is deleted too, unless it is `own`. */
  cut(cut: AuditCut, own: number): Promise<void>;
  close(): Promise<void>;
}

const ROWS = 100;

export function sharedAuditOn(database: PostgresDatabase, s: SchemaName): SharedAudit {
  const sql = statements(s);
  const read = <R extends object>(statement: Sql, values: readonly unknown[] = []): Promise<readonly R[]> =>
    reading(() => database.read<R>(statement, values));
  return {
    begin: async () => {
      const [newest] = await read<AuditCut>(sql.newest);
      const [begun] = await read<{ chain: number }>(sql.begin);
      if (begun === undefined) throw unavailable(new Error('no chain was made'));
      return { chain: begun.chain, newest };
    },
    put: async ({ chain, first, last, since, at, hash, lines, node, before }) => {
      try {
        const [done] = await database.read<{ now: number }>(sql.put, [
          chain,
          first,
          last,
          since,
          at,
          hash,
          lines,
          node,
          first === 1 ? '' : before,
        ]);
        return done?.now ?? at;
      } catch (thrown) {
        // The attempt whose answer was lost has ended meanwhile.
        if (sqlState(thrown) === UNIQUE) return (await read<{ now: number }>(sql.now))[0]?.now ?? at;
        throw unavailable(thrown);
      }
    },
    chains: () => read<AuditChain>(sql.chains),
    after: (n) => read<PlacedAuditRow>(sql.after, [n]),
    before: (n) => read<PlacedAuditRow>(sql.before, [n]),
    since: (ms, past) => read<PlacedAuditRow>(sql.since, [past?.since ?? 0, past?.n ?? 0, ms]),
    of: (chain, last) => read<AuditRow>(sql.of, [chain, last]),
    hashOf: async (chain, last) => (await read<{ hash: string }>(sql.hashOf, [chain, last]))[0]?.hash,
    last: async () => (await read<{ n: number }>(sql.last))[0]?.n ?? 0,
    old: (ms) => read<AuditCut>(sql.old, [ms]),
    cut: async ({ chain, last, hash }, own) => {
      await read(sql.cut, [chain, last, hash]);
      await read(sql.dropEmpty, [chain, own]);
    },
    close: () => database.close(),
  };
}

type Statement =
  | 'newest'
  | 'begin'
  | 'put'
  | 'now'
  | 'chains'
  | 'after'
  | 'before'
  | 'since'
  | 'of'
  | 'hashOf'
  | 'last'
  | 'old'
  | 'cut'
  | 'dropEmpty';

function statements(s: SchemaName): Readonly<Record<Statement, Sql>> {
  const named = (name: string, text: string): Sql => ({ name: `audit-${name}`, text });
  const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';
  const placed = `SELECT a.chain, a.first, a.last, a.since, a.at, a.hash, a.lines, a.n, c.node FROM ${s}.audit a JOIN ${s}.audit_chains c ON c.chain = a.chain`;
  return {
    newest: named('newest', `SELECT chain, last, hash FROM ${s}.audit ORDER BY n DESC LIMIT 1`),
    begin: named('begin', `SELECT nextval('${s.replaceAll("'", "''")}.audit_chain') AS chain`),
    // The row of `audit_place` makes writers wait for each other: positions become visible in their order, and a reader misses none.
    put: named(
      'put',
      `WITH chain AS (INSERT INTO ${s}.audit_chains (chain, node, start, start_hash)
          VALUES ($1::bigint, $8::text, $2::bigint - 1, $9::text) ON CONFLICT DO NOTHING),
        place AS (UPDATE ${s}.audit_place SET n = n + $3::bigint - $2::bigint + 1
          WHERE NOT EXISTS (SELECT FROM ${s}.audit WHERE chain = $1::bigint AND first = $2::bigint) RETURNING n),
        made AS (INSERT INTO ${s}.audit (chain, first, last, since, at, hash, lines, n)
          SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::text, $7::text, n FROM place RETURNING n)
        SELECT ${now}, (SELECT n FROM made) AS n`,
    ),
    now: named('now', `SELECT ${now}`),
    chains: named('chains', `SELECT chain, node, start, start_hash AS "startHash" FROM ${s}.audit_chains ORDER BY chain`),
    after: named('after', `${placed} WHERE a.n > $1 ORDER BY a.n LIMIT ${ROWS}`),
    before: named('before', `${placed} WHERE a.n < $1 ORDER BY a.n DESC LIMIT ${ROWS}`),
    since: named('since', `${placed} WHERE (a.since, a.n) > ($1, $2) AND a.at >= $3 ORDER BY a.since, a.n LIMIT ${ROWS}`),
    of: named(
      'of',
      `SELECT chain, first, last, since, at, hash, lines FROM ${s}.audit WHERE chain = $1 AND first > $2 ORDER BY first LIMIT ${ROWS}`,
    ),
    hashOf: named('hash', `SELECT hash FROM ${s}.audit WHERE chain = $1 AND first <= $2 AND last = $2 ORDER BY first DESC LIMIT 1`),
    last: named('last', `SELECT n FROM ${s}.audit_place`),
    old: named(
      'old',
      `SELECT DISTINCT ON (chain) chain, last, hash FROM ${s}.audit WHERE since < $1 AND at < $1 ORDER BY chain, first DESC`,
    ),
    cut: named(
      'cut',
      `WITH moved AS (UPDATE ${s}.audit_chains SET start = $2, start_hash = $3 WHERE chain = $1 AND start < $2)
        DELETE FROM ${s}.audit WHERE chain = $1 AND last <= $2`,
    ),
    dropEmpty: named(
      'drop-empty',
      `DELETE FROM ${s}.audit_chains WHERE chain = $1 AND chain <> $2 AND NOT EXISTS (SELECT FROM ${s}.audit WHERE chain = $1)`,
    ),
  };
}
