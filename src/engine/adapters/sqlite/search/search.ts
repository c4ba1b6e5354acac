import { existsSync } from 'node:fs';
import { A2AError } from '#protocol';
import { type TaskKey, type TaskRow, type TaskSearch, taskKey, type Write } from '../../../ports.ts';
import { isListed } from '../../../search/is-listed.ts';
import type { CreatedHeads } from '../commit/apply-write.ts';
import { notNow } from '../damage/task-errors.ts';
import { createFinder } from './finder.ts';
import { removeIndexFile } from './index-file.ts';
import { matchOf } from './scope-words.ts';
import type { SearchThread } from './thread.ts';
import { createSearchThread } from './thread.ts';
import { committedTask, UnindexedTasks } from './unindexed-tasks.ts';
import type { IndexJob } from './worker.ts';

/** The search of a store, and what keeps it up to date. */
export interface StoreSearch {
  /** Absent if the store is opened without it. */
  readonly search?: TaskSearch;
  /** Called after a commit. */
  committed(batch: readonly Write[], heads: CreatedHeads): void;
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
/** Texts are handed over earlier: to copy 128 of them takes the event loop less than a millisecond. */
const TEXTS_MAX = 128;
/** While the thread has not received so many portions, for example because it compacts the index, it gets no texts and reads the tasks later. */
const UNRECEIVED_MAX = 8;
const LATEST = Number.MAX_SAFE_INTEGER;

/** The index is a file beside the database, and a thread fills it: a commit only notes its tasks. */
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
  const changed = new UnindexedTasks();
  let isClosed = false;
  const portions = createPortions(thread, changed);
  const flush = (): void => {
    timer = undefined;
    if (!isClosed) portions.send(true);
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
    committed: (batch, heads) => {
      for (const write of batch) {
        if (write.kind === 'task') changed.set(write.row.key, portions.isBehind ? undefined : committedTask(write, heads));
        else if (write.kind === 'forget') changed.set(write.task);
      }
      if (changed.size === 0 || isClosed) return;
      timer ??= setTimeout(flush, DELAY_MS).unref();
      if (changed.texts >= TEXTS_MAX) portions.send(false);
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
      if (thread.isStarted && changed.size > 0) portions.send(true);
      isClosed = true;
      await reset();
      await thread.close().catch((thrown: unknown) => report('the thread of the search index ended with an error', thrown));
    },
  };
}

interface Portions {
  /** The thread has not received the last ones yet. */
  readonly isBehind: boolean;
  /** Hands over what has changed. If it is not due, more follows soon. */
  send(isDue: boolean): void;
}

function createPortions(thread: SearchThread<IndexJob>, changed: UnindexedTasks): Portions {
  let unreceived = 0;
  const received = (): void => {
    unreceived -= 1;
  };
  return {
    get isBehind() {
      return unreceived >= UNRECEIVED_MAX;
    },
    send: (isDue) => {
      unreceived += 1;
      thread.ask({ kind: 'touch', tasks: changed.take(), isDue }).then(received, received);
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
