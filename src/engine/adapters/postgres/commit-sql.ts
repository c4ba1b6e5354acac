import type { Sql } from './database.ts';
import type { SchemaName } from './schema.ts';

/**
 * How the names of a batch are written. `replace`: the newest one wins, for the only writer of a store.
 * `claim`: the first one wins, and a task whose name was taken is not made.
 */
export type NameMode = 'replace' | 'claim';

/** The parts of a statement that few commits need. */
export interface RareParts {
  readonly pushes: boolean;
  readonly outbox: boolean;
  readonly deletes: boolean;
}

/** Kinds of names. */
export const SEND_NAME = 1;
export const ALIAS_NAME = 2;

const NEW_COLUMNS =
  'key bigint, cell int, id text, realm int, context text, dialect text, alias text, state smallint, status_at bigint, last int, turn int, attempt int, bytes bigint, named boolean, namer bigint, follows bigint, words text, chunks text';
const CHANGED_COLUMNS =
  'key bigint, was int, state smallint, status_at bigint, last int, turn int, attempt int, bytes bigint, words text, chunks text';
const SEND_COLUMNS =
  'realm int, name text, token text, task bigint, seq int, fingerprint text, at bigint, delivered boolean, answer text, was bigint, free boolean';
const PUSH_COLUMNS = 'task bigint, id text, dialect text, after int, config text, sealed text, moved boolean';
const OUTBOX_COLUMNS =
  'n bigint, task bigint, config text, done int, up_to int, dead boolean, attempts int, due_at bigint, failing_since bigint, problem text, beside boolean';

/**
 * The statement of a commit: it writes everything or nothing, in one round trip. The parameters are
 * JSON arrays, in this order: writer, cells, new tasks, changed tasks, sends, delivered sends; then, if
 * the part is there, pushes and dropped pushes; outbox rows and dropped numbers; forgotten tasks,
 * dropped names, the time for `forgetSends`, and the realms of forgotten owners.
 *
 * The row of the writer is locked first (`held`). A takeover deletes that row, so it waits for this
 * statement, or this statement finds nothing and writes nothing. Names are inserted in sorted order, so
 * that two writers never wait for each other. `whole` divides by zero if a changed task is not as the
 * writer believes, which cancels the statement.
 */
export function commitSql(s: SchemaName, mode: NameMode, parts: RareParts): Sql {
  const numbers = numberParameters(parts);
  const text = `WITH held AS (SELECT replica FROM ${s}.writers WHERE writer = $1 FOR KEY SHARE),
 ok AS (SELECT count(*) = 1 AS yes FROM held),
 mine AS (SELECT count(*) AS n FROM ${s}.cells WHERE cell IN (SELECT v::int FROM json_array_elements_text($2::json) AS v)
   AND replica = (SELECT replica FROM held)),
 x AS MATERIALIZED (SELECT * FROM json_to_recordset($3::json) AS x(${NEW_COLUMNS})),
 z AS MATERIALIZED (SELECT * FROM json_to_recordset($4::json) AS z(${CHANGED_COLUMNS})),
 y AS MATERIALIZED (SELECT * FROM json_to_recordset($5::json) AS y(${SEND_COLUMNS})),
 ${namesSql(s, mode)},
 t AS (INSERT INTO ${s}.tasks (key, cell, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes)
   SELECT key, cell, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes FROM x WHERE (SELECT yes FROM ok)
   ${mode === 'claim' ? CLAIMED : ''} RETURNING key),
 u AS (UPDATE ${s}.tasks k SET state = z.state, status_at = z.status_at, last = z.last, turn = z.turn, attempt = z.attempt, bytes = z.bytes
   FROM z WHERE k.key = z.key AND k.last = z.was AND (SELECT yes FROM ok) RETURNING k.key),
 e AS (INSERT INTO ${s}.segments (task, first, last, words, chunks)
   SELECT x.key, 1, x.last, x.words, x.chunks FROM x JOIN t USING (key) WHERE x.last > 0
   UNION ALL SELECT z.key, z.was + 1, z.last, z.words, z.chunks FROM z JOIN u USING (key) WHERE z.last > z.was),
 d AS (UPDATE ${s}.names n SET delivered = true FROM json_to_recordset($6::json) AS m(realm int, name text)
   WHERE n.realm = m.realm AND n.kind = ${SEND_NAME} AND n.name = m.name AND NOT n.delivered AND (SELECT yes FROM ok)
   ${parts.deletes ? unlessDeleted(numbers.deletes) : ''})
 ${parts.pushes ? pushesSql(s, numbers.pushes) : ''}${parts.outbox ? outboxSql(s, numbers.outbox, parts.pushes ? numbers.pushes : undefined) : ''}${
   parts.deletes ? deletesSql(s, numbers.deletes, parts.outbox ? numbers.outbox : undefined) : ''
 }
SELECT (SELECT yes FROM ok) AS held, (SELECT json_agg(key) FROM t) AS made,${mode === 'claim' ? ` ${TAKEN} AS taken,` : ''}
 1 / CASE WHEN NOT (SELECT yes FROM ok) OR ((SELECT count(*) FROM u) = json_array_length($4::json)
   AND (SELECT n FROM mine) = json_array_length($2::json)${mode === 'claim' ? ORPHANS : ''}) THEN 1 ELSE 0 END AS whole`;
  return { name: `commit-${mode}-${Number(parts.pushes)}${Number(parts.outbox)}${Number(parts.deletes)}`, text };
}

