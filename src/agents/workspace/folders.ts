import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { A2AError } from '#protocol';

/** Where an agent may work. */
export interface Folders {
  /** The folder of requests that choose none. */
  readonly home: string;
  /** Requests may work in these folders and below. Default: only `home`. */
  readonly roots?: readonly string[];
}

/**
 * The folder of a request. It must be inside an allowed root after every symbolic link is resolved. A
 * folder outside and one that does not exist get the same error.
 */
export async function folderFor({ home, roots = [home] }: Folders, wanted: string | undefined): Promise<string> {
  const given = wanted ?? home;
  if (given.includes('\0')) throw refused();
  const path = await realpath(isAbsolute(given) ? given : resolve(home, given)).catch(() => undefined);
  const allowed = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  if (path === undefined || !allowed.some((root) => root !== undefined && isInside(path, root))) throw refused();
  if (!(await stat(path)).isDirectory()) throw refused();
  return path;
}

/** Both paths must be resolved. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function refused(): A2AError {
  return new A2AError('INVALID_PARAMS', 'cwd is not a folder that this agent may work in', { field: 'message.metadata.cwd' });
}
