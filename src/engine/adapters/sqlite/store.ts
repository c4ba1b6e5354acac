import type { DatabaseSync } from 'node:sqlite';
import { checkFile } from './check.ts';
import type { Checkpoints } from './checkpoints.ts';
import { createCheckpoints } from './checkpoints.ts';
import { apply } from './commit.ts';
import { createCommitting } from './committing.ts';
import { mayShareWal, versionOf } from './connection.ts';
import { troubleOf } from './faults.ts';
import type { Files } from './files.ts';
import { createGuard } from './guard.ts';
import type { Helper } from './helper.ts';
import { createHelper } from './helper.ts';
import { createInlineCheckpoints } from './inline-checkpoints.ts';
import type { Lock } from './lock.ts';
import type { Losses } from './losses.ts';
import { quarantineLosses } from './losses.ts';
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
import { createTasks } from './tasks.ts';
import { createTrash } from './trash.ts';
import { createWriting } from './writing.ts';

export interface Opened {
  readonly db: DatabaseSync;
  readonly files: Files;
  readonly lock: Lock;
  readonly meta: Meta;
  readonly losses: Losses;
  readonly settings: Required<SqliteOptions>;
}

/** Puts the parts together. */
export function assemble({ db, files, lock, meta, losses, settings }: Opened): SqliteStore {
  const { report } = settings;
  const guard = createGuard(report);
  const realms = createRealms(db);
  const tally = createTally(db);
  const sends = createSends(db, realms, meta.named);
  const pushes = createPushes(db);
  const tasks = createTasks(db, realms, tally);
  const trash = createTrash(db);
  const quarantine = createQuarantine(db, report);
  const writing = createWriting(db, meta, { realms, tally, names: sends.names });
  const helper = createHelper({ path: files.path, marks: files.marks, store: meta.store, cacheBytes: settings.cacheBytes });
  const verified = checkFile(db, { files, helper, guard, verifyBytesMax: settings.verifyBytesMax });

  quarantineLosses(losses, { writing, quarantine, report });
  const restartMarks = (): void => startMarks(files.marks, meta.store, writing.commits);
  if (losses.isStale) {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    restartMarks();
  }
  const marks = openMarks(files.marks);
  const onFailed = (thrown: unknown): void => {
    if (troubleOf(thrown) === 'full') space.ranOut(thrown);
    else if (troubleOf(thrown) === 'busy') report('a checkpoint had to be put off', thrown);
    else guard.fail(thrown);
  };
  const checkpoints = chooseCheckpoints({
    db,
    files,
    settings,
    helper,
    onFailed,
    commits: () => writing.commits,
    reopen: marks.reopen,
    restartMarks,
  });
  const space = createSpace({ path: files.path, ballastBytes: settings.ballastBytes, onLow: () => void checkpoints.empty('TRUNCATE') });
  const tables = { tasks, sends, pushes };
  const committing = createCommitting({ apply: (write) => apply(write, tables), writing, guard, space, marks, checkpoints, trash, report });
  if (trash.isWaiting()) committing.purgeSoon();

  const close = async (): Promise<void> => {
    committing.stop();
    await checkpoints.close();
    await space.settled();
    await helper.close().catch((thrown: unknown) => report('the store’s thread did not end well', thrown));
    marks.close();
    if (guard.broken === undefined) {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      restartMarks();
    }
    guard.close();
    db.close();
    lock.release();
  };
  let closing: Promise<void> | undefined;

  return {
    ...createReads(db, { guard, realms, tally, sends, pushes, quarantine }),
    commit: committing.commit,
    lastKey: () => writing.lastKey,
    damaged: quarantine.all,
    verified,
    checkpoint: () => checkpoints.empty('TRUNCATE'),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

interface Choice {
  readonly db: DatabaseSync;
  readonly files: Files;
  readonly settings: Required<SqliteOptions>;
  readonly helper: Helper;
  readonly commits: () => number;
  readonly onFailed: (thrown: unknown) => void;
  readonly reopen: () => void;
  readonly restartMarks: () => void;
}

function chooseCheckpoints({ db, files, settings, helper, commits, onFailed, reopen, restartMarks }: Choice): Checkpoints {
  const { walBytes, walBytesMax } = settings;
  if (mayShareWal(versionOf(db))) {
    return createCheckpoints({ db, path: files.path, helper, walBytes, walBytesMax, commits, onEmptied: reopen, onFailed });
  }
  const onEmptied = (): void => {
    restartMarks();
    reopen();
  };
  return createInlineCheckpoints({ db, path: files.path, walBytes, onEmptied });
}
