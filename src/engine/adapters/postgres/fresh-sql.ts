import type { List } from './commit-lists.ts';
import { FRESH_LISTS, numberLists } from './commit-lists.ts';
import { CHANGE, FENCED, heldSql, marksSql, SEND_NAME, sharedFence, soleFence } from './commit-parts.ts';
import type { NameMode } from './commit-sql.ts';
import type { Sql } from './database.ts';
import type { SchemaName } from './schema.ts';

/**
 * The statement of most commits: nothing of the rare parts, no aliases, and names of sends that the store does not have. It costs the server a
 * third less than `commitSql`, because names are inserted without looking for a row that they would replace. If there is one after all, because
 * another replica was faster, the server cancels the whole statement (23505), and the batch is sent with `commitSql`. The parameters: writer,
 * cells, realms, and the columns of those lists that have rows.
 */
export function freshSql(s: SchemaName, mode: NameMode, lists: readonly List[]): Sql {
  const parameters = numberLists(FRESH_LISTS, lists);
  const has = (list: List): boolean => lists.includes(list);
  const isClaim = mode === 'claim';
  const segments: string[] = [];
  const parts = [heldSql(s), isClaim ? sharedFence(s) : soleFence(s)];
  if (has('made')) {
    parts.push(
      `x AS MATERIALIZED (SELECT * FROM ${parameters.rows('made', 'x')} WHERE (SELECT yes FROM ok))`,
      `t AS (INSERT INTO ${s}.tasks (key, cell, id, realm, context, dialect, state, status_at, last, turn, attempt, bytes)
   SELECT key, cell, id, realm, context, dialect, state, status_at, last, turn, attempt, bytes FROM x)`,
    );
    segments.push('SELECT key, 1, last, words, chunks FROM x WHERE last > 0');
  }
  if (has('changed')) {
    parts.push(
      `z AS MATERIALIZED (SELECT * FROM ${parameters.rows('changed', 'z')} WHERE (SELECT yes FROM ok))`,
      `u AS (UPDATE ${s}.tasks k SET ${CHANGE} FROM z WHERE k.key = z.key AND k.last = z.was RETURNING k.key)`,
    );
    segments.push('SELECT key, was + 1, last, words, chunks FROM z WHERE last > was');
  }
  if (segments.length > 0)
    parts.push(`e AS (INSERT INTO ${s}.segments (task, first, last, words, chunks) ${segments.join(' UNION ALL ')})`);
  if (has('sends'))
    // Sorted, as all names: two writers never wait for each other.
    parts.push(`n1 AS (INSERT INTO ${s}.names (realm, kind, name, token, task, seq, fingerprint, at, delivered, answer)
   SELECT realm, ${SEND_NAME}, name, token, task, seq, fingerprint, at, delivered, answer FROM ${parameters.rows('sends', 'y')}
   WHERE (SELECT yes FROM ok) ORDER BY realm, name COLLATE "C")`);
  if (has('marks')) parts.push(`${marksSql(s, parameters.rows('marks', 'm'))})`);
  const changed = has('changed') ? `(SELECT count(*) FROM u) = cardinality($${parameters.first('changed')}::bigint[])` : 'true';
  const own = isClaim ? 'true' : '(SELECT n FROM mine) = cardinality($2::int[])';
  const text = `WITH ${parts.join(',\n ')}
SELECT EXISTS (SELECT 1 FROM held) AS held,${isClaim ? ` ${FENCED},` : ''}
 1 / CASE WHEN NOT (SELECT yes FROM ok) OR (${changed} AND ${own}) THEN 1 ELSE 0 END AS whole`;
  return { name: `commit-${mode}-fresh-${lists.join('-')}`, text };
}
