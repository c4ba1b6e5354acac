import { existsSync, mkdirSync, readdirSync, realpathSync, rmdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Creates a folder and those above it. Returns the folders that it created, the topmost first. Node's own `recursive` asks again and again,
 * without an end, where a file system refuses with ENOENT, as /proc does.
 */
export function makeFolder(path: string, mode = 0o700): readonly string[] {
  const missing = [resolve(path)];
  for (let above = dirname(resolve(path)); !existsSync(above); above = dirname(above)) missing.unshift(above);
  return missing.filter((each) => isMade(each, mode));
}

/** False if another process has created the folder meanwhile. */
function isMade(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (thrown) {
    if (isFolder(path)) return false;
    throw thrown;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Removes what is in a folder that was empty, and of the folders that were created for it those that are empty now. */
export async function emptyAgain(folder: string, created: readonly string[]): Promise<void> {
  for (const name of readdirSync(folder)) await rm(join(folder, name), { recursive: true, force: true });
  for (const each of created.toReversed()) {
    try {
      rmdirSync(each);
    } catch {
      return; // another program has put something there
    }
  }
}

/** Whether there is something at the path. Unlike `existsSync`, this throws if the user may not look there, or if a part of it is a file. */
export function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw thrown;
  }
}

/** Whether a path is the folder or something below it, also by way of links. Neither must exist. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(realPath(folder), realPath(path));
  return way !== '..' && !way.startsWith(`..${sep}`);
}

/** The path without links, as far as it exists. */
export function realPath(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    return dirname(full) === full ? full : join(realPath(dirname(full)), basename(full));
  }
}

/** What is wrong with a file or a folder, for people. Undefined for other errors. */
export function fileProblem(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = '', path: from, dest, syscall } = thrown as NodeJS.ErrnoException & { readonly dest?: string };
  const path = code === 'ENOENT' ? from : (dest ?? from);
  if (path === undefined) return code === 'ENOSPC' ? 'the disk is full (ENOSPC)' : undefined;
  const isWanted = syscall === 'mkdir' || syscall === 'scandir';
  const why: Readonly<Record<string, string>> = {
    EACCES: `${path}: permission denied`,
    EPERM: `${path}: permission denied`,
    EROFS: `${path} is on a read-only disk`,
    ENOSPC: `the disk of ${path} is full`,
    EDQUOT: `the disk quota of ${path} is used up`,
    ENOTDIR: syscall === 'scandir' ? `${path} is a file, not a folder` : `a part of ${path} is a file, not a folder`,
    EEXIST: isWanted ? `${path} is a file, not a folder` : `${path} exists already`,
    EISDIR: `${path} is a folder, not a file`,
    ENOENT: syscall === 'mkdir' ? `no folder can be created at ${path}` : `there is no ${path}`,
    ENAMETOOLONG: `${path.slice(0, 80)}… is too long for a name`,
    ELOOP: `${path} is a link that leads to itself`,
  };
  const words = why[code];
  return words === undefined ? undefined : `${words} (${code})`;
}
