import type { Write } from '../../ports.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Tables } from './commit.ts';
import { apply } from './commit.ts';
import type { Guard } from './guard.ts';
import type { Marks } from './marks.ts';
import type { Space } from './space.ts';
import { touchedBy } from './touched.ts';
import type { Writing } from './writing.ts';

/** The way of a batch to the disk. */
export interface Committing {
  commit(batch: readonly Write[]): void | Promise<void>;
  /** Nothing more is done by itself: what is left of forgotten tasks can wait. */
  stop(): void;
}

interface CommittingOptions {
  readonly tables: Tables;
  readonly writing: Writing;
  readonly guard: Guard;
  readonly space: Space;
  readonly marks: Marks;
  readonly checkpoints: Checkpoints;
  readonly onCheckpointFailed: (thrown: unknown) => void;
  readonly report: (what: string, cause: unknown) => void;
}

const PURGE_MS = 10;

export function createCommitting(options: CommittingOptions): Committing {
  const { tables, writing, guard, space, marks, checkpoints, onCheckpointFailed, report } = options;
  const { trash } = tables;
  let purging: NodeJS.Timeout | undefined;
  let isStopped = false;

  const transact = (work: () => void, touched: string, highestKey: number): void => {
    guard.write(() => writing.transact(work, highestKey), space.ranOut);
    // Now it is durable: whatever goes wrong from here on must not look as if it were not.
    try {
      // Before the caller hears of the commit, so that what anybody was told of has its mark.
      marks.note(writing.commits, touched);
    } catch (thrown) {
      report('the high-water mark could not be written', thrown);
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
      if (checkpoints.gate() === undefined && trash.isWaiting()) transact(trash.emptySome, '', 0);
      if (trash.isWaiting()) purgeSoon();
    } catch (thrown) {
      report('forgotten tasks could not be deleted yet', thrown);
    }
  };
  const purgeSoon = (): void => {
    purging ??= setTimeout(purge, PURGE_MS).unref();
  };
  const commit = (batch: readonly Write[]): void | Promise<void> => {
    const gate = checkpoints.gate();
    if (gate !== undefined && guard.broken === undefined) return gate.then(() => commit(batch));
    space.admit(batch);
    const work = (): void => {
      for (const write of batch) apply(write, tables);
    };
    transact(work, touchedBy(batch), highestKeyIn(batch));
    if (batch.some((write) => write.kind === 'forget')) purgeSoon();
  };

  if (trash.isWaiting()) purgeSoon();
  return {
    commit,
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
