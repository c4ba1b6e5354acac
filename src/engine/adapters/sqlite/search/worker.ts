import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { troubleOf } from '../../shared/store-error.ts';
import type { IndexFile } from './index-file.ts';
import { openIndexFile, removeIndexFile } from './index-file.ts';
import type { Indexer } from './indexer.ts';
import { createIndexer } from './indexer.ts';
import type { SearchReply, SearchSetup } from './replies.ts';
import { failureOf } from './replies.ts';
import type { TasksToIndex } from './unindexed-tasks.ts';

/** Work for the thread that indexes. */
export type IndexJob =
  /** Replies when it is received. If it is not due, more tasks follow soon: they are indexed together. */
  | { readonly kind: 'touch'; readonly tasks: TasksToIndex; readonly isDue: boolean }
  /** Replies when there is a file, which may be empty. */
  | { readonly kind: 'open' }
  /** Replaces a damaged file. */
  | { readonly kind: 'replace' }
  /** Replies when the index has everything that was committed before. */
  | { readonly kind: 'settle' }
  /** Rewrites the file of the index without what was deleted. */
  | { readonly kind: 'compact' }
  | { readonly kind: 'close' };

export interface IndexAsk {
  readonly id: number;
  readonly job: IndexJob;
}

/** Sends come before the index. Other systems would lower the priority of the whole process. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid it.
  }
}

/** The thread works half of the time at most. */
const PAUSE_MS_MIN = 2;
const RETRY_MS = 5000;
/** What is left is indexed before the thread ends, if it is little. */
const CLOSE_MS_MAX = 300;

const setup = workerData as SearchSetup;
let index: IndexFile | undefined;
let indexer: Indexer | undefined;
let timer: NodeJS.Timeout | undefined;
const settling: number[] = [];
const compacting: number[] = [];

const send = (reply: SearchReply): void => parentPort?.postMessage(reply);

function opened(): { readonly index: IndexFile; readonly indexer: Indexer } {
  index ??= openIndexFile(setup.index, setup.store);
  indexer ??= createIndexer(setup.path, index);
  return { index, indexer };
}

/** A damaged index is deleted and made again. */
function onTrouble(thrown: unknown): void {
  if (troubleOf(thrown) !== 'corrupt') return;
  closeAll();
  removeIndexFile(setup.index);
}

function closeAll(): void {
  const [wasIndex, wasIndexer] = [index, indexer];
  [index, indexer] = [undefined, undefined];
  try {
    wasIndexer?.close();
  } finally {
    wasIndex?.close();
  }
}

function schedule(ms: number): void {
  timer ??= setTimeout(work, ms);
}

function work(): void {
  timer = undefined;
  const start = performance.now();
  try {
    const open = opened();
    if (open.indexer.work()) {
      schedule(Math.max(PAUSE_MS_MIN, performance.now() - start));
      return;
    }
    for (const id of compacting.splice(0)) {
      attempt(id, () => {
        open.index.compact();
        return [];
      });
    }
    for (const id of settling.splice(0)) send({ id, keys: [] });
  } catch (thrown) {
    send({ trouble: failureOf(thrown) });
    for (const id of [...settling.splice(0), ...compacting.splice(0)]) send({ id, failure: failureOf(thrown) });
    onTrouble(thrown);
    schedule(RETRY_MS);
  }
}

function attempt(id: number, run: () => readonly number[]): void {
  try {
    send({ id, keys: run() });
  } catch (thrown) {
    send({ id, failure: failureOf(thrown) });
    onTrouble(thrown);
  }
}

function close(): readonly number[] {
  clearTimeout(timer);
  const until = performance.now() + CLOSE_MS_MAX;
  try {
    while (indexer?.work() === true && performance.now() < until);
  } finally {
    closeAll();
  }
  return [];
}

yieldToOthers();
parentPort?.on('message', ({ id, job }: IndexAsk) => {
  switch (job.kind) {
    case 'touch':
      send({ id, keys: [] });
      try {
        opened().indexer.touch(job.tasks);
      } catch (thrown) {
        send({ trouble: failureOf(thrown) });
        return schedule(RETRY_MS);
      }
      if (job.isDue) schedule(0);
      return;
    case 'open':
      return attempt(id, () => {
        opened();
        return [];
      });
    case 'replace':
      closeAll();
      removeIndexFile(setup.index);
      send({ id, keys: [] });
      return schedule(0);
    case 'settle':
      settling.push(id);
      return schedule(0);
    case 'compact':
      compacting.push(id);
      // A task may have been deleted without a notice, for example a damaged one.
      indexer?.startOver();
      return schedule(0);
    default:
      attempt(id, close);
      parentPort?.close(); // after the reply, which a closed port would drop
  }
});
