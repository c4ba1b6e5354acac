import type { Store, StoreCells, TakenNames, Write } from '#engine';
import { CommitUnknownError } from '#engine';
import { claimOf } from './process.ts';
import type { Defect } from './world.ts';

/** Every batch whose outcome is not known gets this verdict, without asking the database. */
function alwaysTold(verdict: boolean): (store: Store) => Store {
  return (store) => ({
    ...store,
    claim: async (batch) => {
      try {
        return await claimOf(store)(batch);
      } catch (thrown) {
        throw thrown instanceof CommitUnknownError ? new CommitUnknownError(async () => verdict) : thrown;
      }
    },
  });
}

/** Lets the engine continue before the database has answered. Failures are lost. */
const unheard = (committing: unknown): void => void Promise.resolve(committing).catch(() => {});
const NOTHING_TAKEN: TakenNames = { tasks: new Set(), sends: new Set() };
const early = (committing: unknown): TakenNames => {
  unheard(committing);
  return NOTHING_TAKEN;
};

async function halfFirst(store: Store, batch: readonly Write[]): Promise<TakenNames> {
  const half = Math.ceil(batch.length / 2);
  const taken = await claimOf(store)(batch.slice(0, half));
  if (half < batch.length) unheard(claimOf(store)(batch.slice(half)));
  return taken;
}

/** The cells of a store with some of its answers changed. */
function cellsWith(change: (cells: StoreCells) => Partial<StoreCells>): (store: Store) => Store {
  return (store) => {
    const { cells } = store;
    if (cells === undefined) throw new Error('the store has no cells');
    const plain: StoreCells = {
      count: cells.count,
      cellOf: (place) => cells.cellOf(place),
      idIn: (cell, id) => cells.idIn(cell, id),
      isOwn: (cell) => cells.isOwn(cell),
      own: () => cells.own(),
      pick: () => cells.pick(),
      follow: (events) => cells.follow(events),
      release: (given) => cells.release(given),
      give: (cell, to) => cells.give(cell, to),
      stopTaking: () => cells.stopTaking(),
      serve: (agents) => cells.serve(agents),
      abandoned: (agents) => cells.abandoned(agents),
    };
    return { ...store, cells: { ...plain, ...change(cells) } };
  };
}

const shorter = <T extends { readonly last: number }>(row: T): T => (row.last > 1 ? { ...row, last: row.last - 1 } : row);

/** The engine hears nothing of lost cells, and continues to write. */
const keepsLost = cellsWith((cells) => ({ follow: (events) => cells.follow({ ...events, lost: () => {} }), isOwn: () => true }));

/** Known defects, each by the name under which `npm run simulate -- --defects` reports it. */
export const DEFECTS: Readonly<Record<string, Defect>> = {
  'no fencing: a commit does not look for its writer row': { server: { noFence: true } },
  'burial without the foreign key: the writers of a buried replica stay': { server: { noCascade: true } },
  'a takeover does not wait for commits under way': { server: { takeoverDoesNotWait: true } },
  'cells are claimed although a live replica owns them': { server: { claimSteals: true } },
  'a lapsed or buried lease is renewed': { server: { renewsBuried: true } },
  'acknowledged before the commit': { store: (store) => ({ ...store, claim: async (batch) => early(claimOf(store)(batch)) }) },
  'readers wake when half of a batch is durable': { store: (store) => ({ ...store, claim: (batch) => halfFirst(store, batch) }) },
  'the name of a send is not found again': {
    server: { namesTwice: true },
    store: (store) => ({ ...store, send: async () => undefined }),
  },
  'runs continue after the lease is lost': {
    store: keepsLost,
  },
  'a commit does not look whether its cells are its own': { server: { ignoresOwner: true }, store: keepsLost },
  'a cell is released while a commit of it is under way': { server: { releasesEarly: true } },
  'a name that another replica has claimed is claimed again': { server: { namesTwice: true } },
  'a name of a task that another replica has claimed is claimed again': { server: { aliasesTwice: true } },
  'a forwarded call is forwarded again': { forward: { again: true } },
  'a forwarded call has another caller': { forward: { asEntry: true } },
  'a stream that continues at another replica skips an event': { forward: { skipsOne: true } },
  'an unknown outcome counts as failed': { store: alwaysTold(false) },
  'an unknown outcome counts as written': { store: alwaysTold(true) },
  'a plain look decides an unknown outcome': { verdicts: 'plain' },
  'recovery does not see that a run had started': {
    store: (store) => ({ ...store, unfinished: async (cells) => (await store.unfinished(cells)).map((row) => ({ ...row, attempt: 0 })) }),
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
    store: (store) => ({ ...store, claim: async (batch) => (batch.length === 0 ? NOTHING_TAKEN : claimOf(store)(batch)) }),
  },
};
