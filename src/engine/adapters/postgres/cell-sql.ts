import type { Sql } from './database.ts';
import type { SchemaName } from './schema.ts';

/** What a replica sees of the others and of the cells. */
export interface CellsSeen {
  /** Other replicas that stay: those with a valid lease that are not about to end. */
  readonly others: number;
  /** Replicas whose lease has ended. */
  readonly lapsed: number;
  /** Cells that nobody owns. */
  readonly free: number;
  /** How often realms were deleted. */
  readonly drops: number;
  /** What a replica has found missing after a failover. */
  readonly lost?: string | null;
  /** The cells of this replica, as JSON. */
  readonly own: readonly number[];
}

type CellStatement = 'enter' | 'renew' | 'bury' | 'look' | 'claim' | 'stop' | 'leave';

/** The statements of a replica that owns cells beside others. A cell is claimed only if nobody owns it. `still` holds while the tables are those of the store. */
export function cellStatements(s: SchemaName, still: string): Readonly<Record<CellStatement, Sql>> {
  return {
    enter: {
      name: 'enter-beside',
      text: `INSERT INTO ${s}.replicas (url, until, link, public_key, leaving)
        SELECT $1, clock_timestamp() + $2::float8 * interval '1 ms', $3, $4, $5::boolean WHERE ${still} RETURNING replica`,
    },
    renew: {
      name: 'renew',
      text: `UPDATE ${s}.replicas SET until = clock_timestamp() + $2::float8 * interval '1 ms' WHERE replica = $1 AND until > clock_timestamp()
        AND ${still} RETURNING replica`,
    },
    bury: { name: 'bury', text: `DELETE FROM ${s}.replicas WHERE until < clock_timestamp() RETURNING replica` },
    look: {
      name: 'look',
      text: `SELECT (SELECT count(*) FROM ${s}.replicas WHERE until >= clock_timestamp() AND NOT leaving AND replica <> $1) AS others,
        (SELECT count(*) FROM ${s}.replicas WHERE until < clock_timestamp()) AS lapsed,
        (SELECT count(*) FROM ${s}.cells WHERE replica IS NULL) AS free,
        (SELECT drops FROM ${s}.meta) AS drops, (SELECT lost FROM ${s}.meta) AS lost,
        to_json(ARRAY(SELECT cell FROM ${s}.cells WHERE replica = $1 ORDER BY cell)) AS own WHERE ${still}`,
    },
    claim: {
      name: 'claim-free',
      text: `UPDATE ${s}.cells SET replica = $1, epoch = epoch + 1 WHERE replica IS NULL AND ${still}
        AND cell IN (SELECT cell FROM ${s}.cells WHERE replica IS NULL ORDER BY cell LIMIT $2::bigint FOR UPDATE SKIP LOCKED) RETURNING cell`,
    },
    stop: { name: 'stop-taking', text: `UPDATE ${s}.replicas SET leaving = true WHERE replica = $1 AND ${still}` },
    leave: { name: 'leave', text: `DELETE FROM ${s}.replicas WHERE replica = $1 AND ${still}` },
  };
}
