import { existsSync, statSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { syncFolder } from '../../../engine/adapters/sync-folder.ts';
import { ConfigError } from '../../config/read-value.ts';
import { isWithin, makeFolder } from '../folders.ts';
import { DATABASE, databaseProblem, MANIFEST, readManifest } from './manifest.ts';
import type { BackupPlace, PlacedBackup } from './place.ts';
import { isWhole, severalWords } from './place.ts';
import { verifyBackup } from './restore.ts';

/** A folder that is being written. */
const PART = '.part';

/** Backups as folders in a folder, which is created with the first one. */
export function folderPlace(to: string, data: string): BackupPlace {
  const root = resolve(to);
  if (isWithin(data, root)) throw new ConfigError(`backup.to: ${to} is inside the data folder; choose a folder elsewhere, on another disk`);
  return {
    shown: root,
    list: () => backupsIn(root),
    write: async (name, copy, signal) => {
      const [part, whole] = [join(root, `${name}${PART}`), join(root, name)];
      makeFolder(part);
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
    .map(({ name }) => {
      const isComplete = !name.endsWith(PART) && existsSync(join(root, name, MANIFEST));
      return { name, isComplete, ...(isComplete ? { problem: problemOf(join(root, name)) } : {}) };
    });
}

function problemOf(folder: string): string | undefined {
  try {
    return databaseProblem(readManifest(folder), statSync(join(folder, DATABASE), { throwIfNoEntry: false })?.size);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Throws a ConfigError if the folder is the place of several backups, instead of one of them. */
export async function refusePlaceOfBackups(folder: string): Promise<void> {
  if (existsSync(join(folder, MANIFEST))) return;
  const names = (await backupsIn(folder)).filter(isWhole).map(({ name }) => name);
  if (names.length > 0) throw new ConfigError(severalWords(folder, names));
}
