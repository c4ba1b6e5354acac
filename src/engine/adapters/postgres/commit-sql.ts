import { LISTS, numberLists } from './commit-lists.ts';
import { ALIAS_NAME, CHANGE, FENCED, heldSql, marksSql, SEND_NAME, sharedFence, soleFence } from './commit-parts.ts';
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

/**
 * The plan is made once for all parameters. The tables may be small or never analysed then, so the
 * planner must not choose to read a whole table. No commit waits long for a lock.
 */
export const sessionOf = (
  commitMsMax: number,
): string => `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET jit = off; SET statement_timeout = ${Math.trunc(commitMsMax)}; SET synchronous_commit = on`;

const PARAMETERS = numberLists(LISTS);

const PUSH_COLUMNS = 'task bigint, id text, dialect text, after int, config text, sealed text, moved boolean';
const OUTBOX_COLUMNS =
  'n bigint, task bigint, config text, done int, up_to int, dead boolean, attempts int, due_at bigint, failing_since bigint, problem text, beside boolean';

/**
 * The statement of a commit: it writes everything or nothing, in one round trip. The parameters, in this
 * order: writer, cells, realms, and the columns of `LISTS`; then as JSON, if the part is there, pushes and
 * dropped pushes; outbox rows and dropped numbers; forgotten tasks, dropped names, the time for
 * `forgetSends`, and the realms of forgotten owners; and for a claim with one of these parts, the keys of
 * their tasks.
 *
 * The row of the writer is locked first (`held`). A takeover deletes that row, so it waits for this
 * statement, or this statement finds nothing and writes nothing. Names are inserted in sorted order, so
 * that two writers never wait for each other. A claim writes nothing if the replica does not own all of
 * its cells (`away`). `whole` divides by zero if a changed task is not as the writer believes, which
 * cancels the statement.
 */
export function commitSql(s: SchemaName, mode: NameMode, parts: RareParts): Sql {
  const numbers = numberParameters(parts);
  const isClaim = mode === 'claim';
  const text = `WITH ${heldSql(s)},
 x AS MATERIALIZED (SELECT * FROM ${PARAMETERS.rows('made', 'x')}),
 z AS MATERIALIZED (SELECT * FROM ${PARAMETERS.rows('changed', 'z')}),
 y AS MATERIALIZED (SELECT * FROM ${PARAMETERS.rows('sends', 'y')}),
 ${isClaim ? sharedFence(s, rareCells(s, parts, numbers)) : soleFence(s)},
 ${namesSql(s, mode)},
 t AS (INSERT INTO ${s}.tasks (key, cell, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes)
   SELECT key, cell, id, realm, context, dialect, alias, state, status_at, last, turn, attempt, bytes FROM x WHERE (SELECT yes FROM ok)
   ${isClaim ? CLAIMED : ''} RETURNING key),
 u AS (UPDATE ${s}.tasks k SET ${CHANGE}
   FROM z WHERE k.key = z.key AND k.last = z.was AND (SELECT yes FROM ok) RETURNING k.key),
 e AS (INSERT INTO ${s}.segments (task, first, last, words, chunks)
   SELECT key, 1, last, words, chunks FROM x WHERE last > 0 AND ${hashed('key IN (SELECT key FROM t)')}
   UNION ALL SELECT key, was + 1, last, words, chunks FROM z WHERE last > was AND ${hashed('key IN (SELECT key FROM u)')}),
 ${marksSql(s, PARAMETERS.rows('marks', 'm'))}
   ${parts.deletes ? unlessDeleted(numbers.deletes) : ''})
 ${parts.pushes ? pushesSql(s, numbers.pushes) : ''}${parts.outbox ? outboxSql(s, numbers.outbox, parts.pushes ? numbers.pushes : undefined) : ''}${
   parts.deletes ? deletesSql(s, numbers.deletes, parts.outbox ? numbers.outbox : undefined) : ''
 }
SELECT EXISTS (SELECT 1 FROM held) AS held, (SELECT json_agg(key) FROM t) AS made,${isClaim ? ` ${TAKEN} AS taken, ${FENCED},` : ''}
 1 / CASE WHEN NOT (SELECT yes FROM ok) OR ((SELECT count(*) FROM u) = cardinality($${PARAMETERS.first('changed')}::bigint[])
   AND ${isClaim ? ORPHANS : '(SELECT n FROM mine) = cardinality($2::int[])'}) THEN 1 ELSE 0 END AS whole`;
  return { name: `commit-${mode}-${Number(parts.pushes)}${Number(parts.outbox)}${Number(parts.deletes)}`, text };
}

