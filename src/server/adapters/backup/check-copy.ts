import { Worker } from 'node:worker_threads';
import { StoreError } from '../../../engine/adapters/sqlite.ts';
import type { CheckedCopy, CheckReply } from './check-worker.ts';

/** TypeScript in development, JavaScript in the package. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** How a check is followed and stopped. */
export interface CheckOptions {
  readonly onTask?: (done: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Reads every task of a copied store, in a thread: a node that checks its backup continues to serve. Throws a StoreError. */
export async function checkCopy(folder: string, { onTask = () => {}, signal }: CheckOptions = {}): Promise<CheckedCopy> {
  const worker = new Worker(new URL(`./check-worker.${EXTENSION}`, import.meta.url), { workerData: { folder } });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener('abort', stop);
  try {
    return await new Promise<CheckedCopy>((resolve, reject) => {
      worker.on('message', (reply: CheckReply) => {
        if ('checked' in reply) resolve(reply.checked);
        else if ('failure' in reply) reject(new StoreError('damaged', reply.failure));
        else onTask(reply.done, reply.total);
      });
      worker.on('error', reject);
      worker.on('exit', () => reject(signal?.reason ?? new Error('the check of the backup ended without a result')));
      if (signal?.aborted === true) stop();
    });
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}
