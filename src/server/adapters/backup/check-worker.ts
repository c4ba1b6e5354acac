import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { TasksVerdict } from '#engine';
import { verifyTasks } from '#engine';
import { openBlobs } from '../../../engine/adapters/blobs.ts';
import { openSqliteReader } from '../../../engine/adapters/sqlite.ts';

/** What a check of a copied store found. */
export interface CheckedCopy {
  /** Random id of the store, and its number of commits. */
  readonly store: { readonly id: string; readonly commits: number };
  /** Tasks that the node itself did not serve any more. */
  readonly quarantined: readonly string[];
  readonly verdict: TasksVerdict;
}

/** What the thread sends: progress, then one of the others. */
export type CheckReply =
  | { readonly done: number; readonly total: number }
  | { readonly checked: CheckedCopy }
  | { readonly failure: string };

const TELL_MS = 100;

/** Reads every task of the copy in the folder. */
async function check(folder: string, tell: (reply: CheckReply) => void): Promise<CheckedCopy> {
  const copy = openSqliteReader(join(folder, 'tasks.db'));
  try {
    const total = await copy.count({ owner: 'any' });
    let toldAt = 0;
    const verdict = await verifyTasks(copy, openBlobs(join(folder, 'blobs')), (done) => {
      if (performance.now() - toldAt < TELL_MS) return;
      toldAt = performance.now();
      tell({ done, total });
    });
    const quarantined = copy.damaged().map(({ id, key }) => id ?? String(key));
    return { store: { id: copy.id, commits: copy.commits }, quarantined, verdict };
  } finally {
    copy.close();
  }
}

const port = parentPort;
if (port !== null) {
  const { folder } = workerData as { readonly folder: string };
  check(folder, (reply) => port.postMessage(reply)).then(
    (checked) => port.postMessage({ checked } satisfies CheckReply),
    (thrown: unknown) => port.postMessage({ failure: thrown instanceof Error ? thrown.message : String(thrown) } satisfies CheckReply),
  );
}
