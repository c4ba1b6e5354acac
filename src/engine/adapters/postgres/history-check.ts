import type { TaskKey, TaskRow } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { NetBatch } from './batch.ts';
import { cellOf } from './cells.ts';
import type { PostgresConnection, PostgresDatabase, Sql } from './database.ts';
import { sqlState, unavailable } from './errors.ts';
import type { SchemaName } from './schema.ts';

/** Where the history of a database is: a promoted standby begins another timeline, and a restored copy may have another system. */
interface Place {
  readonly system: string;
  readonly timeline: string;
}

/** A trace of the newest acknowledged commit. A server that lacks it lacks a part of what it has acknowledged. */
interface Trace {
  readonly key: TaskKey;
  /** Undefined: the task is deleted. */
  readonly row?: TaskRow;
}

/** Notices that a standby which was behind has become the primary. */
export interface HistoryCheck {
  /** The database, with a check of each new connection. */
  readonly database: PostgresDatabase;
  /** Called after each commit. `made`: its new tasks that were written. */
  acknowledged(net: NetBatch, made: readonly number[]): void;
  /** Other processes may delete the tasks of these cells from now on. Undefined: of all. */
  release(cells?: readonly number[]): void;
}

interface HistoryCheckParts {
  readonly database: PostgresDatabase;
  readonly schema: SchemaName;
  /** Holds while the tables are those of the store. */
  readonly still: string;
  /** Number of cells. */
  readonly cells: number;
  readonly report: (what: string, cause: unknown) => void;
}

/** The server lacks these functions, as some services do, or this role may not call them. */
const NOT_THERE = new Set(['42883', '42501', '0A000']);

export function createHistoryCheck({ database, schema, still, cells: count, report }: HistoryCheckParts): HistoryCheck {
  const sql = { ...statements(schema), same: { name: 'same-store', text: `SELECT ${still} AS yes` } };
  let place: Place | undefined;
  let newest: Trace | undefined;
  /** What is missing. From then on no connection is good. */
  let lost: string | undefined;

  const check = async (connection: PostgresConnection): Promise<void> => {
    if (lost !== undefined) throw lostError(lost);
    const now = await placeOf(connection, sql.place);
    const before = place;
    if (now === undefined || isSame(before, now)) return;
    if (before !== undefined) {
      await refuseOther(connection, sql.same);
      if (newest !== undefined && (await isMissing(connection, sql.trace, newest))) {
        lost = lostText(newest, before, now);
        await connection.query(sql.mark, [lost]);
        throw lostError(lost);
      }
      report('the database is on another server or timeline; it has the newest commit of this node', `${nameOf(before)} → ${nameOf(now)}`);
    }
    place = now;
  };
  return {
    database: {
      ...database,
      connect: async (options) => {
        const connection = await database.connect(options);
        try {
          await check(connection);
          return connection;
        } catch (thrown) {
          connection.cut();
          throw thrown;
        }
      },
    },
    acknowledged: (net, made) => {
      newest = traceOf(net, made) ?? newest;
    },
    release: (cells) => {
      if (newest?.row !== undefined && cells?.includes(cellOf(newest.row, count)) !== false) newest = undefined;
    },
  };
}

/** Any one change of a commit is a trace of all of it, and of every earlier commit: a standby has a beginning of the log, without gaps. */
function traceOf({ tasks, forgotten }: NetBatch, made: readonly number[]): Trace | undefined {
  for (const [key, { isNew, entries, row }] of tasks) if (isNew ? made.includes(key) : entries.length > 0) return { key, row };
  for (const key of forgotten) return { key };
  return undefined;
}

async function placeOf(connection: PostgresConnection, sql: Sql): Promise<Place | undefined> {
  try {
    return (await connection.query<Place>(sql))[0];
  } catch (thrown) {
    if (NOT_THERE.has(sqlState(thrown) ?? '')) return undefined;
    throw thrown;
  }
}

function isSame(before: Place | undefined, now: Place): boolean {
  return before?.system === now.system && before.timeline === now.timeline;
}

/** A copy of the tables, on another server: it may still be filled. */
async function refuseOther(connection: PostgresConnection, sql: Sql): Promise<void> {
  const [same] = await connection.query<{ yes: boolean }>(sql);
  if (same?.yes === false) throw unavailable(new Error('the tables of this node were replaced'));
}

async function isMissing(connection: PostgresConnection, sql: Sql, { key, row }: Trace): Promise<boolean> {
  const [found] = await connection.query<{ last: number }>(sql, [key]);
  return row === undefined ? found !== undefined : (found?.last ?? 0) < row.last;
}

function nameOf({ system, timeline }: Place): string {
  return `system ${system}, timeline ${Number.parseInt(timeline, 16)}`;
}

function lostText({ key, row }: Trace, before: Place, now: Place): string {
  const what = row === undefined ? `the deletion of task number ${key}` : `entry ${row.last} of task ${row.id}`;
  return `${what} is missing since the database moved from ${nameOf(before)} to ${nameOf(now)}`;
}

/** The error of a process on a database that lacks what it has acknowledged. */
export function lostError(lost: string): StoreError {
  return new StoreError(
    'damaged',
    `the database lacks commits that it had acknowledged: ${lost}. A standby that was behind has become the primary. Make a complete server the primary again; or continue without the lost commits: parley serve --accept-loss, in code acceptLoss: true`,
  );
}

export function isLost(thrown: unknown): thrown is StoreError {
  return thrown instanceof StoreError && thrown.fault === 'damaged';
}

/** What `acceptLoss` does with a database that a process has found to lack commits. Returns what is missing. */
export async function acceptOrRefuse(connection: PostgresConnection, s: SchemaName, acceptLoss: boolean): Promise<string | undefined> {
  const { marked, clear } = statements(s);
  const [{ lost } = { lost: null }] = await connection.query<{ lost: string | null }>(marked);
  if (lost === null) return undefined;
  if (!acceptLoss) throw lostError(lost);
  await connection.query(clear);
  return lost;
}

function statements(s: SchemaName): Readonly<Record<'place' | 'trace' | 'mark' | 'marked' | 'clear', Sql>> {
  return {
    place: {
      name: 'place',
      text: `SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system,
        substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline`,
    },
    trace: { name: 'trace', text: `SELECT last FROM ${s}.tasks WHERE key = $1` },
    mark: { name: 'mark-lost', text: `UPDATE ${s}.meta SET lost = coalesce(lost, $1)` },
    marked: { name: 'marked-lost', text: `SELECT lost FROM ${s}.meta` },
    clear: { name: 'clear-lost', text: `UPDATE ${s}.meta SET lost = NULL` },
  };
}
