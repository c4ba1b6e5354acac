import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { A2AError } from '#protocol';

export interface Folders {
  /** Where a request works that says nothing. */
  readonly home: string;
  /** A request may work in any of these, or below. Default: `home` alone. */
  readonly roots?: readonly string[];
}

/**
 * The folder that a request may work in: inside an allowed root once every symbolic link is resolved. What is outside and what does
 * not exist are told apart to nobody.
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

/** Both must be resolved already. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function refused(): A2AError {
  return new A2AError('INVALID_PARAMS', 'cwd is not a folder that this agent may work in', { field: 'message.metadata.cwd' });
}
