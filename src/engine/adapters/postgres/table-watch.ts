import type { PostgresDatabase, Sql } from './database.ts';
import { needsOperator } from './errors.ts';
import type { SchemaName } from './schema.ts';
import { TABLES } from './schema.ts';
import { whyUnusable } from './unusable.ts';

/** Why a store can't be used until somebody has corrected its database. */
export interface StoreProblem {
  /** For callers: names nothing of the database. */
  readonly text: string;
  /** For the log: what is wrong, and what to do. */
  readonly advice: string;
}

interface TableWatchOptions {
  readonly database: Pick<PostgresDatabase, 'read'>;
  /** The quoted name of the schema. */
  readonly schema: SchemaName;
  /** Holds while the tables are those of the store. */
  readonly still: string;
  /** Called with what is wrong, and with undefined when the store can be used again. */
  readonly onChange: (problem: StoreProblem | undefined) => void;
  readonly report: (what: string, cause: unknown) => void;
}

interface TableSeen {
  readonly name: string;
  readonly isThere: boolean;
  readonly isAllowed: boolean;
  /** Of the schema. Null: it is not there. */
  readonly mayEnter: boolean | null;
  /** The role of this process. */
  readonly role: string;
}

const LOOK_MS = 1000;

/** Looks again and again whether the tables of a store are there and may be used. While the database does not answer, nothing changes. */
export function watchTables({ database, schema: s, still, onChange, report }: TableWatchOptions): { readonly stop: () => void } {
  let problem: StoreProblem | undefined;
  /** What the role lacks from the beginning, it does not need. */
  let spared: ReadonlySet<string> | undefined;
  let isLooking = false;
  let isStopped = false;
  const change = (now: StoreProblem | undefined): void => {
    if (isStopped || now?.advice === problem?.advice) return;
    problem = now;
    onChange(now);
  };
  const look = async (): Promise<StoreProblem | undefined> => {
    const seen = await database.read<TableSeen>(SEEN, [s, JSON.stringify(TABLES)]);
    spared ??= new Set(seen.filter(({ isThere, isAllowed }) => isThere && !isAllowed).map(({ name }) => name));
    const found = problemIn(seen, spared, shownName(s));
    if (found !== undefined) return found;
    const [same] = await database.read<{ yes: boolean }>({ name: 'same-store', text: `SELECT ${still} AS yes` });
    return same?.yes === true ? undefined : REPLACED;
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .then(change, (thrown: unknown) => {
        if (needsOperator(thrown)) change(refusedBy(thrown));
      })
      .catch((thrown: unknown) => report('the tables could not be watched', thrown))
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_MS);
  timer.unref();
  return {
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/** As people type it: without quotes, if it needs none. */
function shownName(s: SchemaName): string {
  return /^"[a-z_][a-z0-9_]*"$/.test(s) ? s.slice(1, -1) : s;
}

function problemIn(seen: readonly TableSeen[], spared: ReadonlySet<string>, s: string): StoreProblem | undefined {
  const [first] = seen;
  if (first === undefined) return undefined;
  if (first.mayEnter === null)
    return { text: GONE, advice: `the schema ${s} is not in the database: it was dropped or renamed. Bring it back, ${RESTORE}` };
  const missing = seen.filter(({ isThere }) => !isThere);
  if (missing.length > 0)
    return { text: GONE, advice: `tables are not in the schema ${s}: ${namesOf(missing)}. Bring them back, ${RESTORE}` };
  const denied = seen.filter(({ name, isAllowed }) => !isAllowed && !spared.has(name));
  if (first.mayEnter && denied.length === 0) return undefined;
  const what = first.mayEnter ? `tables: ${namesOf(denied)}` : `schema ${s}`;
  return { text: DENIED, advice: `the role ${first.role} may not use the ${what}. ${grants(s, first.role)}` };
}

function namesOf(tables: readonly TableSeen[]): string {
  return tables.map(({ name }) => name).join(', ');
}

function grants(s: string, role: string): string {
  const kinds = ['TABLES', 'SEQUENCES'].map((kind) => `GRANT ALL ON ALL ${kind} IN SCHEMA ${s} TO ${role}`);
  return `As its owner: GRANT USAGE ON SCHEMA ${s} TO ${role}; ${kinds.join('; ')}`;
}

/** The server refuses the role, or the database is gone. */
function refusedBy(thrown: unknown): StoreProblem {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return { text: 'the database refuses this node', advice: whyUnusable(thrown, why) };
}

const GONE = 'the tables of this node are not in its database';
const DENIED = 'this node may not use its tables in the database';
const RESTORE =
  'for example by renaming, and this node continues by itself. To restore a backup, or to begin with an empty store, stop all nodes first';
const REPLACED: StoreProblem = {
  text: 'the tables of this node were replaced',
  advice:
    'the tables of this node were replaced, by a restored backup or by a node that started later and made new ones. Restart this node when they are complete, or bring the old tables back',
};

/** Catalogs only, which every role may read. */
const SEEN: Sql = {
  name: 'tables-seen',
  text: `SELECT v.name, c.oid IS NOT NULL AS "isThere", current_user AS role, has_schema_privilege(to_regnamespace($1)::oid, 'USAGE') AS "mayEnter",
    CASE c.relkind WHEN 'S' THEN has_sequence_privilege(c.oid, 'USAGE')
      ELSE has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
        AND has_table_privilege(c.oid, 'DELETE') END AS "isAllowed"
    FROM json_array_elements_text($2::json) AS v(name) LEFT JOIN pg_class c ON c.relname = v.name AND c.relnamespace = to_regnamespace($1)::oid`,
};
