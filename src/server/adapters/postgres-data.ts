import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AdminBackups } from '#protocol';
import { A2AError } from '#protocol';
import type { CopyNote, PostgresOptions, PostgresStore, StoreProblem } from '../../engine/adapters/postgres.ts';
import { isUnverified, openCopyPlace, openPostgresStore, placeOf, urlProblem } from '../../engine/adapters/postgres.ts';
import type { CallerCounts } from '../access/limits/caller-counts.ts';
import { ConfigError } from '../config/read-value.ts';
import type { ServerLimits } from '../limits.ts';
import { DEFAULT_SERVER_LIMITS } from '../limits.ts';
import type { Log } from '../observability/log.ts';
import type { ServingOptions } from '../options.ts';
import type { ListContent } from './content-sweep.ts';
import { keepSweepingContent } from './content-sweep.ts';
import { freshKeys, readKeys } from './node-keys-file.ts';
import type { NodeReplica } from './replicas/replica.ts';
import { openSharedBlobs } from './shared-blobs.ts';
import { shareCounts } from './shared-counts.ts';
import { postgresStats } from './store-stats.ts';

type PostgresData = Required<Pick<ServingOptions, 'store' | 'blobs' | 'secret' | 'keys' | 'backups' | 'storeFiles' | 'storeProblem'>> & {
  readonly callerCounts: CallerCounts;
};

/** Where the data of a node is. */
interface PostgresPlace {
  readonly url: string;
  /** Where large content is. Undefined: in the database. */
  readonly blobs: string | undefined;
  /** The data folder. */
  readonly folder: string;
  readonly leaseMs: number;
  /** Keep a full-text index. */
  readonly search: boolean;
  /** Start on a database that lacks commits after a failover. */
  readonly acceptLoss: boolean;
  readonly limits: Partial<Pick<ServerLimits, 'orphanContentMsMax'>>;
  /** The address of this node, which `parley replicas` lists. */
  readonly nodeUrl: string;
  /** Absent: this is the only node, and refuses to start beside others. */
  readonly replica: NodeReplica | undefined;
}

/** Opens everything that outlives the process in a Postgres database: tasks, large content, and the keys of the node. */
export async function openPostgresData(
  { url, blobs: place, folder, leaseMs, search, acceptLoss, limits, nodeUrl, replica }: PostgresPlace,
  log: Log,
): Promise<PostgresData> {
  const wrong = urlProblem(url);
  if (wrong !== undefined) throw new ConfigError(wrong);
  const { report, onProblem, storeProblem } = reporting(log);
  const joining =
    replica === undefined
      ? {}
      : { share: 'fair' as const, announce: replica.announce.bind(replica), onTakeover: replica.tookOver.bind(replica) };
  const onAcceptedLoss = (missing: string): void =>
    log.warn('the node continues without lost commits (--accept-loss): the database lacks what it had acknowledged', { missing });
  const store = await openPostgresStore(url, { report, leaseMs, search, acceptLoss, onAcceptedLoss, onProblem, url: nodeUrl, ...joining });
  if (isUnverified(url)) log.warn(UNVERIFIED, { database: placeOf(url) });
  try {
    // After this process is registered: a copy that starts now finds it.
    if ((await copyTo(url)) === undefined && existsSync(join(folder, 'tasks.db'))) log.info(NOT_COPIED, { folder });
    const keys = readKeys(await store.sharedSecret('node-keys', await freshKeys()), 'the database');
    const { list, ...blobs } = await openSharedBlobs(place, {
      ...{ id: store.id, blobs: store.blobs },
      onMissing: (task) => log.warn(MISSING, { task, blobs: place ?? 'postgres' }),
    });
    if (list !== undefined)
      sweepBeside(store, list, { olderMs: limits.orphanContentMsMax ?? DEFAULT_SERVER_LIMITS.orphanContentMsMax, log });
    const storeFiles = { stats: () => postgresStats(folder, store), compact: async () => void (await store.compact?.()) };
    const callerCounts = shareCounts(store.usage);
    closeBefore(store, () => callerCounts.close());
    return { store, blobs, secret: store.secret, keys, backups: NO_BACKUPS, storeFiles, callerCounts, storeProblem };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

type Reporting = Required<Pick<PostgresOptions, 'report' | 'onProblem'> & Pick<ServingOptions, 'storeProblem'>>;

/** While the database has to be corrected, the log says that once, and not what fails because of it. */
function reporting(log: Log): Reporting {
  let problem: StoreProblem | undefined;
  return {
    report: (what, cause) => {
      if (problem === undefined) log.warn(what, { problem: cause instanceof Error ? cause.message : String(cause) });
    },
    onProblem: (found) => {
      problem = found;
      if (found === undefined) log.info('the store can be used again');
      else log.error(CORRECT_IT, undefined, { problem: found.advice });
    },
    storeProblem: () => problem?.text,
  };
}

const UNVERIFIED =
  'the connection to the database is encrypted, and the certificate of the server is not verified: write sslmode=verify-full, and sslrootcert=FILE for an authority of your own';
const CORRECT_IT = 'the store can’t be used: requests are refused until somebody has corrected the database';

/** Of several nodes, the one that owns the first cell deletes content without a task. */
function sweepBeside(store: PostgresStore, list: ListContent, { olderMs, log }: { readonly olderMs: number; readonly log: Log }): void {
  const isOurs = (): boolean => store.owned.includes(0);
  const stop = keepSweepingContent(list, { olderMs, existing: (tasks) => store.existing(tasks), isOurs }, log);
  closeBefore(store, async () => stop());
}

/** Does something before a store closes: it still needs the store. */
function closeBefore(store: PostgresStore, work: () => Promise<void>): void {
  const { close } = store;
  Object.assign(store, {
    close: async () => {
      await work();
      await close();
    },
  });
}

/** What was copied to the database, if anything was. Throws a ConfigError while it has only a part of the tasks that are copied to it. */
async function copyTo(url: string): Promise<CopyNote | undefined> {
  const place = await openCopyPlace(url);
  const note = await place.note().finally(() => place.close());
  if (note?.state === 'running')
    throw new ConfigError(
      `the database at ${placeOf(url)} has an unfinished copy of another store (since ${note.at}): run parley store copy again, which continues it`,
    );
  return note;
}

const NOT_COPIED =
  'the data folder has tasks of a node on SQLite, which this node does not serve. To move them, stop all nodes and run parley store copy, while the database is empty';

const MISSING = 'large content of a task is not where this node looks for it; start all nodes on the database with the same --blobs';

const NO_BACKUPS: AdminBackups = {
  last: () => undefined,
  start: () => {
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      'the tasks of this node are in Postgres: back them up with pg_dump, or with the backups of that server',
    );
  },
};
