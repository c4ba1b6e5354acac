import { seq } from '#protocol';
import type { LogEntry, SearchQuery, Store, TaskRow, TaskSearch, Write } from '../../../ports.ts';
import { taskKey } from '../../../ports.ts';
import { textOfTask } from '../../../search/task-text.ts';
import { plainWords } from '../../../search/words.ts';
import { ALL_CODES, codeOf } from '../../shared/state-codes.ts';
import { bounded } from '../commit-values.ts';
import type { Sql } from '../database.ts';
import type { LogSegment } from '../log.ts';
import { wholeLog } from '../log.ts';
import type { PostgresRealms } from '../realms.ts';
import type { StoredTaskRow } from '../records.ts';
import type { SchemaName } from '../schema.ts';
import { toText } from '../text.ts';
import { ChangedTasks, SHORT_ENTRIES } from './changed-tasks.ts';
import { searchStatements, tsqueryOf, vectorOf } from './search-sql.ts';

/** The search of a store, and what keeps it up to date. */
export interface PostgresSearch {
  readonly search: TaskSearch;
  /** Called after a commit. Deleted tasks leave the index with it. `isCertain`: it was written as it is. */
  committed(batch: readonly Write[], isCertain: boolean): void;
  close(): Promise<void>;
}

interface SearchParts {
  readonly schema: SchemaName;
  readonly realms: PostgresRealms;
  readonly read: <R extends object>(sql: Sql, values?: readonly unknown[]) => Promise<readonly R[]>;
  readonly rows: (stored: readonly StoredTaskRow[]) => Promise<readonly TaskRow[]>;
  readonly entries: Store['entries'];
  /** Other processes write to the same store. */
  readonly isShared: boolean;
  readonly report: (what: string, cause: unknown) => void;
}

/** A task often has several commits in a row. They are indexed together. */
const DELAY_MS = 500;
const RETRY_MS = 5000;
/** Between two portions, for other work of this process. */
const PAUSE_MS = 20;
/** A statement for many tasks costs the server a third less for each. */
const PORTION = 200;
/** After this many tasks other work of this process goes first. */
const TASKS_A_TURN = 50;
/** A statement has no more text than this, and one task. */
const PUT_CHARS = 1_048_576;
const PAGE = 1000;
/** Logs up to this size are read together. Most tasks have less. */
const SHORT_BYTES = 65_536;
/** How often this process looks for tasks that another one changed and did not index: it died, or it is of an older version. */
const SWEEP_MS = 30_000;
/** Clocks of the processes differ, and a status may be older than its commit. */
const SWEEP_OVERLAP_MS = 60_000;
const LATEST = Number.MAX_SAFE_INTEGER;

/** Fills the table `said`: what this process commits, and at the start whatever the index lacks, the newest tasks first. */
export function createPostgresSearch(parts: SearchParts): PostgresSearch {
  const { read, isShared, report } = parts;
  const sql = searchStatements(parts.schema);
  const tasks = new ChangedTasks(() => soon(0));
  const { keys: changed, kept } = tasks;
  let [below, isClosed] = [LATEST, false];
  let running: Promise<void> | undefined;
  const isDone = (): boolean => isClosed || (changed.size === 0 && below === 0);
  const compare = async (): Promise<void> => {
    const [page] = await read<{ n: number; lowest: number; old: string }>(sql.compare, [below, PAGE]);
    for (const key of page?.old.split(',') ?? []) if (key !== '') changed.add(Number(key));
    below = page === undefined || page.n < PAGE ? 0 : page.lowest;
  };
  const work = async (): Promise<void> => {
    while (!isDone()) {
      if (changed.size > 0) await indexPortion(changed, (keys) => indexSome(parts, { sql, kept }, keys));
      else await compare();
      if (!isDone()) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const run = (): Promise<void> => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
  let timer: NodeJS.Timeout | undefined;
  const soon = (ms: number): void => {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      run().catch((thrown: unknown) => {
        if (!isClosed) report('the search index is not up to date', thrown);
        soon(RETRY_MS);
      });
    }, ms).unref();
  };
  let swept = Date.now();
  const sweep = async (): Promise<void> => {
    const now = Date.now();
    const found = await read<{ key: number }>(sql.recent, [JSON.stringify(ALL_CODES), swept - SWEEP_OVERLAP_MS, PAGE]);
    for (const { key } of found) changed.add(key);
    if (found.length < PAGE) swept = now;
    if (changed.size > 0) soon(0);
  };
  const sweeping = isShared
    ? setInterval(() => void sweep().catch((thrown) => report('the search index is not up to date', thrown)), SWEEP_MS).unref()
    : undefined;
  soon(DELAY_MS);
  return {
    search: {
      find: (query) => find(parts, sql, query),
      settled: async () => {
        tasks.release();
        while (running !== undefined || !isDone()) await run();
      },
    },
    committed: (batch, isCertain) => {
      tasks.committed(batch, isCertain);
      if (changed.size > 0) soon(DELAY_MS);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(sweeping);
      tasks.close();
      await running?.catch(() => {});
    },
  };
}

