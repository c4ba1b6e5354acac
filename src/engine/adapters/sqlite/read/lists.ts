import type { DatabaseSync } from 'node:sqlite';
import type { ContextFilter, ListFilter, ListQuery, TaskRow } from '../../../ports.ts';
import { ALL_CODES, codeOf, FINISHED_CODES, FIRST_FINISHED, WAITING_CODES } from '../../shared/state-codes.ts';
import type { Quarantine } from '../damage/quarantine.ts';
import type { SqlQuery } from '../database/statement.ts';
import { query } from '../database/statement.ts';
import { toText } from '../database/text.ts';
import type { Realm, Realms } from '../tables/realms.ts';
import type { TaskCounts } from '../tables/task-counts.ts';
import { bucketStart, EVERYONE } from '../tables/task-counts.ts';
import type { TaskRecord } from '../tables/task-record.ts';
import { rowOf, TASK_COLUMNS } from '../tables/task-record.ts';

/** Reads many tasks at once. */
export interface Lists {
  list(query: ListQuery): readonly TaskRow[];
  count(filter: ListFilter): number;
  waiting(filter: ContextFilter, limit: number): readonly TaskRow[];
  unfinished(): readonly TaskRow[];
  quiet(phase: 'finished' | 'waiting', range: { readonly before: number; readonly limit: number }): readonly TaskRow[];
  finished(): number;
}

/** The index that a list uses, and the condition on its first columns. */
const SOURCES = {
  realm: { index: 'task_realm', where: 'realm = ?1' },
  context: { index: 'task_context', where: 'realm = ?1 AND context = ?2' },
  everyone: { index: 'task_state', where: 'TRUE' },
} as const;
type ListSource = keyof typeof SOURCES;

const LATEST = Number.MAX_SAFE_INTEGER;

/** Statements are prepared with their first use, one for each combination of filters. */
export function createLists(db: DatabaseSync, realms: Realms, counts: TaskCounts, quarantine: Quarantine): Lists {
  const prepared = new Map<string, SqlQuery<TaskRecord & { n: number }>>();
  const prepare = (sql: string): SqlQuery<TaskRecord & { n: number }> => {
    const known = prepared.get(sql) ?? query<TaskRecord & { n: number }>(db, sql);
    prepared.set(sql, known);
    return known;
  };
  const served = (records: readonly TaskRecord[]): TaskRow[] => servedRows(records, realms, quarantine);
  /** Quarantined tasks are removed after the query, so it reads enough more to fill the page. */
  const spare = (limit: number): number => limit + quarantine.size;

  return {
    list: (asked) => {
      const { source, within } = sourcesOf(asked, realms);
      const states = asked.state === undefined ? ALL_CODES : [codeOf(asked.state)];
      const statement = prepare(newestFirst(source, states));
      const context = source === 'context' ? toText(asked.contextId ?? '') : '';
      const after = asked.after ?? { statusAt: LATEST, key: LATEST };
      const records = within.flatMap((realm) =>
        statement.all(realm, context, asked.statusFrom ?? 0, after.statusAt, after.key, spare(asked.limit)),
      );
      if (within.length > 1) records.sort((a, b) => b.status_at - a.status_at || b.key - a.key);
      return served(records).slice(0, asked.limit);
    },
    count: (filter) => {
      const { source, within } = sourcesOf(filter, realms);
      const state = filter.state === undefined ? undefined : codeOf(filter.state);
      const from = filter.statusFrom ?? 0;
      const states = state === undefined ? ALL_CODES : [state];
      const byOne = (realm: number, until: number): number =>
        Number(prepare(counting(source, states)).one(realm, toText(filter.contextId ?? ''), from, until)?.n ?? 0);
      let sum = 0;
      for (const realm of within) {
        if (source === 'context') sum += byOne(realm, LATEST);
        else if (from <= 0) sum += counts.total(realm, state);
        else sum += counts.from(realm, from, state) + byOne(realm, bucketStart(from));
      }
      const isHidden = (record: TaskRecord): boolean =>
        (source === 'everyone' || within.includes(record.realm)) &&
        (source !== 'context' || record.context === toText(filter.contextId ?? '')) &&
        states.includes(record.state) &&
        record.status_at >= from;
      return sum - quarantine.records().filter(isHidden).length;
    },
    waiting: ({ owner, agent, contextId }, limit) => {
      const realm = realms.find(owner, agent);
      if (realm === undefined) return [];
      const statement = prepare(newestFirst('context', WAITING_CODES));
      return served(statement.all(realm.key, toText(contextId), 0, LATEST, LATEST, spare(limit))).slice(0, limit);
    },
    unfinished: () => served(prepare(`SELECT ${TASK_COLUMNS} FROM task WHERE state < ${FIRST_FINISHED}`).all()),
    quiet: (phase, { before, limit }) => {
      const statement = prepare(oldestFirst(phase === 'finished' ? FINISHED_CODES : WAITING_CODES));
      return served(statement.all(before, spare(limit))).slice(0, limit);
    },
    finished: () => FINISHED_CODES.reduce((sum, code) => sum + counts.total(EVERYONE, code), 0),
  };
}

/** The rows of records, without those of quarantined tasks. A damaged record is noticed here. */
export function servedRows(records: readonly TaskRecord[], realms: Realms, quarantine: Quarantine): TaskRow[] {
  const out: TaskRow[] = [];
  for (const record of records) {
    if (!quarantine.isServed(record.key)) continue;
    try {
      out.push(rowOf(record, realms));
    } catch (thrown) {
      quarantine.notice(record, thrown);
    }
  }
  return out;
}

function sourcesOf(filter: ListFilter, realms: Realms): { source: ListSource; within: readonly number[] } {
  if (filter.owner === 'any' && filter.agent === undefined && filter.contextId === undefined)
    return { source: 'everyone', within: [EVERYONE] };
  const within = realms.within(filter.owner, filter.agent).map((realm: Realm) => realm.key);
  return { source: filter.contextId === undefined ? 'realm' : 'context', within };
}

/**
 * One index scan for each state, merged in order by SQLite: it reads no more rows than it returns, on
 * any page.
 */
function newestFirst(source: ListSource, states: readonly number[]): string {
  const { index, where } = SOURCES[source];
  const scans = states.map(
    (code) =>
      `SELECT ${TASK_COLUMNS} FROM task INDEXED BY ${index} WHERE ${where} AND state = ${code} AND status_at >= ?3 AND (status_at, key) < (?4, ?5)`,
  );
  return `${scans.join(' UNION ALL ')} ORDER BY status_at DESC, key DESC LIMIT ?6`;
}

function oldestFirst(states: readonly number[]): string {
  const scans = states.map((code) => `SELECT ${TASK_COLUMNS} FROM task INDEXED BY task_state WHERE state = ${code} AND status_at < ?1`);
  return `${scans.join(' UNION ALL ')} ORDER BY status_at, key LIMIT ?2`;
}

function counting(source: ListSource, states: readonly number[]): string {
  const { index, where } = SOURCES[source];
  return `SELECT count(*) AS n FROM task INDEXED BY ${index} WHERE ${where} AND state IN (${states.join()}) AND status_at >= ?3 AND status_at < ?4`;
}
