import { Worker } from 'node:worker_threads';
import type { SearchFailure, SearchReply, SearchSetup } from './replies.ts';

/** The main side of a thread of the search. It starts with the first job and keeps the process alive only while somebody waits. */
export interface SearchThread<Job> {
  readonly isStarted: boolean;
  ask(job: Job): Promise<readonly number[]>;
  close(): Promise<void>;
}

interface Waiter {
  readonly resolve: (keys: readonly number[]) => void;
  readonly reject: (cause: Error) => void;
}

/** TypeScript in development, JavaScript in the package. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export function createSearchThread<Job>(
  program: 'worker' | 'find-worker',
  setup: SearchSetup,
  onTrouble: (cause: Error) => void,
): SearchThread<Job> {
  const waiters = new Map<number, Waiter>();
  let worker: Worker | undefined;
  let isClosed = false;
  let next = 1;

  const failAll = (cause: Error): void => {
    worker = undefined;
    for (const waiter of waiters.values()) waiter.reject(cause);
    waiters.clear();
  };
  const receive = (started: Worker, reply: SearchReply): void => {
    if ('trouble' in reply) {
      onTrouble(errorOf(reply.trouble));
      return;
    }
    const waiter = waiters.get(reply.id);
    waiters.delete(reply.id);
    if (waiters.size === 0) started.unref();
    if ('failure' in reply) waiter?.reject(errorOf(reply.failure));
    else waiter?.resolve(reply.keys);
  };
  const running = (): Worker => {
    if (worker !== undefined) return worker;
    const started = new Worker(new URL(`./${program}.${EXTENSION}`, import.meta.url), { workerData: setup });
    started.on('message', (reply: SearchReply) => receive(started, reply));
    started.on('error', (cause) => {
      failAll(cause);
      onTrouble(cause);
    });
    started.on('exit', () => failAll(new Error('the thread of the search index has ended')));
    started.unref();
    worker = started;
    return started;
  };
  const ask = (job: Job | { readonly kind: 'close' }): Promise<readonly number[]> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new Error('the store is closed'));
      const thread = running();
      thread.ref();
      waiters.set(next, { resolve, reject });
      thread.postMessage({ id: next, job });
      next += 1;
    });
  return {
    get isStarted() {
      return worker !== undefined;
    },
    ask,
    close: async () => {
      if (worker !== undefined) {
        const ended = ask({ kind: 'close' });
        isClosed = true;
        await ended;
      }
      isClosed = true;
    },
  };
}

function errorOf({ message, errcode }: SearchFailure): Error {
  return Object.assign(new Error(message), { errcode });
}
