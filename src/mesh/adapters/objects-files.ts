import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ObjectKey, Objects } from '../artifacts/objects.ts';

/**
 * Stores objects in a folder. A file is written and synced under a temporary name and then linked to
 * its own name, which fails if that exists. So files are always complete and never overwritten.
 * Symbolic links in the folder are not followed.
 */
export function fileObjects(folder: string): Objects {
  const root = resolve(folder);
  const pathOf = (key: string): string => join(root, ...key.split('/'));
  return {
    put: async (key, content) => {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const unfinished = join(root, `.${randomUUID()}.part`);
      await writeFile(unfinished, content, { flush: true, mode: 0o600, flag: 'wx' });
      try {
        await link(unfinished, path);
        await syncFolder(dirname(path));
        return true;
      } catch (thrown) {
        if (codeOf(thrown) === 'EEXIST') return false;
        throw thrown;
      } finally {
        await unlink(unfinished);
      }
    },
    get: async (key) => {
      try {
        const handle = await open(pathOf(key), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        try {
          return (await handle.stat()).isFile() ? new Uint8Array(await handle.readFile()) : undefined;
        } finally {
          await handle.close();
        }
      } catch (thrown) {
        if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(String(codeOf(thrown)))) return undefined;
        throw thrown;
      }
    },
    list: (prefix) => filesUnder(root, prefix),
    delete: async (key) => {
      await rm(pathOf(key), { force: true });
    },
  };
}

/** All files whose key has this prefix. */
async function filesUnder(root: string, prefix: ObjectKey): Promise<readonly string[]> {
  const base = prefix.replace(/\/$/, '');
  const found = await readdir(join(root, ...base.split('/')), { recursive: true, withFileTypes: true }).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR') return [];
    throw thrown;
  });
  const files = found.filter((entry) => entry.isFile());
  return files.map((entry) =>
    join(entry.parentPath, entry.name)
      .slice(root.length + 1)
      .replaceAll('\\', '/'),
  );
}

/** Makes a rename durable. Windows can't sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}
