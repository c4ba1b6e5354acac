import { readdirSync } from 'node:fs';
import { chmod, copyFile, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { TasksVerdict } from '#engine';
import { ConfigError } from '../../config/read-value.ts';
import { apiKeysFile } from '../api-keys-file.ts';
import { noteRestored } from '../data-note.ts';
import { emptyAgain, isThere, isWithin, makeFolder } from '../folders.ts';
import type { CheckOptions } from './check-copy.ts';
import { checkCopy } from './check-copy.ts';
import type { BackupManifest } from './manifest.ts';
import { API_KEYS, changedFiles, readManifest } from './manifest.ts';

/** A checked backup. */
export interface BackupVerdict {
  readonly manifest: BackupManifest;
  readonly tasks: TasksVerdict;
}

/** Checks the files of a backup against its manifest, and reads every task. Throws a ConfigError if something was changed. */
export async function verifyBackup(folder: string, options: CheckOptions = {}): Promise<BackupVerdict> {
  const manifest = readManifest(folder);
  const problems = await changedFiles(folder, manifest);
  if (problems.length > 0) throw new ConfigError(`the backup ${folder} is damaged: ${listed(problems)}`);
  const { verdict } = await checkCopy(folder, options);
  return { manifest, tasks: verdict };
}

const SHOWN = 5;

function listed(problems: readonly string[]): string {
  const more = problems.length - SHOWN;
  return `${problems.slice(0, SHOWN).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** What `restore` did. */
export interface Restored extends BackupVerdict {
  /** False if the folder for keys had some already; they were kept. Undefined if the backup has none. */
  readonly hasRestoredApiKeys?: boolean;
}

/** Checks a backup and copies it to a new data folder. Nothing is overwritten. A restore that fails leaves nothing. */
export async function restore(
  from: string,
  to: { readonly folder: string; readonly authFolder: string },
  options: CheckOptions = {},
): Promise<Restored> {
  const folder = resolve(to.folder);
  for (const place of [folder, to.authFolder])
    if (isWithin(from, place)) throw new ConfigError(`${place} is in the backup itself; restore to a folder elsewhere`);
  if (isThere(folder) && readdirSync(folder).length > 0)
    throw new ConfigError(`${to.folder} is not empty; restore to a new folder, or move the old one away first`);
  const verdict = await verifyBackup(from, options);
  const created = makeFolder(folder);
  try {
    return await copyFiles(from, to, { verdict, signal: options.signal });
  } catch (thrown) {
    await emptyAgain(folder, created);
    throw thrown;
  }
}

async function copyFiles(
  from: string,
  to: { readonly folder: string; readonly authFolder: string },
  { verdict, signal }: { readonly verdict: BackupVerdict; readonly signal: AbortSignal | undefined },
): Promise<Restored> {
  const files = verdict.manifest.files.map(({ path }) => path);
  // The database last: a restore that was interrupted leaves a folder without one, and no node starts with half of the files.
  for (const path of files.filter((name) => !name.startsWith('auth/')).toSorted((a, b) => rank(a) - rank(b))) {
    signal?.throwIfAborted();
    await copyTo(join(from, path), join(resolve(to.folder), path));
  }
  noteRestored(resolve(to.folder));
  if (!files.includes(API_KEYS)) return verdict;
  const keys = apiKeysFile(to.authFolder);
  const isFree = !isThere(keys);
  if (isFree) await copyTo(join(from, API_KEYS), keys);
  return { ...verdict, hasRestoredApiKeys: isFree };
}

function rank(path: string): number {
  return path === 'tasks.db' ? 1 : 0;
}

async function copyTo(from: string, to: string): Promise<void> {
  makeFolder(dirname(to));
  await copyFile(from, to);
  await chmod(to, 0o600);
  const file = await open(to, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
