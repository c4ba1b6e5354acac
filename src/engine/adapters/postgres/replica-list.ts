import type { PostgresDatabase } from './database.ts';
import { reading } from './errors.ts';
import type { ReplicaAddress } from './replica.ts';
import type { SchemaName } from './schema.ts';
import { quoted } from './schema.ts';

/** A process in the table of replicas. */
export interface ReplicaRow extends ReplicaAddress {
  readonly replica: number;
  /** Its address, for people. Empty if it has none. */
  readonly url: string;
  /** When it came, as an ISO 8601 time of the database. */
  readonly started: string;
  /** Milliseconds until its lease ends, unless it renews it. Negative: it has ended. */
  readonly leaseMs: number;
  /** It is about to end, and gives its cells up. */
  readonly isLeaving?: boolean;
  /** Number of cells that it owns. */
  readonly cells: number;
  /** Those cells. */
  readonly owned: readonly number[];
}

/** The replicas of a store, oldest first. Undefined if the database has no store. */
export async function readReplicas(database: PostgresDatabase, schema: string): Promise<readonly ReplicaRow[] | undefined> {
  const s = quoted(schema);
  const [there] = await reading(() =>
    database.read<{ yes: boolean }>({ name: 'has-store', text: 'SELECT to_regclass($1) IS NOT NULL AS yes' }, [`${s}.replicas`]),
  );
  if (there?.yes !== true) return undefined;
  return reading(() => listReplicaRows(database, s));
}

/** The same for a database that has a store. `still`: a condition. */
export function listReplicaRows(database: PostgresDatabase, s: SchemaName, still?: string): Promise<readonly ReplicaRow[]> {
  const text = `SELECT r.replica, r.url, r.link, r.public_key AS "publicKey", to_char(r.started AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS started,
    (extract(epoch FROM r.until - clock_timestamp()) * 1000)::bigint AS "leaseMs", r.leaving AS "isLeaving", (SELECT count(*) FROM ${s}.cells c WHERE c.replica = r.replica) AS cells,
    to_json(ARRAY(SELECT c.cell FROM ${s}.cells c WHERE c.replica = r.replica ORDER BY c.cell)) AS owned
    FROM ${s}.replicas r ${still === undefined ? '' : `WHERE ${still} `}ORDER BY r.replica`;
  return database.read<ReplicaRow>({ name: 'replicas', text });
}
