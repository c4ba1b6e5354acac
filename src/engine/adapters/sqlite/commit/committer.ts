import type { Write } from '../../../ports.ts';
import type { Checkpoints } from '../checkpoint/in-thread.ts';
import type { FailureGuard } from '../damage/failure-guard.ts';
import type { DiskSpace } from '../files/disk-space.ts';
import type { StoreSearch } from '../search/search.ts';
import type { Tables } from './apply-write.ts';
import { applyAll } from './apply-write.ts';
import type { Marks } from './marks.ts';
import type { Shrinking } from './shrink.ts';
import { touchedBy } from './touched-tasks.ts';
import type { Transactions } from './transactions.ts';

/** Commits batches, and deletes long logs in portions. */
export interface Committer {
  /** Writes a batch. Returns a promise only if the commit had to wait for a checkpoint. */
  commit(batch: readonly Write[]): void | Promise<void>;
  /** Changes something besides tasks. */
  change(work: () => void): void | Promise<void>;
  /** Resolves when the logs of all deleted tasks are deleted. */
  purged(): Promise<void>;
  /** Stops deleting long logs. The next start continues. */
  stop(): void;
}

interface CommitterOptions {
  readonly tables: Tables;
  readonly transactions: Transactions;
  readonly guard: FailureGuard;
  readonly space: DiskSpace;
  readonly marks: Marks;
  readonly checkpoints: Checkpoints;
  readonly shrinking: Shrinking;
  readonly searching: Pick<StoreSearch, 'committed'>;
  readonly onCheckpointFailed: (thrown: unknown) => void;
  readonly report: (what: string, cause: unknown) => void;
}

/** Pause between two portions of a deleted log, so that other commits can run. */
const PURGE_MS = 10;

/** Connects transactions, marks, checkpoints and the handling of a full disk. */
export function createCommitter(options: CommitterOptions): Committer {
  const { tables, transactions, guard, space, marks, checkpoints, shrinking, searching, onCheckpointFailed, report } = options;
  const { deferredDeletes } = tables;
  let purging: NodeJS.Timeout | undefined;
  let isStopped = false;

  const transact = (work: () => void, touched: string, highestKey: number): void => {
    guard.write(() => transactions.transact(work, highestKey), space.ranOut);
    // The commit is durable now, so errors from here on must not fail it.
    try {
      // Before the caller gets the result, so that every acknowledged commit has its mark.
      marks.note(transactions.commits, touched);
    } catch (thrown) {
      report('the mark of a commit could not be written', thrown);
    }
    try {
      checkpoints.committed();
    } catch (thrown) {
      onCheckpointFailed(thrown);
    }
  };
  const purge = (): void => {
    purging = undefined;
    if (isStopped || guard.broken !== undefined) return;
    try {
      if (checkpoints.gate() === undefined && deferredDeletes.isWaiting()) transact(deferredDeletes.emptySome, '', 0);
      if (deferredDeletes.isWaiting()) purgeSoon();
      else shrinking.soon();
    } catch (thrown) {
      report('the logs of deleted tasks could not be deleted yet', thrown);
    }
  };
  const purgeSoon = (): void => {
    purging ??= setTimeout(purge, PURGE_MS).unref();
  };
  const commit = (batch: readonly Write[]): void | Promise<void> => {
    const gate = checkpoints.gate();
    if (gate !== undefined && guard.broken === undefined) return gate.then(() => commit(batch));
    space.admit(batch);
    const heads = new Map<number, string>();
    transact(() => applyAll(batch, tables, heads), touchedBy(batch), highestKeyIn(batch));
    searching.committed(batch, heads);
    if (batch.some((write) => write.kind === 'forget')) purgeSoon();
  };

  const change = (work: () => void): void | Promise<void> => {
    const gate = checkpoints.gate();
    if (gate !== undefined && guard.broken === undefined) return gate.then(() => change(work));
    transact(work, '', 0);
  };

  purgeSoon();
  return {
    commit,
    change,
    purged: async () => {
      while (deferredDeletes.isWaiting()) {
        await checkpoints.gate();
        transact(deferredDeletes.emptySome, '', 0);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    },
    stop: () => {
      isStopped = true;
      clearTimeout(purging);
    },
  };
}

function highestKeyIn(batch: readonly Write[]): number {
  let highest = 0;
  for (const write of batch) if (write.kind === 'task' && write.row.key > highest) highest = write.row.key;
  return highest;
}
