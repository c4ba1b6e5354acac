import type { Stats } from 'node:fs';
import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../config/read-value.ts';

const OTHERS_WRITE = 0o002;
const GROUP_WRITES = 0o020;
const STICKY = 0o1000;
/** On some file systems, such as Windows drives in WSL, everybody can write everywhere. */
const ELSEWHERE = ' (where that changes nothing, choose folders on another disk with --data and PARLEY_AUTH_FOLDER)';

/**
 * Throws a ConfigError if another user can change what is in the folder or the file, as ssh does for its keys. A folder above it counts
 * too: who can write there can put another folder in its place. Does nothing if the path does not exist, and on Windows.
 */
export function refuseWritableByOthers(path: string): void {
  if (process.platform === 'win32') return;
  const full = resolve(path);
  const stats = statSync(full, { throwIfNoEntry: false });
  if (stats !== undefined) checkOwn(full, stats);
  checkAbove(full);
  // Behind a link there are other folders.
  if (stats !== undefined) checkAbove(realpathSync(full));
}

function checkAbove(full: string): void {
  for (let folder = dirname(full); ; folder = dirname(folder)) {
    const above = statSync(folder, { throwIfNoEntry: false });
    if (above !== undefined && (above.mode & OTHERS_WRITE) !== 0 && (above.mode & STICKY) === 0)
      throw new ConfigError(
        `every user of this machine can replace ${full}, because ${folder} is writable for all; type: chmod o-w ${quoted(folder)}${ELSEWHERE}`,
      );
    if (dirname(folder) === folder) return;
  }
}

function checkOwn(path: string, { mode, uid, gid }: Stats): void {
  const [user, group] = [process.getuid?.() ?? uid, process.getgid?.() ?? gid];
  if ((mode & OTHERS_WRITE) !== 0)
    throw new ConfigError(`every user of this machine can change ${path}; type: chmod go-w ${quoted(path)}${ELSEWHERE}`);
  // Many systems give each user a group of the same name, and folders that this group can write to.
  if ((mode & GROUP_WRITES) !== 0 && gid !== group)
    throw new ConfigError(`the group ${gid}, which is not yours, can change ${path}; type: chmod go-w ${quoted(path)}`);
  if (uid !== user && uid !== 0 && user !== 0)
    throw new ConfigError(
      `${path} belongs to another user (${uid}), who can change it; use a folder of your own, or type: sudo chown -R ${user} ${quoted(path)}`,
    );
}

function quoted(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
