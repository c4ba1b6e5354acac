import { Worker } from 'node:worker_threads';
import type { PageUse } from '../read/page-use.ts';
import type { Checkpointed, CheckpointMode, ThreadJob, ThreadOutcome, ThreadReply, ThreadRequest, ThreadSetup } from './worker.ts';

/**
 * Sends jobs to the thread of `worker.ts`. The thread starts with the first job and keeps the process
 * alive only while a job runs.
 */
export interface StoreThread {
  /** Copies the WAL to the main file. */
  checkpoint(mode: CheckpointMode, commits?: number): Promise<Checkpointed>;
  /** Checks the whole file. Resolves with the problems found. */
  verify(): Promise<readonly string[]>;
  /** Reads what each page is used for. */
  pageUse(): Promise<PageUse>;
  /** Rewrites the whole database. */
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

interface Waiter {
  readonly resolve: (reply: Exclude<ThreadReply, { failure: unknown }>) => void;
  readonly reject: (cause: Error) => void;
}

/** TypeScript in development, JavaScript in the package. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/**
 * The thread starts with the first job. When it ends unexpectedly, all waiting jobs fail, and the next
 * job starts a new one.
 */
export function createStoreThread(setup: ThreadSetup): StoreThread {
  const waiters = new Map<number, Waiter>();
  let worker: Worker | undefined;
  let next = 1;

  const failAll = (cause: Error): void => {
    for (const waiter of waiters.values()) waiter.reject(cause);
    waiters.clear();
  };
  const start = (): Worker => {
    const started = new Worker(new URL(`./worker.${EXTENSION}`, import.meta.url), { workerData: setup });
    started.on('message', (reply: ThreadReply) => {
      const waiter = waiters.get(reply.id);
      waiters.delete(reply.id);
      if (waiters.size === 0) started.unref();
      if ('failure' in reply) waiter?.reject(Object.assign(new Error(reply.failure.message), reply.failure));
      else waiter?.resolve(reply);
    });
    started.on('error', failAll);
    started.on('exit', () => failAll(new Error('the store’s thread has ended')));
    return started;
  };
  const ask = (job: ThreadJob | 'close'): Promise<Exclude<ThreadReply, { failure: unknown }>> =>
    new Promise((resolve, reject) => {
      worker ??= start();
      worker.ref();
      waiters.set(next, { resolve, reject });
      worker.postMessage({ id: next, job } satisfies ThreadRequest);
      next += 1;
    });
  const outcomeOf = async (job: ThreadJob): Promise<ThreadOutcome> => {
    const reply = await ask(job);
    if (!('outcome' in reply)) throw new Error('the store’s thread sent the reply of another job');
    return reply.outcome;
  };

  return {
    checkpoint: async (mode, commits) => {
      const outcome = await outcomeOf({ kind: 'checkpoint', mode, ...(commits === undefined ? {} : { commits }) });
      if (!('checkpointed' in outcome)) throw new Error('the store’s thread sent the reply of another job');
      return outcome.checkpointed;
    },
    verify: async () => {
      const outcome = await outcomeOf({ kind: 'verify' });
      return 'problems' in outcome ? outcome.problems : [];
    },
    pageUse: async () => {
      const outcome = await outcomeOf({ kind: 'pages' });
      if (!('use' in outcome)) throw new Error('the store’s thread sent the reply of another job');
      return outcome.use;
    },
    vacuum: async () => void (await outcomeOf({ kind: 'vacuum' })),
    close: async () => {
      if (worker !== undefined) await ask('close');
    },
  };
}
