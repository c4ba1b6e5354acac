import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { ConversationNames } from '../../ports.ts';
import { troubleOf } from '../shared/store-error.ts';
import type { Checkpoints } from './checkpoint/in-thread.ts';
import { createCheckpoints } from './checkpoint/in-thread.ts';
import { createInlineCheckpoints } from './checkpoint/inline.ts';
import type { StoreThread } from './checkpoint/thread.ts';
import { createStoreThread } from './checkpoint/thread.ts';
import type { Committer } from './commit/committer.ts';
import { createCommitter } from './commit/committer.ts';
import type { Marks } from './commit/marks.ts';
import { openMarks, startMarks } from './commit/marks.ts';
import { createShrinking } from './commit/shrink.ts';
import { createTransactions } from './commit/transactions.ts';
import { checkFile } from './damage/check-file.ts';
import type { FailureGuard } from './damage/failure-guard.ts';
import { createFailureGuard } from './damage/failure-guard.ts';
import type { LostCommits } from './damage/lost-commits.ts';
import { quarantineLostCommits } from './damage/lost-commits.ts';
import { createQuarantine } from './damage/quarantine.ts';
import { mayShareWal, versionOf } from './database/connection.ts';
import type { StoreMeta } from './database/open.ts';
import { markClosed, markInUse } from './database/open.ts';
import { copyDatabase } from './files/copy-database.ts';
import type { DiskSpace } from './files/disk-space.ts';
import { createDiskSpace } from './files/disk-space.ts';
import type { StoreLock } from './files/lock.ts';
import type { StoreFiles } from './files/store-files.ts';
import type { SqliteOptions, SqliteStore } from './options.ts';
import { readPageUse } from './read/page-use.ts';
import { createReads } from './read/reads.ts';
import { createScan } from './read/scan.ts';
import type { StoreSearch } from './search/search.ts';
import { createStoreSearch } from './search/search.ts';
import { createTables } from './tables/all-tables.ts';

/** An opened database, checked and locked, before its parts are connected. */
export interface OpenedStore {
  readonly db: DatabaseSync;
  readonly files: StoreFiles;
  readonly lock: StoreLock;
  readonly meta: StoreMeta;
  readonly losses: LostCommits;
  readonly settings: Required<SqliteOptions>;
}

/** Connects the parts of an opened store. */
export function assemble({ db, files, lock, meta, losses, settings }: OpenedStore): SqliteStore {
  const { report, ballastBytes, verifyBytesMax, cacheBytes } = settings;
  const [guard, tables] = [createFailureGuard(report), createTables(db, meta)];
  const quarantine = createQuarantine(db, report);
  const transactions = createTransactions(db, meta, { ...tables, names: tables.sends.names });
  const thread = createStoreThread({ path: files.path, marks: files.marks, store: meta.store, cacheBytes });
  const verified = checkFile(db, { files, thread, guard, verifyBytesMax });

  quarantineLostCommits(losses, { transactions, quarantine, report });
  const restartMarks = (): void => startMarks(files.marks, meta.store, transactions.commits);
  const empty = (): void => {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    restartMarks();
  };
  if (losses.isStale) empty();
  markInUse(db, meta);
  const marks = openMarks(files.marks);
  const onCheckpointFailed = (thrown: unknown): void => {
    if (troubleOf(thrown) === 'full') space.ranOut(thrown);
    else if (troubleOf(thrown) === 'busy') report('a checkpoint was postponed', thrown);
    else guard.fail(thrown);
  };
  const commits = (): number => transactions.commits;
  const checkpoints = chooseCheckpoints({ db, files, settings, thread, commits, onFailed: onCheckpointFailed, marks, restartMarks });
  const space = createDiskSpace({ path: files.path, ballastBytes, checkpoints });
  const shrinking = createShrinking(db, { checkpoints, isBroken: () => guard.broken !== undefined, report });
  const { rows, ...reads } = createReads(db, { ...tables, guard, quarantine });
  const searching = createStoreSearch({ isWanted: settings.search, path: files.path, store: meta.store, rows, report });
  const writing = { tables, transactions, guard, space, marks, checkpoints };
  const committer = createCommitter({ ...writing, shrinking, searching, onCheckpointFailed, report });

  const close = async (): Promise<void> => {
    committer.stop();
    shrinking.stop();
    await searching.close();
    await checkpoints.close();
    await space.settled();
    await thread.close().catch((thrown: unknown) => report('the store’s thread ended with an error', thrown));
    marks.close();
    if (guard.broken === undefined) {
      markClosed(db);
      empty();
    }
    guard.close();
    db.close();
    lock.release();
  };
  let closing: Promise<void> | undefined;

  return {
    ...reads,
    names: namesOf({ tables, guard, committer }),
    ...(searching.search === undefined ? {} : { search: searching.search }),
    id: meta.store,
    commit: committer.commit,
    lastKey: () => transactions.lastKey,
    scan: createScan(db, () => transactions.lastKey, { ...tables, guard, quarantine }),
    damaged: quarantine.all,
    verified,
    secret: new Uint8Array(hash('sha256', `page tokens of ${meta.store}`, 'buffer')),
    pageUse: async () => (mayShareWal(versionOf(db)) ? await thread.pageUse() : readPageUse(db)),
    checkpoint: () => checkpoints.empty('TRUNCATE'),
    compact: () => compact({ committer, searching, checkpoints, space, files }),
    backup: (to, onProgress) => copyDatabase(db, to, onProgress),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function namesOf({ tables, guard, committer }: NameParts): ConversationNames {
  return {
    of: (conversations) => guard.read(() => tables.titles.of(conversations)),
    within: (scope) => guard.read(() => tables.titles.within(scope)),
    put: (name) => committer.change(() => tables.titles.put(name)),
  };
}

interface NameParts {
  readonly tables: ReturnType<typeof createTables>;
  readonly guard: FailureGuard;
  readonly committer: Committer;
}

interface CompactParts {
  readonly committer: Committer;
  readonly searching: StoreSearch;
  readonly checkpoints: Checkpoints;
  readonly space: DiskSpace;
  readonly files: StoreFiles;
}

/** Rewrites all files without what was deleted. */
async function compact({ committer, searching, checkpoints, space, files }: CompactParts): Promise<void> {
  await committer.purged();
  await searching.compact();
  await checkpoints.rewrite().catch((thrown: unknown) => {
    throw troubleOf(thrown) === 'full' ? space.ranOut(thrown) : thrown;
  });
  // A copy of a damaged WAL may hold content of deleted tasks.
  rmSync(`${files.wal}.lost`, { force: true });
}

interface Choice {
  readonly db: DatabaseSync;
  readonly files: StoreFiles;
  readonly settings: Required<SqliteOptions>;
  readonly thread: StoreThread;
  readonly commits: () => number;
  readonly onFailed: (thrown: unknown) => void;
  readonly marks: Marks;
  readonly restartMarks: () => void;
}

/** Checkpoints in a thread where two connections may share the WAL, otherwise within commits. */
function chooseCheckpoints({ db, files, settings, thread, commits, onFailed, marks, restartMarks }: Choice): Checkpoints {
  const { walBytes, walBytesMax } = settings;
  if (mayShareWal(versionOf(db))) {
    return createCheckpoints({ db, path: files.path, thread, walBytes, walBytesMax, commits, onEmptied: marks.reopen, onFailed });
  }
  const onEmptied = (): void => {
    restartMarks();
    marks.reopen();
  };
  return createInlineCheckpoints({ db, path: files.path, walBytes, onEmptied });
}
