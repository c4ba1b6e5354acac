import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { checkFile } from './check.ts';
import type { Checkpoints } from './checkpoints.ts';
import { createCheckpoints } from './checkpoints.ts';
import type { Tables } from './commit.ts';
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
import type { Marks } from './marks.ts';
import { openMarks, startMarks } from './marks.ts';
import type { Meta } from './open.ts';
import type { SqliteOptions, SqliteStore } from './options.ts';
import { createOutbox } from './outbox.ts';
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
  const { report, ballastBytes, verifyBytesMax, cacheBytes } = settings;
  const guard = createGuard(report);
  const tables = createTables(db, meta);
  const quarantine = createQuarantine(db, report);
  const writing = createWriting(db, meta, { ...tables, names: tables.sends.names });
  const helper = createHelper({ path: files.path, marks: files.marks, store: meta.store, cacheBytes });
  const verified = checkFile(db, { files, helper, guard, verifyBytesMax });

  quarantineLosses(losses, { writing, quarantine, report });
  const restartMarks = (): void => startMarks(files.marks, meta.store, writing.commits);
  const empty = (): void => {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    restartMarks();
  };
  if (losses.isStale) empty();
  const marks = openMarks(files.marks);
  const onCheckpointFailed = (thrown: unknown): void => {
    if (troubleOf(thrown) === 'full') space.ranOut(thrown);
    else if (troubleOf(thrown) === 'busy') report('a checkpoint had to be put off', thrown);
    else guard.fail(thrown);
  };
  const commits = (): number => writing.commits;
  const checkpoints = chooseCheckpoints({ db, files, settings, helper, commits, onFailed: onCheckpointFailed, marks, restartMarks });
  const space = createSpace({ path: files.path, ballastBytes, onLow: () => void checkpoints.empty('TRUNCATE') });
  const committing = createCommitting({ tables, writing, guard, space, marks, checkpoints, onCheckpointFailed, report });

  const close = async (): Promise<void> => {
    committing.stop();
    await checkpoints.close();
    await space.settled();
    await helper.close().catch((thrown: unknown) => report('the store’s thread did not end well', thrown));
    marks.close();
    if (guard.broken === undefined) empty();
    guard.close();
    db.close();
    lock.release();
  };
  let closing: Promise<void> | undefined;

  return {
    ...createReads(db, { ...tables, guard, quarantine }),
    commit: committing.commit,
    lastKey: () => writing.lastKey,
    damaged: quarantine.all,
    verified,
    secret: new Uint8Array(hash('sha256', `page tokens of ${meta.store}`, 'buffer')),
    checkpoint: () => checkpoints.empty('TRUNCATE'),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function createTables(db: DatabaseSync, meta: Meta): Tables {
  const realms = createRealms(db);
  const tally = createTally(db);
  return {
    realms,
    tally,
    tasks: createTasks(db, realms, tally),
    sends: createSends(db, realms, meta.named),
    pushes: createPushes(db),
    outbox: createOutbox(db),
    trash: createTrash(db),
  };
}

interface Choice {
  readonly db: DatabaseSync;
  readonly files: Files;
  readonly settings: Required<SqliteOptions>;
  readonly helper: Helper;
  readonly commits: () => number;
  readonly onFailed: (thrown: unknown) => void;
  readonly marks: Marks;
  readonly restartMarks: () => void;
}

function chooseCheckpoints({ db, files, settings, helper, commits, onFailed, marks, restartMarks }: Choice): Checkpoints {
  const { walBytes, walBytesMax } = settings;
  if (mayShareWal(versionOf(db))) {
    return createCheckpoints({ db, path: files.path, helper, walBytes, walBytesMax, commits, onEmptied: marks.reopen, onFailed });
  }
  const onEmptied = (): void => {
    restartMarks();
    marks.reopen();
  };
  return createInlineCheckpoints({ db, path: files.path, walBytes, onEmptied });
}
