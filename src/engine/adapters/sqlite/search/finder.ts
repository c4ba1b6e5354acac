import { troubleOf } from '../../shared/store-error.ts';
import type { FindJob } from './find-worker.ts';
import type { IndexMatch } from './index-parts.ts';
import type { SearchSetup } from './replies.ts';
import type { SearchThread } from './thread.ts';
import { createSearchThread } from './thread.ts';
import type { IndexJob } from './worker.ts';

/** Searches in a thread of its own, which starts with the first search. */
export interface Finder {
  find(match: IndexMatch): Promise<readonly number[]>;
  /** Closes the file, which may have been replaced. The next search opens it again. */
  reset(): Promise<void>;
}

export function createFinder(setup: SearchSetup, indexing: SearchThread<IndexJob>): Finder {
  let thread: SearchThread<FindJob> | undefined;
  const reset = async (): Promise<void> => {
    const old = thread;
    thread = undefined;
    await old?.close();
  };
  return {
    find: async (match) => {
      if (thread === undefined) await indexing.ask({ kind: 'open' });
      thread ??= createSearchThread<FindJob>('find-worker', setup, () => {});
      try {
        return await thread.ask({ kind: 'find', match });
      } catch (thrown) {
        if (troubleOf(thrown) === 'corrupt') {
          await reset();
          await indexing.ask({ kind: 'replace' });
        }
        throw thrown;
      }
    },
    reset,
  };
}