interface Numbers {
  readonly pushes: number;
  readonly outbox: number;
  readonly deletes: number;
  readonly keys: number;
}

/** The number of the first parameter of each part. */
function numberParameters({ pushes, outbox, deletes }: RareParts): Numbers {
  const first = PARAMETERS.end;
  const atOutbox = first + (pushes ? 2 : 0);
  const atDeletes = atOutbox + (outbox ? 2 : 0);
  return { pushes: first, outbox: atOutbox, deletes: atDeletes, keys: atDeletes + (deletes ? 4 : 0) };
}

/** Cells of what the rare parts of a claim change. */
function rareCells(s: SchemaName, { pushes, outbox, deletes }: RareParts, numbers: Numbers): string {
  const ofTasks = `UNION SELECT k.cell FROM ${s}.tasks k WHERE k.key IN (SELECT v::bigint FROM json_array_elements_text($${numbers.keys}::json) AS v)`;
  const ofQueues = `UNION SELECT k.cell FROM ${s}.outbox q JOIN ${s}.tasks k ON k.key = q.task
   WHERE q.n IN (SELECT v::bigint FROM json_array_elements_text($${numbers.outbox + 1}::json) AS v)`;
  return `${pushes || outbox || deletes ? ofTasks : ''} ${outbox ? ofQueues : ''}`;
}

/** A statement that updates a row can't delete it, so a mark on a deleted send is left out. */
function unlessDeleted(at: number): string {
  return `AND NOT EXISTS (SELECT 1 FROM json_array_elements_text($${at}::json) AS v WHERE v::bigint = n.task)
   AND NOT (n.task IS NULL AND (n.at < $${at + 2}::bigint OR n.realm IN (SELECT v::int FROM json_array_elements_text($${at + 3}::json) AS v)))`;
}

/** A condition that the server answers from a hash table. As a join it would compare each row with each other one. */
function hashed(condition: string): string {
  return `(${condition}) IS TRUE`;
}

/** Sends whose name was not claimed by this statement. */
const UNCLAIMED = hashed('(y.realm, y.name) NOT IN (SELECT realm, name FROM n1)');
/** A new task is made only if its alias and the name of the send that made it were claimed by this statement. */
const CLAIMED = `AND (alias IS NULL OR namer IN (SELECT task FROM a))
   AND ${hashed(`key NOT IN (SELECT y.task FROM y WHERE y.seq = 1 AND y.task IS NOT NULL AND ${UNCLAIMED})`)}`;
/** An alias whose task was not made, because its send was known. The caller leaves that task out and tries again. */
const ORPHANS = 'NOT EXISTS (SELECT 1 FROM a WHERE a.task NOT IN (SELECT key FROM t))';
/** Answered sends without a task whose name was taken. */
const TAKEN = `(SELECT json_agg(json_build_object('realm', y.realm, 'name', y.name)) FROM y WHERE y.task IS NULL AND ${UNCLAIMED})`;

/** Whether the name that is there may be replaced: see `Store.claim`. */
const FREE_ALIAS = 'WHERE old.task = (SELECT x.follows FROM x WHERE x.key = EXCLUDED.task)';
const FREE_SEND =
  'WHERE old.delivered OR EXISTS (SELECT 1 FROM y WHERE y.realm = EXCLUDED.realm AND y.name = EXCLUDED.name AND (y.free OR y.was = old.task))';

function namesSql(s: SchemaName, mode: NameMode): string {
  const isClaim = mode === 'claim';
  const unnamed = isClaim
    ? `AND ${hashed('y.task IS NULL OR y.task NOT IN (SELECT x.key FROM x WHERE x.alias IS NOT NULL AND x.namer NOT IN (SELECT task FROM a))')}`
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
