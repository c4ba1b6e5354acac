import type { Store, Write } from '#engine';
import { CommitUnknownError } from '#engine';
import type { Defect } from './world.ts';

/** Every batch whose outcome is not known gets this verdict, without asking the database. */
function alwaysTold(verdict: boolean): (store: Store) => Store {
  return (store) => ({
    ...store,
    commit: async (batch) => {
      try {
        await store.commit(batch);
      } catch (thrown) {
        throw thrown instanceof CommitUnknownError ? new CommitUnknownError(async () => verdict) : thrown;
      }
    },
  });
}

/** Lets the engine continue before the database has answered. Failures are lost. */
const unheard = (committing: unknown): void => void Promise.resolve(committing).catch(() => {});

async function halfFirst(store: Store, batch: readonly Write[]): Promise<void> {
  const half = Math.ceil(batch.length / 2);
  await store.commit(batch.slice(0, half));
  if (half < batch.length) unheard(store.commit(batch.slice(half)));
}

const shorter = <T extends { readonly last: number }>(row: T): T => (row.last > 1 ? { ...row, last: row.last - 1 } : row);

/** Known defects, each by the name under which `npm run simulate -- --defects` reports it. */
export const DEFECTS: Readonly<Record<string, Defect>> = {
  'no fencing: a commit does not look for its writer row': { server: { noFence: true } },
  'burial without the foreign key: the writers of a buried replica stay': { server: { noCascade: true } },
  'a takeover does not wait for commits under way': { server: { takeoverDoesNotWait: true } },
  'cells are claimed although a live replica owns them': { server: { claimSteals: true } },
  'a lapsed or buried lease is renewed': { server: { renewsBuried: true } },
  'acknowledged before the commit': { store: (store) => ({ ...store, commit: async (batch) => unheard(store.commit(batch)) }) },
  'readers wake when half of a batch is durable': { store: (store) => ({ ...store, commit: (batch) => halfFirst(store, batch) }) },
  'the name of a send is not found again': { store: (store) => ({ ...store, send: async () => undefined }) },
  'runs continue after the lease is lost': {
    store: (store) => ({
      ...store,
      lease: { follow: () => store.lease?.follow({ lost: () => {}, regained: () => {} }), isHeld: () => true },
    }),
  },
  'an unknown outcome counts as failed': { store: alwaysTold(false) },
  'an unknown outcome counts as written': { store: alwaysTold(true) },
  'a plain look decides an unknown outcome': { verdicts: 'plain' },
  'recovery does not see that a run had started': {
    store: (store) => ({ ...store, unfinished: async () => (await store.unfinished()).map((row) => ({ ...row, attempt: 0 })) }),
  },
  'event numbers are not continued after a takeover': {
    server: { ignoresLast: true },
    store: (store) => ({
      ...store,
      task: async (scope, id) => {
        const row = await store.task(scope, id);
        return row === undefined ? undefined : { ...row, last: shorter(row).last };
      },
    }),
  },
  'an empty durable() does not ask the database': {
    store: (store) => ({ ...store, commit: async (batch) => (batch.length === 0 ? undefined : store.commit(batch)) }),
  },
};
