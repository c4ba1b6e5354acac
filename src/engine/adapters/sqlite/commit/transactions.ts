import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../shared/store-error.ts';
import { rollBack } from '../database/connection.ts';
import type { StoreMeta } from '../database/open.ts';
import { command } from '../database/statement.ts';
import type { Realms } from '../tables/realms.ts';
import type { SendNames } from '../tables/send-names.ts';
import type { TaskCounts } from '../tables/task-counts.ts';

/** Runs transactions one at a time, and counts them. */
export interface Transactions {
  readonly commits: number;
  readonly lastKey: number;
  /** When this returns, all changes are durable. If it throws, none was written. */
  transact(work: () => void, highestKey: number): void;
}

/** Parts with state in memory: written at the end of a transaction, and reset if it fails. */
interface InMemory {
  readonly realms: Realms;
  readonly counts: TaskCounts;
  readonly names: Pick<SendNames, 'flush' | 'settle'>;
}

/** Numbers the transactions, starting after the last commit of the store. */
export function createTransactions(db: DatabaseSync, meta: StoreMeta, { realms, counts, names }: InMemory): Transactions {
  const begin = command(db, 'BEGIN IMMEDIATE');
  const commit = command(db, 'COMMIT');
  const count = command(
    db,
    'UPDATE meta SET commits = ?2, last_key = ?3, named = ?4, twin = -(?2 + ?3 + ?4) WHERE one = 1 AND commits = ?1',
  );
  let { commits, last_key: lastKey } = meta;

  return {
    get commits() {
      return commits;
    },
    get lastKey() {
      return lastKey;
    },
    transact: (work, highestKey) => {
      begin();
      let isCommitted = false;
      const last = Math.max(lastKey, highestKey);
      try {
        work();
        counts.flush();
        // If another writer changed the count, stop: two histories must not mix.
        if (count(commits, commits + 1, last, names.flush()) !== 1) throw new StoreError('failed', 'another writer has changed the store');
        commit();
        isCommitted = true;
      } finally {
        if (!isCommitted) {
          counts.clear();
          rollBack(db);
        }
        realms.settle(isCommitted);
        names.settle(isCommitted);
      }
      commits += 1;
      lastKey = last;
    },
  };
}
