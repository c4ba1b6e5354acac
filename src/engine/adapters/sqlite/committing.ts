import type { A2AError } from '#protocol';
import type { Write } from '../../ports.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Guard } from './guard.ts';
import type { Marks } from './marks.ts';
import type { Space } from './space.ts';
import { touchedBy } from './touched.ts';
import type { Trash } from './trash.ts';
import type { Writing } from './writing.ts';

/** The way of a batch to the disk. */
export interface Committing {
  commit(batch: readonly Write[]): void | Promise<void>;
  /** Deletes what is left of forgotten tasks, a portion at a time. */
  purgeSoon(): void;
  stop(): void;
}

interface CommittingOptions {
  readonly apply: (write: Write) => void;
  readonly writing: Writing;
  readonly guard: Guard;
  readonly space: Space;
  readonly marks: Marks;
  readonly checkpoints: Checkpoints;
  readonly trash: Trash;
  readonly report: (what: string, cause: unknown) => void;
}

const PURGE_MS = 10;

export function createCommitting({ apply, writing, guard, space, marks, checkpoints, trash, report }: CommittingOptions): Committing {
  let purging: NodeJS.Timeout | undefined;
  let isStopped = false;

  const transact = (work: () => void, touched: string, highestKey: number): void => {
    const onFull = (cause: unknown): A2AError => space.ranOut(cause);
    guard.write(() => {
      writing.transact(work, highestKey);
      // Before the caller hears of the commit: what anybody was told of has its mark.
      try {
        marks.note(writing.commits, touched);
      } catch (thrown) {
        report('the high-water mark could not be written', thrown);
      }
      checkpoints.committed();
    }, onFull);
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
      for (const write of batch) apply(write);
    };
    transact(work, touchedBy(batch), highestKeyIn(batch));
    if (batch.some((write) => write.kind === 'forget')) purgeSoon();
  };

  return {
    commit,
    purgeSoon,
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
