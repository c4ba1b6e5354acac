import type { ContextFilter, ListFilter, Store, TaskRow } from '../../ports.ts';
import { ALL_CODES, codeOf, FINISHED_CODES, FIRST_FINISHED, WAITING_CODES } from '../shared/state-codes.ts';
import { bounded } from './commit-values.ts';
import type { Sql } from './database.ts';
import type { PostgresRealms } from './realms.ts';
import type { StoredTaskRow } from './records.ts';
import { TASK_COLUMNS } from './records.ts';
import type { SchemaName } from './schema.ts';
import { toText } from './text.ts';

type Lists = Pick<Store, 'list' | 'count' | 'waiting' | 'unfinished' | 'quiet' | 'finished'>;

/** What the lists need of the store. */
export interface PostgresListParts {
  readonly schema: SchemaName;
  readonly realms: PostgresRealms;
  readonly read: <R extends object>(sql: Sql, values?: readonly unknown[]) => Promise<readonly R[]>;
  readonly rows: (stored: readonly StoredTaskRow[]) => Promise<readonly TaskRow[]>;
}

const LATEST = Number.MAX_SAFE_INTEGER;
/** Null: all cells. */
export const cellsValue = (cells: readonly number[] | undefined): string | null => (cells === undefined ? null : JSON.stringify(cells));
export const inCells = (column: string, parameter: string): string =>
  `(${parameter}::text IS NULL OR ${column} IN (SELECT value::int FROM json_array_elements_text(${parameter}::json)))`;
const numbers = (parameter: string): string => `(SELECT v::int AS v FROM json_array_elements_text(${parameter}::json) AS v)`;
const COLUMNS = TASK_COLUMNS.split(', ')
  .map((column) => `k.${column}`)
  .join(', ');

/**
 * A list reads at most one page from the index for each realm and state, and merges them. So a page
 * costs the same anywhere in the list.
 */
function listSql(s: SchemaName, source: 'everyone' | 'realm' | 'context'): Sql {
  const where = { everyone: '', realm: 'k.realm = r.v AND', context: 'k.realm = r.v AND k.context = $2 AND' }[source];
  const realms = source === 'everyone' ? '(SELECT 0 AS v)' : numbers('$1');
  return {
    name: `list-${source}`,
    text: `SELECT ${COLUMNS} FROM ${realms} AS r CROSS JOIN ${numbers('$3')} AS c CROSS JOIN LATERAL (
      SELECT ${COLUMNS} FROM ${s}.tasks k WHERE ${where} k.state = c.v AND k.status_at >= $4 AND (k.status_at, k.key) < ($5::bigint, $6::bigint)
      ORDER BY k.status_at DESC, k.key DESC LIMIT $7::bigint) AS k
    WHERE $1::text IS NOT NULL AND $2::text IS NOT NULL ORDER BY k.status_at DESC, k.key DESC LIMIT $7::bigint`,
  };
}

function countSql(s: SchemaName, source: 'everyone' | 'realm' | 'context'): Sql {
  const where = {
    everyone: '',
    realm: `realm IN ${numbers('$1')} AND`,
    context: `realm IN ${numbers('$1')} AND context = $2 AND`,
  }[source];
  return {
    name: `count-${source}`,
    text: `SELECT count(*) AS n FROM ${s}.tasks WHERE $1::text IS NOT NULL AND $2::text IS NOT NULL AND ${where} state IN ${numbers('$3')} AND status_at >= $4`,
  };
}

/** The unfinished tasks of cells. As an array: a condition with a sub-select does not use their index. */
export function unfinishedIn(s: SchemaName): Sql {
  return {
    name: 'unfinished-in',
    text: `SELECT ${TASK_COLUMNS} FROM ${s}.tasks WHERE state < ${FIRST_FINISHED}
      AND cell = ANY (ARRAY(SELECT value::int FROM json_array_elements_text($1::json))) ORDER BY key`,
  };
}

/** Lists and counts, from indexes. */
export function createPostgresLists({ schema: s, realms, read, rows }: PostgresListParts): Lists {
  const lists = { everyone: listSql(s, 'everyone'), realm: listSql(s, 'realm'), context: listSql(s, 'context') };
  const counts = { everyone: countSql(s, 'everyone'), realm: countSql(s, 'realm'), context: countSql(s, 'context') };
  const unfinished: Sql = {
    name: 'unfinished',
    text: `SELECT ${TASK_COLUMNS} FROM ${s}.tasks WHERE state < ${FIRST_FINISHED} ORDER BY key`,
  };
  const inTheseCells = unfinishedIn(s);
  const quiet: Sql = {
    name: 'quiet',
    text: `SELECT ${COLUMNS} FROM ${numbers('$1')} AS c CROSS JOIN LATERAL (
      SELECT ${COLUMNS} FROM ${s}.tasks k WHERE k.state = c.v AND k.status_at < $2 AND ${inCells('k.cell', '$4')} ORDER BY k.status_at, k.key LIMIT $3::bigint) AS k
    ORDER BY k.status_at, k.key LIMIT $3::bigint`,
  };
  const finished: Sql = {
    name: 'finished',
    text: `SELECT count(*) AS n FROM ${s}.tasks WHERE state >= ${FIRST_FINISHED} AND ${inCells('cell', '$1')}`,
  };
  const placeOf = async (filter: ListFilter): Promise<{ source: keyof typeof lists; within: readonly number[] }> => {
    if (filter.owner === 'any' && filter.agent === undefined && filter.contextId === undefined) return { source: 'everyone', within: [0] };
    return { source: filter.contextId === undefined ? 'realm' : 'context', within: await realms.within(filter.owner, filter.agent) };
  };
  const filterValues = ({ contextId, state, statusFrom }: Partial<ListFilter>, within: readonly number[]): unknown[] => [
    JSON.stringify(within),
    toText(contextId ?? ''),
    JSON.stringify(state === undefined ? ALL_CODES : [codeOf(state)]),
    bounded(statusFrom ?? 0),
  ];
  return {
    list: async ({ after, limit, ...filter }) => {
      const { source, within } = await placeOf(filter);
      if (within.length === 0) return [];
      const from = after ?? { statusAt: LATEST, key: LATEST };
      return rows(await read(lists[source], [...filterValues(filter, within), bounded(from.statusAt), from.key, limit]));
    },
    count: async (filter) => {
      const { source, within } = await placeOf(filter);
      if (within.length === 0) return 0;
      const [found] = await read<{ n: number }>(counts[source], filterValues(filter, within));
      return found?.n ?? 0;
    },
    waiting: async ({ owner, agent, contextId }: ContextFilter, limit) => {
      const realm = await realms.find(owner, agent);
      if (realm === undefined) return [];
      const values = [JSON.stringify([realm]), toText(contextId), JSON.stringify(WAITING_CODES), 0, LATEST, LATEST, limit];
      return rows(await read(lists.context, values));
    },
    unfinished: async (cells) => rows(await (cells === undefined ? read(unfinished) : read(inTheseCells, [cellsValue(cells)]))),
    quiet: async (phase, { before, limit, cells }) => {
      const codes = JSON.stringify(phase === 'finished' ? FINISHED_CODES : WAITING_CODES);
      return rows(await read(quiet, [codes, bounded(before), limit, cellsValue(cells)]));
    },
    finished: async (cells) => (await read<{ n: number }>(finished, [cellsValue(cells)]))[0]?.n ?? 0,
  };
}