interface Numbers {
  readonly pushes: number;
  readonly outbox: number;
  readonly deletes: number;
}

/** The number of the first parameter of each part. */
function numberParameters({ pushes, outbox }: RareParts): Numbers {
  const first = 7;
  return { pushes: first, outbox: first + (pushes ? 2 : 0), deletes: first + (pushes ? 2 : 0) + (outbox ? 2 : 0) };
}

/** A statement that updates a row can't delete it, so a mark on a deleted send is left out. */
function unlessDeleted(at: number): string {
  return `AND NOT EXISTS (SELECT 1 FROM json_array_elements_text($${at}::json) AS v WHERE v::bigint = n.task)
   AND NOT (n.task IS NULL AND (n.at < $${at + 2}::bigint OR n.realm IN (SELECT v::int FROM json_array_elements_text($${at + 3}::json) AS v)))`;
}

/** A new task is made only if its alias and the name of the send that made it were claimed by this statement. */
const CLAIMED = `AND (alias IS NULL OR namer IN (SELECT task FROM a)) AND NOT EXISTS (SELECT 1 FROM y
   WHERE y.task = x.key AND y.seq = 1 AND NOT EXISTS (SELECT 1 FROM n1 WHERE n1.realm = y.realm AND n1.name = y.name))`;
/** An alias whose task was not made, because its send was known. The caller leaves that task out and tries again. */
const ORPHANS = ' AND NOT EXISTS (SELECT 1 FROM a WHERE a.task NOT IN (SELECT key FROM t))';
/** Answered sends without a task whose name was taken. */
const TAKEN = `(SELECT json_agg(json_build_object('realm', y.realm, 'name', y.name)) FROM y WHERE y.task IS NULL
   AND NOT EXISTS (SELECT 1 FROM n1 WHERE n1.realm = y.realm AND n1.name = y.name))`;

/** Whether the name that is there may be replaced: see `Store.claim`. */
const FREE_ALIAS = 'WHERE old.task = (SELECT x.follows FROM x WHERE x.key = EXCLUDED.task)';
const FREE_SEND =
  'WHERE old.delivered OR EXISTS (SELECT 1 FROM y WHERE y.realm = EXCLUDED.realm AND y.name = EXCLUDED.name AND (y.free OR y.was = old.task))';

function namesSql(s: SchemaName, mode: NameMode): string {
  const isClaim = mode === 'claim';
  const unnamed = isClaim
    ? 'AND NOT EXISTS (SELECT 1 FROM x WHERE x.key = y.task AND x.alias IS NOT NULL AND x.namer NOT IN (SELECT task FROM a))'
    : '';
  return `a AS (INSERT INTO ${s}.names AS old (realm, kind, name, task) SELECT realm, ${ALIAS_NAME}, alias, key FROM x
   WHERE alias IS NOT NULL AND named AND (SELECT yes FROM ok) ORDER BY realm, alias COLLATE "C"
   ON CONFLICT (realm, kind, name) DO UPDATE SET task = EXCLUDED.task ${isClaim ? FREE_ALIAS : ''} RETURNING task),
 n1 AS (INSERT INTO ${s}.names AS old (realm, kind, name, token, task, seq, fingerprint, at, delivered, answer)
   SELECT realm, ${SEND_NAME}, name, token, task, seq, fingerprint, at, delivered, answer FROM y WHERE (SELECT yes FROM ok) ${unnamed}
   ORDER BY realm, name COLLATE "C" ON CONFLICT (realm, kind, name) DO UPDATE SET task = EXCLUDED.task, seq = EXCLUDED.seq,
     fingerprint = EXCLUDED.fingerprint, at = EXCLUDED.at, delivered = EXCLUDED.delivered, answer = EXCLUDED.answer ${isClaim ? FREE_SEND : ''}
   RETURNING realm, name)`;
}

/** A task that exists, before this statement or by it. */
const isThere = (s: SchemaName, task: string): string =>
  `(EXISTS (SELECT 1 FROM ${s}.tasks k WHERE k.key = ${task}) OR ${task} IN (SELECT key FROM t))`;

