import type { SchemaName } from './schema.ts';

/** Kinds of names. */
export const SEND_NAME = 1;
export const ALIAS_NAME = 2;

/** The row of the writer, locked. A takeover deletes it. */
export function heldSql(s: SchemaName): string {
  return `held AS (SELECT replica FROM ${s}.writers WHERE writer = $1 FOR KEY SHARE)`;
}

/** For a replica that owns all cells. That the cells are its own is an assertion, and not the fence. */
export function soleFence(s: SchemaName): string {
  return `ok AS (SELECT count(*) = 1 AND $3::int[] IS NOT NULL AS yes FROM held),
 mine AS (SELECT count(*) AS n FROM ${s}.cells WHERE cell = ANY ($2::int[])
   AND replica = (SELECT replica FROM held))`;
}

/**
 * For a replica beside others. Another one may have deleted an owner that this one knows by its number (`forgotten`). It gives cells up only between two of its commits, so a cell that it has now is its own until this one
 * ends. Counting its cells is cheaper than looking each one up, so that is done only if one is missing. `more`: queries of further cells.
 */
export function sharedFence(s: SchemaName, more = ''): string {
  return `mine AS MATERIALIZED (SELECT count(*) AS n FROM ${s}.cells WHERE cell = ANY ($2::int[]) AND replica = (SELECT replica FROM held)),
 need AS MATERIALIZED (SELECT cell FROM unnest($2::int[]) AS v(cell) WHERE (SELECT n FROM mine) < cardinality($2::int[]) ${more}),
 away AS MATERIALIZED (SELECT need.cell FROM need
   WHERE (SELECT c.replica FROM ${s}.cells c WHERE c.cell = need.cell) IS DISTINCT FROM (SELECT replica FROM held)),
 forgotten AS MATERIALIZED (SELECT v.realm FROM unnest($3::int[]) AS v(realm)
   WHERE NOT EXISTS (SELECT 1 FROM ${s}.realms r WHERE r.realm = v.realm)),
 ok AS (SELECT EXISTS (SELECT 1 FROM held) AND NOT EXISTS (SELECT 1 FROM away) AND NOT EXISTS (SELECT 1 FROM forgotten) AS yes)`;
}

/** What the answer to a claim says of the fence. */
export const FENCED: string = '(SELECT json_agg(cell) FROM away) AS away, EXISTS (SELECT 1 FROM forgotten) AS "isForgotten"';

/** The columns of `tasks` that the row of a changed task replaces. */
export const CHANGE = 'state = z.state, status_at = z.status_at, last = z.last, turn = z.turn, attempt = z.attempt, bytes = z.bytes';

/**
 * Marks delivered sends. Each one is looked up in the index by a query of its own: a join would read all names at each commit while the plan is
 * from an empty table. Further conditions on `n` may follow.
 */
export function marksSql(s: SchemaName, marks: string): string {
  return `d AS (UPDATE ${s}.names n SET delivered = true WHERE n.ctid = ANY (ARRAY(
     SELECT (SELECT o.ctid FROM ${s}.names o WHERE o.realm = m.realm AND o.kind = ${SEND_NAME} AND o.name = m.name) FROM ${marks}
     WHERE (SELECT yes FROM ok))) AND NOT n.delivered`;
}
