import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { openBlobs } from '../../engine/adapters/blobs.ts';
import { openSqliteStore } from '../../engine/adapters/sqlite.ts';
import { pathName } from '../agents/served-agent.ts';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../observability/log.ts';
import type { ServingOptions } from '../options.ts';
import { createBackups } from './backup/backups.ts';
import { refuseWritableByOthers } from './folder-modes.ts';
import { openKeys } from './node-keys-file.ts';
import { packageVersion } from './package-version.ts';
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

/**
 * The name of the data folder for these agents. The same agents find their tasks again, whatever folder
 * they are served from. Other agents get another folder, because a node fails tasks whose agent it does
 * not have.
 */
export function folderFor(sources: readonly string[]): string {
  const name = pathName(sources.map((source) => source.replace(/^.*[/\\]/, '').replace(/\.[cm]?[jt]s$/, '')).join('-'));
  const isPlain = sources.every((source) => !/[/\\]/.test(source));
  return isPlain ? name : `${name}-${createHash('sha256').update(sources.join('\n')).digest('hex').slice(0, 8)}`;
}

/** What a data folder holds, opened. */
type OpenedData = Required<Pick<ServingOptions, 'store' | 'blobs' | 'secret' | 'keys' | 'backups' | 'storeFiles'>>;

/** Opens the folder with everything that outlives the process: tasks, files and keys. */
export async function openData(
  folder: string,
  log: Log,
  { acceptLoss = false, authFolder: named }: Partial<Pick<Settings, 'acceptLoss' | 'authFolder'>> = {},
): Promise<OpenedData> {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const each of [path, ...readdirSync(path).map((name) => join(path, name))]) refuseWritableByOthers(each);
  const report = (what: string, cause: unknown): void => log.error(what, cause);
  const store = openSqliteStore(join(path, 'tasks.db'), { report, acceptLoss });
  // This process holds the store's lock, so no other process creates keys at the same time.
  const keys = await openKeys(path).catch(async (thrown: unknown) => {
    await store.close();
    throw thrown;
  });
  const blobs = openBlobs(join(path, 'blobs'));
  const swept = await blobs.sweep((task) => store.has(task));
  if (swept > 0) log.info('removed files that belong to no task', { files: swept });
  const backups = createBackups({ store, folder: path, authFolder: authFolder(named), version: packageVersion() }, log);
  const storeFiles = { stats: () => storeStats(path, store), compact: async () => void (await store.compact?.()) };
  return { store, blobs, secret: store.secret, keys, backups, storeFiles };
}
