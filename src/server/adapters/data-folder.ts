import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, renameSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { openBlobs } from '../../engine/adapters/blobs.ts';
import type { AcceptedLoss, SqliteStore } from '../../engine/adapters/sqlite.ts';
import { openSqliteStore } from '../../engine/adapters/sqlite.ts';
import { pathName } from '../agents/served-agent.ts';
import { ConfigError } from '../config/read-value.ts';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../observability/log.ts';
import type { ServingOptions } from '../options.ts';
import type { NodeBackups } from './backup/backups.ts';
import { createBackups } from './backup/backups.ts';
import { configFileIn } from './config-file.ts';
import { instanceOf, noteServed, refuseCutRestored } from './data-note.ts';
import { refuseWritableByOthers } from './folder-modes.ts';
import { makeFolder } from './folders.ts';
import { openKeys } from './node-keys-file.ts';
import { packageVersion } from './package-version.ts';
import type { NodeReplica } from './replicas/replica.ts';
import { authFolder } from './secret-files.ts';
import { storeStats } from './store-stats.ts';

/**
 * The folder for application data on this platform: XDG on Linux, the system's own folder on macOS and
 * Windows.
 */
export function dataHome(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform, home: string = homedir()): string {
  const { XDG_DATA_HOME: xdg, LOCALAPPDATA: local } = env;
  // The XDG Base Directory Specification says to ignore relative paths.
  if (xdg?.startsWith('/') === true) return join(xdg, 'parley');
  if (platform === 'darwin') return join(home, 'Library/Application Support/parley');
  if (platform === 'win32') return join(local ?? join(home, 'AppData/Local'), 'parley');
  return join(home, '.local/share/parley');
}

/** A folder with one of these, or with a configuration file, is a project. */
const PROJECT_FILES = ['package.json', '.git'];

/**
 * The data folder: the configured one, or the one of the project that the command is started in. Outside
 * of every project that is the current folder, and in the home folder it is `default`. Which agents are
 * served makes no difference.
 */
export function dataFolder(data: string | undefined, cwd: string = process.cwd()): string {
  if (data !== undefined) return data;
  const here = realpathSync(cwd);
  const root = projectRoot(here) ?? here;
  const name = isHome(root) ? 'default' : `${pathName(basename(root)) || 'project'}-${hashOf(root)}`;
  return join(dataHome(process.env, process.platform), name);
}

/** The nearest folder above that is a project. The home folder is none, even if it has such a file. */
function projectRoot(folder: string): string | undefined {
  if (isHome(folder)) return undefined;
  const isProject = configFileIn(folder) !== undefined || PROJECT_FILES.some((name) => existsSync(join(folder, name)));
  return isProject ? folder : projectRoot(dirname(folder));
}