async function find({ realms, read, rows }: SearchParts, sql: Statements, query: SearchQuery): Promise<readonly TaskRow[]> {
  const { terms, before = LATEST, limit, owner, agent, contextId, state, statusFrom = 0 } = query;
  const within = owner === 'any' && agent === undefined ? null : JSON.stringify(await realms.within(owner, agent));
  const context = contextId === undefined ? null : toText(contextId);
  const code = state === undefined ? null : codeOf(state);
  return rows(await read<StoredTaskRow>(sql.find, [tsqueryOf(terms), before, within, context, code, bounded(statusFrom), limit]));
}

type Statements = ReturnType<typeof searchStatements>;

/** The logs of small tasks, in one query. */
async function shortLogs(
  read: SearchParts['read'],
  sql: Statements,
  stored: readonly { readonly key: number; readonly last: number }[],
): Promise<ReadonlyMap<number, readonly LogEntry[]>> {
  const keys = stored.filter(({ last }) => last <= SHORT_ENTRIES).map(({ key }) => key);
  const values = [JSON.stringify(keys), SHORT_BYTES, SHORT_ENTRIES];
  const segments = keys.length === 0 ? [] : await read<LogSegment & { readonly task: number }>(sql.logs, values);
  const byTask = Map.groupBy(segments, ({ task }) => task);
  return new Map([...byTask].map(([task, log]) => [task, wholeLog(task, log)]));
}

/** Indexes some of the changed tasks, and leaves those in the set that are not done. */
async function indexPortion(changed: Set<number>, index: (keys: readonly number[]) => Promise<readonly number[]>): Promise<void> {
  const left = new Set<number>();
  for (const key of changed) if (left.add(key).size >= PORTION) break;
  // Before they are read: a task that changes meanwhile is indexed again.
  for (const key of left) changed.delete(key);
  try {
    for (const key of await index([...left])) left.delete(key);
  } finally {
    for (const key of left) changed.add(key);
  }
}

interface IndexParts {
  readonly sql: Statements;
  readonly kept: ChangedTasks['kept'];
}

interface SearchDoc {
  readonly task: number;
  readonly last: number;
  readonly words: string;
}

/** Indexes tasks as they are now. Returns those that are done: indexed, or deleted. */
async function indexSome(parts: SearchParts, { sql, kept }: IndexParts, keys: readonly number[]): Promise<readonly number[]> {
  const docs: SearchDoc[] = [];
  const unread: number[] = [];
  for (const [at, key] of keys.entries()) {
    if (at % TASKS_A_TURN === TASKS_A_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
    const log = kept.take(key);
    if (log === undefined) unread.push(key);
    else docs.push(await docOf(key, log.last, (range) => log.entries.filter((entry) => entry.seq > range.after)));
  }
  const done = [...(await putDocs(parts, sql, docs))];
  for (let from = 0; from < unread.length; from += TASKS_A_TURN) {
    const read: SearchDoc[] = [];
    done.push(...(await readDocs(parts, sql, { keys: unread.slice(from, from + TASKS_A_TURN), docs: read })));
    done.push(...(await putDocs(parts, sql, read)));
  }
  return done;
}

/** Returns the tasks whose words are stored. */
async function putDocs({ read, isShared }: SearchParts, sql: Statements, docs: readonly SearchDoc[]): Promise<readonly number[]> {
  const done: number[] = [];
  for (let from = 0; from < docs.length; ) {
    const some = docs.slice(from, from + fitting(docs.slice(from)));
    from += some.length;
    // Only several processes look for words that a crash of the server has lost.
    const values = [some.map(({ task }) => task), some.map(({ last }) => last), some.map(({ words }) => words), isShared ? 'off' : 'on'];
    for (const { task } of await read<{ task: number }>(sql.put, values)) done.push(task);
  }
  return done;
}

/** How many documents go into one statement. */
function fitting(docs: readonly SearchDoc[]): number {
  let chars = 0;
  const over = docs.findIndex(({ words }) => {
    chars += words.length;
    return chars > PUT_CHARS;
  });
  return over === -1 ? docs.length : Math.max(over, 1);
}

async function docOf(key: number, last: number, entries: Parameters<typeof textOfTask>[1]): Promise<SearchDoc> {
  return { task: key, last, words: vectorOf(plainWords(await textOfTask(seq(last), entries))) };
}

/** Reads tasks and adds them to the documents. Returns those that are deleted. */
async function readDocs(
  { read, entries }: SearchParts,
  sql: Statements,
  { keys, docs }: { readonly keys: readonly number[]; readonly docs: SearchDoc[] },
): Promise<readonly number[]> {
  const stored = await read<{ key: number; last: number }>(sql.lasts, [JSON.stringify(keys)]);
  const short = await shortLogs(read, sql, stored);
  for (const { key, last } of stored) {
    const log = short.get(key);
    docs.push(await docOf(key, last, (range) => log?.filter((entry) => entry.seq > range.after) ?? entries(taskKey(key), range)));
  }
  const there = new Set(stored.map(({ key }) => key));
  return keys.filter((key) => !there.has(key));
}
