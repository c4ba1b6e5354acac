import type { DatabaseSync } from 'node:sqlite';
import type { Store, Write } from '../../ports.ts';
import type { Checkpoints } from './checkpoints.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createApply } from './commit.ts';
import { mayShareWal } from './connection.ts';
import { StoreError, troubleOf } from './faults.ts';
import type { Files } from './files.ts';
import { sizeOf } from './files.ts';
import type { Guard } from './guard.ts';
import { createGuard } from './guard.ts';
import type { Helper } from './helper.ts';
import { createHelper } from './helper.ts';
import { createInlineCheckpoints } from './inline-checkpoints.ts';
import type { Lock } from './lock.ts';
import type { Losses } from './losses.ts';
import { openMarks, startMarks } from './marks.ts';
import type { Meta } from './open.ts';
import type { SqliteOptions, SqliteStore } from './options.ts';
import { createPushes } from './pushes.ts';
import { createQuarantine } from './quarantine.ts';
import { createReads } from './reads.ts';
import { createRealms } from './realms.ts';
import { createSends } from './sends.ts';
import { createSpace } from './space.ts';
import { createTally } from './tally.ts';
import { touchedBy } from './touched.ts';
import { createTrash } from './trash.ts';
import { structureProblems } from './verify.ts';
import { createWriting } from './writing.ts';

export interface Opened {
  readonly db: DatabaseSync;
  readonly files: Files;
  readonly lock: Lock;
  readonly meta: Meta;
  readonly losses: Losses;
  readonly settings: Required<SqliteOptions>;
}

const PURGE_MS = 10;

/** Puts the parts together. */
export function assemble({ db, files, lock, meta, losses, settings }: Opened): SqliteStore {
  const { report } = settings;
  const guard = createGuard(report);
  const realms = createRealms(db);
  const tally = createTally(db);
  const sends = createSends(db, realms);
  const pushes = createPushes(db);
  const trash = createTrash(db);
  const quarantine = createQuarantine(db, report);
  const writing = createWriting(db, meta, { realms, tally });
  const apply = createApply(db, { realms, tally, sends, pushes });
  const reads = createReads(db, { guard, realms, tally, sends, pushes, quarantine });
  const helper = createHelper({ path: files.path, marks: files.marks, store: meta.store, cacheBytes: settings.cacheBytes });
  const verified = verify(db, files, helper, settings, guard);

  if (losses.commits > 0) {
    const highest = losses.tasks.reduce((max, task) => Math.max(max, task.key), 0);
    const now = Date.now();
    writing.transact(() => {
      for (const task of losses.tasks) quarantine.add(task, now);
    }, highest);
    report(
      `${losses.commits} commits were lost; ${losses.tasks.length} tasks are not served`,
      new StoreError('damaged', 'the end of the WAL is missing'),
    );
  }
  if (losses.isStale) {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    startMarks(files.marks, meta.store, writing.commits);
  }
  const marks = openMarks(files.marks);
  const checkpoints = chooseCheckpoints();
  const space = createSpace({ path: files.path, ballastBytes: settings.ballastBytes, onLow: () => void checkpoints.empty('TRUNCATE') });
  let purging: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  function chooseCheckpoints(): Checkpoints {
    const { walBytes, walBytesMax } = settings;
    if (!mayShareWal(db)) {
      const onEmptied = (): void => {
        startMarks(files.marks, meta.store, writing.commits);
        marks.reopen();
      };
      return createInlineCheckpoints({ db, path: files.path, walBytes, onEmptied });
    }
    const onFailed = (thrown: unknown): void => {
      if (troubleOf(thrown) === 'full') space.ranOut(thrown);
      else if (troubleOf(thrown) === 'busy') report('a checkpoint had to be put off', thrown);
      else guard.fail(thrown);
    };
    const commits = (): number => writing.commits;
    return createCheckpoints({ db, path: files.path, helper, walBytes, walBytesMax, commits, onEmptied: marks.reopen, onFailed });
  }

  /** The mark comes before the caller hears of the commit: what anybody was told of is in it. */
  const transact = (work: () => void, touched: string, highestKey: number): void => {
    guard.write(() => {
      writing.transact(work, highestKey);
      try {
        marks.note(writing.commits, touched);
      } catch (thrown) {
        report('the high-water mark could not be written', thrown);
      }
      checkpoints.committed();
    }, space.ranOut);
  };
  const purge = (): void => {
    purging = undefined;
    if (closing !== undefined || guard.broken !== undefined) return;
    try {
      if (checkpoints.gate() === undefined && trash.isWaiting()) transact(trash.emptySome, '', 0);
      if (trash.isWaiting()) purgeSoon();
    } catch (thrown) {
      report('forgotten tasks could not be deleted yet', thrown);
    }
  };
  const purgeSoon = (): void => {
    purging ??= setTimeout(purge, PURGE_MS).unref();
  };
  const commit = (batch: readonly Write[]): void | Promise<void> => {
    const gate = checkpoints.gate();
    if (gate !== undefined && guard.broken === undefined) return gate.then(() => commit(batch));
    space.admit(batch);
    transact(
      () => {
        for (const write of batch) apply(write);
      },
      touchedBy(batch),
      highestKeyIn(batch),
    );
    if (batch.some((write) => write.kind === 'forget')) purgeSoon();
  };
  const close = async (): Promise<void> => {
    clearTimeout(purging);
    await checkpoints.close();
    await space.settled();
    await helper.close().catch((thrown: unknown) => report('the store’s thread did not end well', thrown));
    marks.close();
    if (guard.broken === undefined) {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      startMarks(files.marks, meta.store, writing.commits);
    }
    guard.close();
    db.close();
    lock.release();
  };

  if (trash.isWaiting()) purgeSoon();
  return {
    ...reads,
    commit,
    lastKey: () => writing.lastKey,
    damaged: quarantine.all,
    verified,
    checkpoint: () => checkpoints.empty('TRUNCATE'),
    close: () => {
      closing ??= close();
      return closing;
    },
  } satisfies Store & SqliteStore;
}

/** A small file at once, a large one meanwhile. What is read before it is through is checked row by row all the same. */
function verify(db: DatabaseSync, files: Files, helper: Helper, settings: Required<SqliteOptions>, guard: Guard): Promise<void> {
  const judge = (problems: readonly string[]): void => {
    if (problems.length === 0) return;
    const damage = new StoreError('damaged', `${files.path} is damaged (${problems.join('; ')}). Restore it from a backup`);
    guard.fail(damage);
    throw damage;
  };
  if (sizeOf(files.path) + sizeOf(files.wal) <= settings.verifyBytesMax) {
    judge(structureProblems(db));
    return Promise.resolve();
  }
  const verified = helper.verify().then(judge);
  verified.catch(() => {});
  return verified;
}

function highestKeyIn(batch: readonly Write[]): number {
  let highest = 0;
  for (const write of batch) if (write.kind === 'task' && write.row.key > highest) highest = write.row.key;
  return highest;
}
