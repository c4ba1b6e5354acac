import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { SchemaName } from './schema.ts';

/** What a node has counted. The table does not interpret it. */
export interface NodeUsage {
  readonly node: string;
  readonly counts: string;
}

/** What the nodes on a database have counted, each in a row of its own. */
export interface SharedUsage {
  /** Replaces the row of a node. Others ignore it after `msMax`, unless it is written again. */
  put(usage: NodeUsage, msMax: number): Promise<void>;
  /** The rows of all other nodes. */
  others(node: string): Promise<readonly NodeUsage[]>;
  drop(node: string): Promise<void>;
}

export function sharedUsageOn(database: PostgresDatabase, s: SchemaName): SharedUsage {
  const sql = statements(s);
  return {
    put: async ({ node, counts }, msMax) => void (await reading(() => database.read(sql.put, [node, msMax, counts]))),
    others: (node) => reading(() => database.read<NodeUsage>(sql.others, [node])),
    drop: async (node) => void (await reading(() => database.read(sql.drop, [node]))),
  };
}

function statements(s: SchemaName): Readonly<Record<'put' | 'others' | 'drop', Sql>> {
  return {
    put: {
      name: 'usage-put',
      text: `WITH old AS (DELETE FROM ${s}.usage WHERE until < clock_timestamp() - interval '1 minute' AND node <> $1)
        INSERT INTO ${s}.usage (node, until, counts) VALUES ($1, clock_timestamp() + $2::float8 * interval '1 ms', $3)
        ON CONFLICT (node) DO UPDATE SET until = EXCLUDED.until, counts = EXCLUDED.counts`,
    },
    others: { name: 'usage', text: `SELECT node, counts FROM ${s}.usage WHERE node <> $1 AND until > clock_timestamp()` },
    drop: { name: 'usage-drop', text: `DELETE FROM ${s}.usage WHERE node = $1` },
  };
}
