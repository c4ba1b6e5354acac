import { constants, readdirSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { SqliteStore } from '../../../engine/adapters/sqlite.ts';
import { ConfigError } from '../../config/read-value.ts';
import { apiKeysFile } from '../api-keys-file.ts';
import { DATA_NOTE } from '../data-note.ts';
import { emptyAgain, isWithin, makeFolder } from '../folders.ts';
import { checkCopy } from './check-copy.ts';
import type { BackupManifest } from './manifest.ts';
import { API_KEYS, describeFiles, filesBelow, MANIFEST } from './manifest.ts';

/** What is backed up: an open store and the folders around it. */
export interface BackupSource {
  readonly store: Pick<SqliteStore, 'backup'>;
  /** The data folder. */
  readonly folder: string;
  /** The folder of the API keys. */
  readonly authFolder: string;
  /** The version of Parley. */
  readonly version: string;
}

/** How a backup is followed and stopped. */
export interface BackupOptions {
  readonly onProgress?: (progress: BackupProgress) => void;
  readonly signal?: AbortSignal | undefined;
}

/** How far a backup is. */
export interface BackupProgress {
  readonly step: 'files' | 'database' | 'checking';
  readonly done: number;
  readonly total: number;
}

/** Files of the data folder that are not copied as they are: the store has its own way, and the others belong to a running process. */
const NOT_COPIED = /^(?:tasks\.db.*|audit\.jsonl|.*\.lock|.*\.new)$/;

/** Backs up a node that may be running, to a folder outside of its data that is new or empty. */
export async function backUp(source: BackupSource, to: string, options: BackupOptions = {}): Promise<BackupManifest> {
  const { folder, created } = emptyFolder(to, source.folder);
  try {
    return await copyAll(source, folder, options);
  } catch (thrown) {
    await emptyAgain(folder, created);
    throw thrown;
  }
}

/**
 * Copies database, blobs, keys and audit log to an empty folder. The database is copied between two passes over the blobs, so that every
 * blob that it names is there. The copy is then read completely.
 */
export async function copyAll(source: BackupSource, folder: string, options: BackupOptions = {}): Promise<BackupManifest> {
  const { onProgress = () => {}, signal } = options;
  const [blobs, copies] = [join(source.folder, 'blobs'), join(folder, 'blobs')];
  await copyNew(blobs, copies, options);
  signal?.throwIfAborted();
  await source.store.backup(join(folder, 'tasks.db'), ({ pages, pagesTotal }) =>
    onProgress({ step: 'database', done: pages, total: pagesTotal }),
  );
  await copyNew(blobs, copies, options);
  await copySmallFiles(source, folder);
  const found = await inspectCopy(folder, options);
  const manifest: BackupManifest = {
    format: 'parley-backup-1',
    at: new Date().toISOString(),
    version: source.version,
    ...found,
    files: await describeFiles(folder),
  };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true, flag: 'wx' });
  return manifest;
}

/** Creates the folder, or takes an empty one. */
function emptyFolder(to: string, data: string): { readonly folder: string; readonly created: readonly string[] } {
  if (isWithin(data, to)) throw new ConfigError(`${to} is inside the data folder; choose a folder elsewhere`);
  const folder = resolve(to);
  const created = makeFolder(folder);
  if (readdirSync(folder).length > 0) throw new ConfigError(`${to} is not empty; choose a new folder for each backup`);
  return { folder, created };
}

/** Copies files that the other folder does not have. Blobs never change. A file that is deleted meanwhile belongs to a deleted task. */
async function copyNew(from: string, to: string, { onProgress = () => {}, signal }: BackupOptions): Promise<void> {
  const known = new Set(await filesBelow(to));
  const wanted = (await filesBelow(from)).filter((path) => !known.has(path) && !path.endsWith('.part'));
  for (const [at, path] of wanted.entries()) {
    signal?.throwIfAborted();
    await copyIfThere(join(from, path), join(to, path));
    onProgress({ step: 'files', done: at + 1, total: wanted.length });
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}

/** The keys of the node, its other small files, its audit log up to the last whole record, and the API keys. */
async function copySmallFiles({ folder: data, authFolder }: BackupSource, folder: string): Promise<void> {
  for (const entry of await readdir(data, { withFileTypes: true })) {
    if (entry.isFile() && entry.name !== DATA_NOTE && !NOT_COPIED.test(entry.name))
      await copyIfThere(join(data, entry.name), join(folder, entry.name));
  }
  await copyAudit(data, folder);
  await copyIfThere(apiKeysFile(authFolder), join(folder, API_KEYS));
}

/** If the log moves to a new file meanwhile, its current file is read again. Full files that are deleted meanwhile are not needed. */
async function copyAudit(data: string, folder: string): Promise<void> {
  const [full, copies] = [join(data, 'audit'), join(folder, 'audit')];
  for (let before: readonly string[] | undefined; ; ) {
    const names = await filesBelow(full);
    if (before !== undefined && names.every((name) => before?.includes(name))) return;
    before = names;
    for (const name of names) await copyIfThere(join(full, name), join(copies, name));
    const log = await readFile(join(data, 'audit.jsonl')).catch((thrown: unknown) => {
      if (isMissing(thrown)) return Buffer.alloc(0);
      throw thrown;
    });
    const copy = join(folder, 'audit.jsonl');
    if (log.length === 0) await rm(copy, { force: true });
    else await writeFile(copy, log.subarray(0, log.lastIndexOf('\n') + 1), { mode: 0o600, flush: true });
  }
}

/** A file that is gone by now is not needed. */
async function copyIfThere(from: string, to: string): Promise<void> {
  await copyDurably(from, to).catch((thrown: unknown) => {
    if (!isMissing(thrown)) throw thrown;
  });
}

async function copyDurably(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  const file = await open(to, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads every task of the copy. An incomplete task was incomplete before: blobs are copied before and after the database. */
async function inspectCopy(
  folder: string,
  { onProgress = () => {}, signal }: BackupOptions,
): Promise<Pick<BackupManifest, 'store' | 'tasks' | 'damaged'>> {
  const onTask = (done: number, total: number): void => onProgress({ step: 'checking', done, total });
  const { store, quarantined, verdict } = await checkCopy(folder, { onTask, signal });
  return { store, tasks: verdict.tasks, damaged: [...quarantined, ...verdict.damaged.map(({ id }) => id)] };
}
