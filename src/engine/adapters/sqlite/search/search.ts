import { existsSync } from 'node:fs';
import { A2AError } from '#protocol';
import { type TaskKey, type TaskRow, type TaskSearch, taskKey, type Write } from '../../../ports.ts';
import { isListed } from '../../../search/is-listed.ts';
import { notNow } from '../damage/task-errors.ts';
import { createFinder } from './finder.ts';
import { removeIndexFile } from './index-file.ts';
import { matchOf } from './scope-words.ts';
import { createSearchThread } from './thread.ts';
import type { IndexJob } from './worker.ts';

/** The search of a store, and what keeps it up to date. */
export interface StoreSearch {
  /** Absent if the store is opened without it. */
  readonly search?: TaskSearch;
  /** Called after a commit. */
  committed(batch: readonly Write[]): void;
  /** Rewrites the index without what was deleted. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

interface SearchOptions {
  readonly isWanted: boolean;
  /** The database of the store. */
  readonly path: string;
  /** Id of the store. */
  readonly store: string;
  readonly rows: (keys: readonly TaskKey[]) => readonly TaskRow[];
  readonly report: (what: string, cause: unknown) => void;
}

/** A task often has several commits in a row. They are indexed together. */
const DELAY_MS = 500;
const LATEST = Number.MAX_SAFE_INTEGER;

/** The index is a file beside the database, and a thread fills it: a commit only notes the keys of its tasks. */
export function createStoreSearch({ isWanted, path, store, rows, report }: SearchOptions): StoreSearch {
  const file = `${path}.search`;
  // An index that nobody keeps up to date must not keep what was deleted.
  if (!isWanted) return { committed: () => {}, compact: async () => removeIndexFile(file), close: async () => {} };

  const setup = { path, index: file, store };
  const thread = createSearchThread<IndexJob>('worker', setup, (cause) => {
    report('the search index is not up to date', cause);
    void reset();
  });
  const finder = createFinder(setup, thread);
  const reset = (): Promise<void> =>
    finder.reset().catch((thrown: unknown) => report('the thread of the search ended with an error', thrown));
  const changed = new Set<number>();
  let isClosed = false;
  const flush = (): void => {
    timer = undefined;
    if (isClosed) return;
    thread.tell({ kind: 'touch', keys: [...changed] });
    changed.clear();
  };
  // Also without a commit: the last process may have left something to do.
  let timer: NodeJS.Timeout | undefined = setTimeout(flush, DELAY_MS).unref();
  const settled = async (): Promise<void> => {
    flush();
    await thread.ask({ kind: 'settle' }).catch(explain);
  };
  return {
    search: {
      find: async (query) => {
        const match = matchOf(query, query.terms);
        const found: TaskRow[] = [];
        for (let before: number = query.before ?? LATEST; ; ) {
          const limit = query.limit - found.length;
          const asked = { match, before, statusFrom: query.statusFrom ?? 0, limit };
          const keys = await finder.find(asked).catch(explain);
          // The index may be some seconds old, so the rows decide.
          found.push(...rows(keys.map(taskKey)).filter((row) => isListed(row, query)));
          before = keys.at(-1) ?? 0;
          if (found.length >= query.limit || keys.length < limit) return found;
        }
      },
      settled,
    },
    committed: (batch) => {
      for (const write of batch) {
        if (write.kind === 'task') changed.add(write.row.key);
        else if (write.kind === 'forget') changed.add(write.task);
      }
      if (changed.size > 0 && !isClosed) timer ??= setTimeout(flush, DELAY_MS).unref();
    },
    compact: async () => {
      if (!thread.isStarted && !existsSync(file)) return;
      flush();
      await thread.ask({ kind: 'compact' }).catch((thrown: unknown) => {
        if (!lacksFts5(thrown)) throw explain(thrown);
        removeIndexFile(file);
      });
    },
    close: async () => {
      clearTimeout(timer);
      if (thread.isStarted && changed.size > 0) thread.tell({ kind: 'touch', keys: [...changed] });
      isClosed = true;
      await reset();
      await thread.close().catch((thrown: unknown) => report('the thread of the search index ended with an error', thrown));
    },
  };
}

function lacksFts5(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes('no such module: fts5');
}

function explain(thrown: unknown): never {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  if (lacksFts5(thrown)) {
    const message = 'This Node.js can’t search tasks: its SQLite was built without FTS5. Node.js 22 and 24 from nodejs.org have it.';
    throw new A2AError('UNSUPPORTED_OPERATION', message, { cause: thrown });
  }
  throw notNow(`the search index can’t be read now: ${why}`, thrown);
}
