import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ConfigError } from '../../config/read-value.ts';
import { isThere } from '../folders.ts';

/** The file that makes a folder a backup. It is written last, so a folder with it is complete. */
export const MANIFEST = 'backup.json';

/** The database in a backup. */
export const DATABASE = 'tasks.db';

/** The API keys in a backup. */
export const API_KEYS = 'auth/api-keys.json';

/** What a backup contains. */
export interface BackupManifest {
  readonly format: 'parley-backup-1';
  /** When the backup was made. */
  readonly at: string;
  /** The Parley version that made it. */
  readonly version: string;
  /** Random id of the store, and its number of commits. */
  readonly store: { readonly id: string; readonly commits: number };
  /** The number of tasks, without damaged ones. */
  readonly tasks: number;
  /** Tasks that were damaged already when the backup was made. */
  readonly damaged: readonly string[];
  readonly files: readonly BackupFile[];
}

/** A file of a backup. */
export interface BackupFile {
  /** Relative to the folder of the backup, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a backup has, in numbers. */
export interface BackupSummary {
  readonly tasks: number;
  readonly damagedTasks: number;
  readonly bytes: number;
  readonly apiKeys: boolean;
}

export function summaryOf({ tasks, damaged, files }: BackupManifest): BackupSummary {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { tasks, damagedTasks: damaged.length, bytes, apiKeys: files.some(({ path }) => path === API_KEYS) };
}

/** The description of a backup. Throws a ConfigError if the folder is not a complete one. */
export function readManifest(folder: string): BackupManifest {
  const path = join(folder, MANIFEST);
  if (!isThere(folder)) throw new ConfigError(`there is no folder ${folder}`);
  if (!isThere(path)) throw new ConfigError(`${folder} is not a backup, or one that was not finished: it has no ${MANIFEST}`);
  return parseManifest(() => readFileSync(path, 'utf8'), path);
}

/** Throws a ConfigError, which names the place, if the text is something else. */
export function parseManifest(text: () => string, place: string): BackupManifest {
  let read: unknown;
  try {
    read = JSON.parse(text());
  } catch (thrown) {
    throw new ConfigError(`${place} can't be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  if (isManifest(read)) return read;
  throw new ConfigError(`${place} does not describe a backup that this version of Parley can read`);
}

/** The database of a backup is the file that matters most, and its size is known without reading it. Undefined: it is as described. */
export function databaseProblem({ files }: BackupManifest, found: number | undefined): string | undefined {
  const wanted = files.find(({ path }) => path === DATABASE)?.bytes;
  if (found === undefined) return `${DATABASE} is missing`;
  return found === wanted ? undefined : `${DATABASE} has ${found} bytes, and had ${wanted} when it was written`;
}

function isManifest(value: unknown): value is BackupManifest {
  if (typeof value !== 'object' || value === null) return false;
  const { format, files, store } = value as Partial<BackupManifest>;
  return format === 'parley-backup-1' && store !== undefined && Array.isArray(files) && files.every(isFile);
}

/** Also refuses paths that lead out of the folder: a backup may come from elsewhere. */
function isFile(value: unknown): value is BackupFile {
  if (typeof value !== 'object' || value === null) return false;
  const { path, bytes, sha256 } = value as Partial<BackupFile>;
  const isInside = typeof path === 'string' && path !== '' && !path.split('/').some((name) => name === '' || name === '.' || name === '..');
  return isInside && !/[\\\0]/.test(path) && Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(sha256 ?? '');
}

/** Describes every file of a folder except the manifest. */
export async function describeFiles(folder: string): Promise<readonly BackupFile[]> {
  const files: BackupFile[] = [];
  for (const path of (await filesBelow(folder)).toSorted()) {
    if (path === MANIFEST) continue;
    files.push({ path, bytes: (await stat(join(folder, path))).size, sha256: await hashOf(join(folder, path)) });
  }
  return files;
}

/** The files below a folder, relative to it, with `/`. Links and other special files are left out. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll(sep, '/'),
    );
}

/** Files that differ from the manifest, each with what is wrong. */
export async function changedFiles(folder: string, { files }: BackupManifest): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path, bytes, sha256 } of files) {
    const found = await stat(join(folder, path)).catch(() => undefined);
    if (found === undefined) problems.push(`${path} is missing`);
    else if (found.size !== bytes || (await hashOf(join(folder, path))) !== sha256) problems.push(`${path} was changed`);
  }
  return problems;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