function pushesSql(s: SchemaName, at: number): string {
  return `,
 p AS (INSERT INTO ${s}.pushes AS old (task, id, dialect, after, config, sealed)
   SELECT task, id, dialect, after, config, sealed FROM json_to_recordset($${at}::json) AS p(${PUSH_COLUMNS})
   WHERE (SELECT yes FROM ok) AND ${isThere(s, 'p.task')} AND NOT p.moved
   ON CONFLICT (task, id) DO UPDATE SET dialect = EXCLUDED.dialect, after = EXCLUDED.after, config = EXCLUDED.config, sealed = EXCLUDED.sealed),
 pm AS (INSERT INTO ${s}.pushes AS old (task, id, dialect, after, config, sealed)
   SELECT task, id, dialect, after, config, sealed FROM json_to_recordset($${at}::json) AS p(${PUSH_COLUMNS})
   WHERE (SELECT yes FROM ok) AND ${isThere(s, 'p.task')} AND p.moved
   ON CONFLICT (task, id) DO UPDATE SET dialect = EXCLUDED.dialect, after = EXCLUDED.after, config = EXCLUDED.config, sealed = EXCLUDED.sealed,
     n = DEFAULT),
 pd AS (DELETE FROM ${s}.pushes old USING json_to_recordset($${at + 1}::json) AS q(task bigint, id text)
   WHERE old.task = q.task AND old.id = q.id AND (SELECT yes FROM ok))`;
}

/** `beside`: the config is put by the same commit. A dropped config takes its queues with it. */
function outboxSql(s: SchemaName, at: number, pushesAt: number | undefined): string {
  const values = `json_to_recordset($${at}::json) AS o(${OUTBOX_COLUMNS})`;
  const orphaned =
    pushesAt === undefined
      ? ''
      : `OR ((old.task, old.config) IN (SELECT task, id FROM json_to_recordset($${pushesAt + 1}::json) AS q(task bigint, id text))
       AND old.n NOT IN (SELECT o.n FROM ${values}))`;
  return `,
 o AS (INSERT INTO ${s}.outbox (n, task, config, done, up_to, dead, attempts, due_at, failing_since, problem)
   SELECT n, task, config, done, up_to, dead, attempts, due_at, failing_since, problem FROM ${values}
   WHERE (SELECT yes FROM ok) AND ${isThere(s, 'o.task')}
     AND (o.beside OR EXISTS (SELECT 1 FROM ${s}.pushes c WHERE c.task = o.task AND c.id = o.config))
   ON CONFLICT (n) DO UPDATE SET task = EXCLUDED.task, config = EXCLUDED.config, done = EXCLUDED.done, up_to = EXCLUDED.up_to,
     dead = EXCLUDED.dead, attempts = EXCLUDED.attempts, due_at = EXCLUDED.due_at, failing_since = EXCLUDED.failing_since,
     problem = EXCLUDED.problem),
 od AS (DELETE FROM ${s}.outbox old WHERE (SELECT yes FROM ok)
   AND (old.n IN (SELECT v::bigint FROM json_array_elements_text($${at + 1}::json) AS v) ${orphaned}))`;
}

/** Forgotten tasks with everything that belongs to them, and names of sends. What the batch puts stays. */
function deletesSql(s: SchemaName, at: number, outboxAt: number | undefined): string {
  const put =
    outboxAt === undefined ? '' : `AND old.n NOT IN (SELECT o.n FROM json_to_recordset($${outboxAt}::json) AS o(${OUTBOX_COLUMNS}))`;
  const kept = `NOT EXISTS (SELECT 1 FROM y WHERE old.kind = ${SEND_NAME} AND y.realm = old.realm AND y.name = old.name)
     AND NOT EXISTS (SELECT 1 FROM x WHERE old.kind = ${ALIAS_NAME} AND x.realm = old.realm AND x.alias = old.name)`;
  return `,
 g AS MATERIALIZED (SELECT v::bigint AS key FROM json_array_elements_text($${at}::json) AS v WHERE (SELECT yes FROM ok)),
 ft AS (DELETE FROM ${s}.tasks WHERE key IN (SELECT key FROM g) RETURNING key),
 fe AS (DELETE FROM ${s}.segments WHERE task IN (SELECT key FROM g)),
 fp AS (DELETE FROM ${s}.pushes WHERE task IN (SELECT key FROM g)),
 fo AS (DELETE FROM ${s}.outbox old WHERE old.task IN (SELECT key FROM g) ${put}),
 fn AS (DELETE FROM ${s}.names old WHERE old.task IN (SELECT key FROM g) AND ${kept}),
 fd AS (DELETE FROM ${s}.names old USING json_to_recordset($${at + 1}::json) AS q(realm int, name text)
   WHERE old.realm = q.realm AND old.kind = ${SEND_NAME} AND old.name = q.name AND (SELECT yes FROM ok)),
 fs AS (DELETE FROM ${s}.names old WHERE old.kind = ${SEND_NAME} AND old.task IS NULL
   AND (old.at < $${at + 2}::bigint OR old.realm IN (SELECT v::int FROM json_array_elements_text($${at + 3}::json) AS v)) AND ${kept}
   AND (SELECT yes FROM ok)),
 fm AS (UPDATE ${s}.meta SET last_key = f.key FROM (SELECT max(key) AS key FROM ft) AS f
   WHERE f.key > last_key AND f.key >= (SELECT max(key) FROM ${s}.tasks))`;
}
