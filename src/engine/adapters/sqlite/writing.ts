import type { DatabaseSync } from 'node:sqlite';
import { rollBack } from './connection.ts';
import { StoreError } from './faults.ts';
import type { Names } from './names.ts';
import type { Meta } from './open.ts';
import type { Realms } from './realms.ts';
import { command } from './statement.ts';
import type { Tally } from './tally.ts';

/** Transactions, one at a time, counted. */
export interface Writing {
  readonly commits: number;
  readonly lastKey: number;
  /** All of it is durable when this returns; if it throws, none of it was written. */
  transact(work: () => void, highestKey: number): void;
}

/** Parts that keep something in memory: what is written at the end of a transaction, and what is forgotten if it fails. */
interface Kept {
  readonly realms: Realms;
  readonly tally: Tally;
  readonly names: Pick<Names, 'flush' | 'settle'>;
}

export function createWriting(db: DatabaseSync, meta: Meta, { realms, tally, names }: Kept): Writing {
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
        tally.flush();
        // A second writer, whatever it is, has moved the count: better to stop than to mix two histories.
        if (count(commits, commits + 1, last, names.flush()) !== 1) throw new StoreError('failed', 'another writer has changed the store');
        commit();
        isCommitted = true;
      } finally {
        if (!isCommitted) {
          tally.clear();
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
