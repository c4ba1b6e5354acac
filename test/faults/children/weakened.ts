import pg from 'pg';

/**
 * Loaded before a real `parley serve`, it switches one protection off by changing the statements on their way to the database. Only the
 * controls of R1 to R8 use it: they show that the journal finds what the protection prevents. PARLEY_WEAKNESS names the protection.
 */
interface Statement {
  readonly name?: string;
  readonly text: string;
}

const WEAKEN: Readonly<Record<string, (text: string) => string>> = {
  // A commit does not look for its writer row, nor at the owner of its cells.
  fence: (text) => {
    if (!text.includes('away AS MATERIALIZED')) return text;
    const unheld = replaced(
      text,
      /held AS \(SELECT replica FROM \S+ WHERE writer = \$1 FOR KEY SHARE\)/,
      'held AS (SELECT $1::bigint AS replica)',
    );
    const away = /(away AS MATERIALIZED \(SELECT need\.cell FROM need)\s+WHERE .*? IS DISTINCT FROM \(SELECT replica FROM held\)\)/;
    return replaced(unheld, away, '$1 WHERE false)');
  },
  // The server answers before a commit is on disk.
  sync: (text) => text.replace('SET synchronous_commit = on', 'SET synchronous_commit = off'),
  // A commit whose answer was lost counts as written.
  verdict: (text) => {
    if (/AS p\(key bigint, last int\) JOIN/.test(text))
      return 'SELECT p.key, 0 AS cell, true AS own, true AS held FROM json_to_recordset($1::json) AS p(key bigint, last int) WHERE $2::bigint > 0';
    return /^SELECT key FROM \S+ WHERE key IN \(/.test(text)
      ? 'SELECT v::bigint AS key FROM json_array_elements_text($1::json) AS v'
      : text;
  },
  // Leases end by the clock of the node, and not by that of the database.
  clock: (text) => (/\breplicas\b/.test(text) ? text.replaceAll('clock_timestamp()', `to_timestamp(${Date.now() / 1000})`) : text),
};

/** Throws if the statement has changed so much that the control would switch nothing off. */
function replaced(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`nothing to weaken in ${text}`);
  return text.replace(pattern, by);
}

const weaken = WEAKEN[process.env['PARLEY_WEAKNESS'] ?? ''];
if (weaken === undefined) throw new Error(`PARLEY_WEAKNESS is none of ${Object.keys(WEAKEN).join(', ')}`);

function changed(statement: unknown, change: (text: string) => string): unknown {
  if (typeof statement === 'string') return change(statement);
  if (typeof statement !== 'object' || statement === null || !('text' in statement)) return statement;
  const { name, text, ...rest } = statement as Statement;
  const other = change(text);
  // A prepared statement keeps the text of its first use.
  return other === text ? statement : { ...rest, text: other, ...(name === undefined || /^commit-/.test(name) ? { name } : {}) };
}

const query = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, statement: unknown, ...rest: unknown[]): unknown {
    return query.call(this, changed(statement, weaken), ...rest);
  },
});
