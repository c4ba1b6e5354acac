import { parentPort, workerData } from 'node:worker_threads';
import type { IndexReader } from './index-file.ts';
import { openIndexReader } from './index-file.ts';
import type { IndexMatch } from './index-parts.ts';
import type { SearchReply, SearchSetup } from './replies.ts';
import { failureOf } from './replies.ts';

/** The thread that searches. It has a connection of its own, so that a search does not wait for the thread that indexes. */
export type FindJob = { readonly kind: 'find'; readonly match: IndexMatch } | { readonly kind: 'close' };

const setup = workerData as SearchSetup;
let index: IndexReader | undefined;

function run(job: FindJob): readonly number[] {
  if (job.kind === 'find') {
    index ??= openIndexReader(setup.index);
    return index.find(job.match);
  }
  index?.close();
  return [];
}

parentPort?.on('message', ({ id, job }: { readonly id: number; readonly job: FindJob }) => {
  let reply: SearchReply;
  try {
    reply = { id, keys: run(job) };
  } catch (thrown) {
    reply = { id, failure: failureOf(thrown) };
  }
  parentPort?.postMessage(reply);
  if (job.kind === 'close') parentPort?.close(); // after the reply, which a closed port would drop
});
