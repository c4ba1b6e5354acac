import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { openBlobs } from '../../engine/adapters/blobs.ts';
import { openSqliteStore } from '../../engine/adapters/sqlite.ts';
import { pathName } from '../agents/served-agent.ts';
import type { Log } from '../observability/log.ts';
import type { ServingOptions } from '../options.ts';
import { openKeys } from './node-keys-file.ts';

/** Where programs keep data on this platform: XDG on Linux and the like, otherwise what the system has for it. */
export function dataHome(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform, home: string = homedir()): string {
  const { XDG_DATA_HOME: xdg, LOCALAPPDATA: local } = env;
  // A relative path in it is to be ignored (XDG Base Directory Specification).
  if (xdg?.startsWith('/') === true) return join(xdg, 'parley');
  if (platform === 'darwin') return join(home, 'Library/Application Support/parley');
  if (platform === 'win32') return join(local ?? join(home, 'AppData/Local'), 'parley');
  return join(home, '.local/share/parley');
}

/**
 * The folder for these agents: the same agents find their tasks again wherever they are served from, and others do not find them, for a
 * task whose agent is not there would be given up.
 */
export function folderFor(sources: readonly string[]): string {
  const name = pathName(sources.map((source) => source.replace(/^.*[/\\]/, '').replace(/\.[cm]?[jt]s$/, '')).join('-'));
  const isPlain = sources.every((source) => !/[/\\]/.test(source));
  return isPlain ? name : `${name}-${createHash('sha256').update(sources.join('\n')).digest('hex').slice(0, 8)}`;
}

/** A folder with everything that outlives the process. */
export async function openData(folder: string, log: Log): Promise<Required<Pick<ServingOptions, 'store' | 'blobs' | 'secret' | 'keys'>>> {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const report = (what: string, cause: unknown): void => log.error(what, cause);
  const store = openSqliteStore(join(path, 'tasks.db'), { report });
  // The store's lock is held: no other process makes keys meanwhile.
  const keys = await openKeys(path).catch(async (thrown: unknown) => {
    await store.close();
    throw thrown;
  });
  const blobs = openBlobs(join(path, 'blobs'));
  const swept = await blobs.sweep((task) => store.has(task));
  if (swept > 0) log.info('files without a task were removed', { files: swept });
  return { store, blobs, secret: store.secret, keys };
}
