import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { syncFolder } from '../../../engine/adapters/sync-folder.ts';
import { ConfigError } from '../../config/read-value.ts';
import { MANIFEST } from './manifest.ts';
import type { BackupPlace, PlacedBackup } from './place.ts';
import { severalWords } from './place.ts';
import { verifyBackup } from './restore.ts';

/** A folder that is being written. */
const PART = '.part';

/** Backups as folders in a folder, which is created with the first one. */
export function folderPlace(to: string, data: string): BackupPlace {
  const root = resolve(to);
  const inside = relative(resolve(data), root);
  if (inside === '' || !inside.startsWith('..'))
    throw new ConfigError(`backup.to: ${to} is inside the data folder; choose a folder elsewhere, on another disk`);
  return {
    shown: root,
    list: () => backupsIn(root),
    write: async (name, copy, signal) => {
      const [part, whole] = [join(root, `${name}${PART}`), join(root, name)];
      await mkdir(part, { recursive: true, mode: 0o700 });
      try {
        const manifest = await copy(part);
        await verifyBackup(part, { signal });
        await syncFolder(part);
        await rename(part, whole);
        await syncFolder(root);
        return manifest;
      } catch (thrown) {
        await rm(part, { recursive: true, force: true });
        throw thrown;
      }
    },
    remove: async (name) => {
      const folder = join(root, name);
      await rm(join(folder, MANIFEST), { force: true });
      await syncFolder(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function backupsIn(root: string): Promise<readonly PlacedBackup[]> {
  const entries = existsSync(root) ? await readdir(root, { withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, isComplete: !name.endsWith(PART) && existsSync(join(root, name, MANIFEST)) }));
}

/** Throws a ConfigError if the folder is the place of several backups, instead of one of them. */
export async function refusePlaceOfBackups(folder: string): Promise<void> {
  if (existsSync(join(folder, MANIFEST))) return;
  const names = (await backupsIn(folder)).filter(({ isComplete }) => isComplete).map(({ name }) => name);
  if (names.length > 0) throw new ConfigError(severalWords(folder, names));
}
