import { parentPort, workerData } from 'node:worker_threads';
import { troubleOf } from '../../shared/store-error.ts';
import type { IndexFile, IndexMatch } from './index-file.ts';
import { openIndexFile, removeIndexFile } from './index-file.ts';
import type { Indexer } from './indexer.ts';
import { createIndexer } from './indexer.ts';

/** The thread that indexes and searches. Indexing pauses between small portions, in which searches run. */
export interface SearchSetup {
  /** The database of the store. */
  readonly path: string;
  readonly index: string;
  /** Id of the store. */
  readonly store: string;
}

/** Work for the thread. */
export type SearchJob =
  | { readonly kind: 'touch'; readonly keys: readonly number[] }
  | { readonly kind: 'find'; readonly match: IndexMatch }
  /** Replies when the index has everything that was committed before. */
  | { readonly kind: 'settle' }
  /** Rewrites the file of the index without what was deleted. */
  | { readonly kind: 'compact' }
  | { readonly kind: 'close' };

export interface SearchAsk {
  readonly id: number;
  readonly job: SearchJob;
}

export type SearchReply =
  | { readonly id: number; readonly keys: readonly number[] }
  | { readonly id: number; readonly failure: { readonly message: string; readonly errcode: number | undefined } }
  /** An error while indexing. It is tried again. */
  | { readonly trouble: { readonly message: string; readonly errcode: number | undefined } };

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
    parentPort?.close();
  }
  return [];
}

function failureOf(thrown: unknown): { message: string; errcode: number | undefined } {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    message,
    errcode: thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number' ? thrown.errcode : undefined,
  };
}

parentPort?.on('message', ({ id, job }: SearchAsk) => {
  switch (job.kind) {
    case 'touch':
      try {
        opened().indexer.touch(job.keys);
      } catch (thrown) {
        send({ trouble: failureOf(thrown) });
        return schedule(RETRY_MS);
      }
      return schedule(0);
    case 'find':
      return attempt(id, () => opened().index.find(job.match));
    case 'settle':
      settling.push(id);
      return schedule(0);
    case 'compact':
      compacting.push(id);
      // A task may have been deleted without a notice, for example a damaged one.
      indexer?.startOver();
      return schedule(0);
    default:
      return attempt(id, close);
  }
});