function isHome(folder: string): boolean {
  return folder === homedir() || folder === dirname(folder);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/**
 * Until 0.1.0 each set of agents had a folder of its own. The first start with such agents makes it the
 * folder of the project. If the project has a folder already, the log says where the older tasks are.
 */
export function adoptOldFolder(folder: string, { sources, isInUse, log }: OldFolder): void {
  const old = join(dataHome(process.env, process.platform), folderFor(sources));
  if (old === folder || !existsSync(join(old, 'tasks.db'))) return;
  if (existsSync(join(folder, 'tasks.db')) || isInUse(old)) {
    log.info(`older tasks of these agents are in ${old}; to serve them, start with --data ${old}`);
    return;
  }
  makeFolder(dirname(folder));
  renameSync(old, folder);
  log.info(`the tasks of these agents were in ${old}, and are in ${folder} now`);
}

interface OldFolder {
  /** What the agents were named as on the command line; files with their path. */
  readonly sources: readonly string[];
  /** Whether a node uses that folder now. */
  readonly isInUse: (folder: string) => boolean;
  readonly log: Pick<Log, 'info'>;
}

/** A folder name for these agents, or for a gateway. */
export function folderFor(sources: readonly string[]): string {
  const name = pathName(sources.map((source) => source.replace(/^.*[/\\]/, '').replace(/\.[cm]?[jt]s$/, '')).join('-'));
  const isPlain = sources.every((source) => !/[/\\]/.test(source));
  return isPlain ? name : `${name}-${hashOf(sources.join('\n'))}`;
}

/** Where people find this node. A port that the system chooses is not known yet. */
export function addressOf({ url, port, host = '' }: Partial<Pick<Settings, 'url' | 'host' | 'port'>>): string {
  return url ?? (port === undefined || port === 0 ? `process ${process.pid} on ${hostname()}` : `http://${host}:${port}`);
}

/** What a data folder holds, opened. */
type OpenedData = Required<Pick<ServingOptions, 'store' | 'blobs' | 'secret' | 'keys' | 'backups'>> &
  Pick<ServingOptions, 'storeFiles' | 'storeProblem' | 'callerCounts'> & { readonly local?: LocalStore };

/** A store in files of this machine. */
export interface LocalStore {
  /** The random id that names its backups. */
  readonly store: string;
  readonly backups: NodeBackups;
}

/** Opens the folder with everything that outlives the process: tasks, files and keys. */
export async function openData(
  folder: string,
  log: Log,
  {
    acceptLoss = false,
    search = true,
    authFolder: named,
    store: url,
    blobs: blobsPlace,
    storeLeaseMs = 10_000,
    limits = {},
    ...address
  }: Partial<
    Pick<Settings, 'acceptLoss' | 'search' | 'authFolder' | 'store' | 'blobs' | 'storeLeaseMs' | 'limits' | 'url' | 'host' | 'port'>
  > = {},
  replica?: NodeReplica,
): Promise<OpenedData> {
  const path = resolve(folder);
  makeFolder(path);
  for (const each of [path, ...readdirSync(path).map((name) => join(path, name))]) refuseWritableByOthers(each);
  const auth = authFolder(named);
  if (url !== undefined) {
    noteServed(path, auth);
    const { openPostgresData } = await import('./postgres-data.ts');
    return await openPostgresData(
      { url, blobs: blobsPlace, folder: path, leaseMs: storeLeaseMs, search, acceptLoss, limits, nodeUrl: addressOf(address), replica },
      log,
    );
  }
  if (blobsPlace !== undefined)
    throw new ConfigError(
      'blobs works with a Postgres database only: SQLite keeps large content in the data folder. Remove it, or set store',
    );
  const store = openStore(path, { acceptLoss, search }, log);
  // This process holds the store's lock, so no other process creates keys at the same time.
  const keys = await openKeys(path).catch(async (thrown: unknown) => {
    await store.close();
    throw thrown;
  });
  const blobs = openBlobs(join(path, 'blobs'));
  const swept = await blobs.sweep((task) => store.has(task));
  if (swept > 0) log.info('removed files that belong to no task', { files: swept });
  noteServed(path, auth);
  const backups = createBackups({ store, folder: path, authFolder: auth, version: packageVersion() }, log);
  const storeFiles = { stats: () => storeStats(path, store), compact: async () => void (await store.compact?.()) };
  return { store, blobs, secret: store.secret, keys, backups, storeFiles, local: { store: instanceOf(path, store.id), backups } };
}

/** Opens the database. Logs what is missing in it, if the operator has accepted that with `--accept-loss`. */
function openStore(
  folder: string,
  { acceptLoss, search }: Pick<Settings, 'search'> & { readonly acceptLoss: boolean },
  log: Log,
): SqliteStore {
  const losses: AcceptedLoss[] = [];
  try {
    refuseCutRestored(folder);
  } catch (thrown) {
    if (!acceptLoss || !(thrown instanceof Error)) throw thrown;
    losses.push({ missing: [thrown.message] });
  }
  const report = (what: string, cause: unknown): void => log.error(what, cause);
  const onAcceptedLoss = (loss: AcceptedLoss): void => void losses.push(loss);
  const store = openSqliteStore(join(folder, 'tasks.db'), { report, acceptLoss, onAcceptedLoss, search });
  for (const { missing, since } of losses)
    log.warn('the node continues without lost commits (--accept-loss): tasks and changes after the newest record are missing', {
      missing: [...missing],
      newestRecord: since?.toISOString(),
    });
  if (acceptLoss && losses.length === 0)
    log.warn('--accept-loss is set, and nothing is missing: remove it, or a later loss is accepted without an error');
  return store;
}
