import type { SearchTerm } from '../../../ports.ts';
import type { Sql } from '../database.ts';
import { TASK_COLUMNS } from '../records.ts';
import type { SchemaName } from '../schema.ts';

const COLUMNS = TASK_COLUMNS.split(', ')
  .map((column) => `k.${column}`)
  .join(', ');
const numbers = (parameter: string): string => `(SELECT v::bigint AS v FROM json_array_elements_text(${parameter}::json) AS v)`;

/** The statements of the search. The table is `said`: the words of a task, as they were at the entry `last`. */
export function searchStatements(s: SchemaName): Readonly<Record<'find' | 'compare' | 'recent' | 'lasts' | 'logs' | 'put', Sql>> {
  return {
    // Without a name: the server plans each search by its words. A rare word is found by the index, a common one by going down the keys.
    find: {
      name: '',
      text: `SELECT ${COLUMNS} FROM ${s}.said d JOIN ${s}.tasks k ON k.key = d.task
        WHERE d.words @@ $1::tsquery AND d.task < $2::bigint AND ($3::text IS NULL OR k.realm IN ${numbers('$3')})
        AND ($4::text IS NULL OR k.context = $4) AND ($5::int IS NULL OR k.state = $5) AND k.status_at >= $6::bigint
        ORDER BY d.task DESC LIMIT $7::bigint`,
    },
    /** A page of tasks, down from a key, with those whose words are missing or old. */
    compare: {
      name: 'search-compare',
      text: `SELECT count(*) AS n, coalesce(min(key), 0) AS lowest, coalesce(string_agg(key::text, ',') FILTER (WHERE is_old), '') AS old FROM (
        SELECT k.key, d.last IS DISTINCT FROM k.last AS is_old
        FROM (SELECT key, last FROM ${s}.tasks WHERE key < $1::bigint ORDER BY key DESC LIMIT $2::bigint) k LEFT JOIN ${s}.said d ON d.task = k.key) AS page`,
    },
    /** The same, for tasks whose status is new. */
    recent: {
      name: 'search-recent',
      text: `SELECT k.key FROM ${numbers('$1')} AS c CROSS JOIN LATERAL (
          SELECT key, last FROM ${s}.tasks WHERE state = c.v AND status_at >= $2::bigint) AS k
        LEFT JOIN ${s}.said d ON d.task = k.key WHERE d.last IS DISTINCT FROM k.last LIMIT $3::bigint`,
    },
    // LATERAL with a limit: the server looks each key up in the index. A join would read the whole table while it is small.
    lasts: {
      name: 'search-lasts',
      text: `SELECT k.key, k.last FROM ${numbers('$1')} AS q CROSS JOIN LATERAL (SELECT key, last FROM ${s}.tasks WHERE key = q.v LIMIT 1) AS k`,
    },
    /** The logs of these tasks, without those that are large. */
    logs: {
      name: 'search-logs',
      text: `SELECT task, first, last, words, chunks FROM ${numbers('$1')} AS q CROSS JOIN LATERAL (
          SELECT task, first, last, words, chunks,
            sum(coalesce(octet_length(words), 0) + coalesce(octet_length(chunks), 0)) OVER () AS size
          FROM (SELECT task, first, last, words, chunks FROM ${s}.segments WHERE task = q.v ORDER BY first LIMIT $3::bigint) AS log) AS sized
        WHERE size <= $2::bigint ORDER BY task, first`,
    },
    /**
     * Skips tasks that a commit deletes at this moment: waiting for several of them could block that commit. A deletion waits for the locks of
     * this statement, and then deletes the words, too. Without a sync, the server may lose words in a crash: a sweep finds that.
     */
    put: {
      name: 'search-put',
      text: `WITH unsynced AS MATERIALIZED (SELECT set_config('synchronous_commit', $4, true))
        INSERT INTO ${s}.said AS old (task, last, words) SELECT r.task, r.last, r.words::tsvector
          FROM unsynced, unnest($1::bigint[], $2::int[], $3::text[]) AS r (task, last, words)
          CROSS JOIN LATERAL (SELECT FROM ${s}.tasks WHERE key = r.task LIMIT 1 FOR KEY SHARE SKIP LOCKED) AS k ORDER BY r.task
        ON CONFLICT (task) DO UPDATE SET last = EXCLUDED.last, words = EXCLUDED.words WHERE old.last <= EXCLUDED.last RETURNING old.task`,
    },
  };
}

/** Higher positions are all the same to Postgres, so phrases are found up to here only. */
const POSITION_MAX = 16_383;
const POSITIONS_A_WORD = 255;

/** A `tsvector`. It is written out here: the server's own parser would separate words in another way than the other stores. */
export function vectorOf(words: string): string {
  const places = new Map<string, number[]>();
  for (const [at, word] of words.split(' ').entries()) {
    if (word === '') continue;
    const known = places.get(word);
    if (known === undefined) places.set(word, [Math.min(at + 1, POSITION_MAX)]);
    else if (known.length < POSITIONS_A_WORD && at < POSITION_MAX) known.push(at + 1);
  }
  return [...places].map(([word, at]) => `'${word}':${at.join()}`).join(' ');
}

/** A `tsquery`. Words are letters and digits only. */
export function tsqueryOf(terms: readonly SearchTerm[]): string {
  return terms.map(({ words, isPrefix }) => `(${words.map((word) => `'${word}'`).join(' <-> ')}${isPrefix ? ':*' : ''})`).join(' & ');
}
