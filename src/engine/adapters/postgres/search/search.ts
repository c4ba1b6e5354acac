import { seq } from '#protocol';
import type { SearchQuery, Store, TaskRow, TaskSearch, Write } from '../../../ports.ts';
import { taskKey } from '../../../ports.ts';
import { textOfTask } from '../../../search/task-text.ts';
import { plainWords } from '../../../search/words.ts';
import { ALL_CODES, codeOf } from '../../shared/state-codes.ts';
import { bounded } from '../commit-values.ts';
import type { Sql } from '../database.ts';
import { FOREIGN_KEY, sqlState } from '../errors.ts';
import type { PostgresRealms } from '../realms.ts';
import type { StoredTaskRow } from '../records.ts';
import type { SchemaName } from '../schema.ts';
import { toText } from '../text.ts';
import { searchStatements, tsqueryOf, vectorOf } from './search-sql.ts';

/** The search of a store, and what keeps it up to date. */
export interface PostgresSearch {
  readonly search: TaskSearch;
  /** Called after a commit. Deleted tasks leave the index with it. */
  committed(batch: readonly Write[]): void;
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
const PORTION = 50;
const PAGE = 1000;
/** How often this process looks for tasks that another one changed and did not index: it died, or it is of an older version. */
const SWEEP_MS = 30_000;
/** Clocks of the processes differ, and a status may be older than its commit. */
const SWEEP_OVERLAP_MS = 60_000;
const LATEST = Number.MAX_SAFE_INTEGER;

/** Fills the table `said`: what this process commits, and at the start whatever the index lacks, the newest tasks first. */
export function createPostgresSearch(parts: SearchParts): PostgresSearch {
  const { schema, read, isShared, report } = parts;
  const sql = searchStatements(schema);
  const changed = new Set<number>();
  let below = LATEST;
  let isClosed = false;
  let running: Promise<void> | undefined;
  const isDone = (): boolean => isClosed || (changed.size === 0 && below === 0);

  const compare = async (): Promise<void> => {
    const [page] = await read<{ n: number; lowest: number; old: string }>(sql.compare, [below, PAGE]);
    for (const key of page?.old.split(',') ?? []) if (key !== '') changed.add(Number(key));
    below = page === undefined || page.n < PAGE ? 0 : page.lowest;
  };
  const work = async (): Promise<void> => {
    while (!isDone()) {
      if (changed.size > 0) for (const key of await indexSome(parts, sql, [...changed].slice(0, PORTION))) changed.delete(key);
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
        while (!isDone()) await run();
      },
    },
    committed: (batch) => {
      for (const write of batch) if (write.kind === 'task') changed.add(write.row.key);
      if (changed.size > 0) soon(DELAY_MS);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(sweeping);
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

/** Indexes tasks as they are now. Returns those that are done: indexed, or deleted. */
async function indexSome({ read, entries }: SearchParts, sql: Statements, keys: readonly number[]): Promise<readonly number[]> {
  const stored = await read<{ key: number; last: number }>(sql.lasts, [JSON.stringify(keys)]);
  const docs: { task: number; last: number; words: string }[] = [];
  for (const { key, last } of stored) {
    const text = await textOfTask(seq(last), (range) => entries(taskKey(key), range));
    docs.push({ task: key, last, words: vectorOf(plainWords(text)) });
  }
  const there = new Set(stored.map(({ key }) => key));
  const gone = keys.filter((key) => !there.has(key));
  if (docs.length === 0) return gone;
  try {
    return [...gone, ...(await read<{ task: number }>(sql.put, [JSON.stringify(docs)])).map(({ task }) => task)];
  } catch (thrown) {
    // A task was deleted meanwhile. The next look finds that.
    if (sqlState(thrown) === FOREIGN_KEY) return gone;
    throw thrown;
  }
}
