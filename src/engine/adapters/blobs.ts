import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { A2AError } from '#protocol';
import type { Blobs, MaybePromise, TaskKey } from '../ports.ts';
import { taskKey } from '../ports.ts';
import { syncFolder } from './sync-folder.ts';

/**
 * Large content as files: `<thousand>/<task>/<name>`. A file is written and synced under another name
 * and then renamed, so it is complete whenever it exists. Its folder is synced before `put` returns.
 * `sweep` removes what a crash leaves behind.
 */
export interface FileBlobs extends Blobs {
  /**
   * Removes incomplete files, and files of tasks that do not exist. Must be called before the engine
   * starts. Returns the number removed.
   */
  sweep(isThere: (task: TaskKey) => MaybePromise<boolean>): Promise<number>;
}

const NAME = /^[0-9a-f]{16,128}$/;
const UNFINISHED = '.part';

/**
 * Stores large content in a folder, which belongs to one store. The folder is created with the first
 * content.
 *
 * ```ts
 * const engine = createEngine({ store, blobs: openBlobs('data/blobs'), agents });
 * ```
 */
export function openBlobs(folder: string): FileBlobs {
  const root = resolve(folder);
  const folderOf = (task: TaskKey): string => join(root, String(Math.floor(task / 1000)), String(task));

  return {
    put: async (task, name, content) => {
      const place = join(folderOf(task), checked(name));
      try {
        await makeFolder(dirname(place), root);
        if (!(await exists(place))) await writeWhole(place, content);
        await syncFolder(dirname(place));
      } catch (thrown) {
        throw codeOf(thrown) === 'ENOSPC' ? new A2AError('UNAVAILABLE', 'the disk is full', { retryAfterMs: 1000, cause: thrown }) : thrown;
      }
    },
    get: async (task, name) => {
      try {
        return await readFile(join(folderOf(task), checked(name)));
      } catch (thrown) {
        if (codeOf(thrown) === 'ENOENT') return undefined;
        throw thrown;
      }
    },
    forget: async (task) => {
      await rm(folderOf(task), { recursive: true, force: true });
    },
    sweep: async (isThere) => {
      let removed = 0;
      for (const thousand of await namesIn(root)) {
        for (const task of await namesIn(join(root, thousand))) {
          removed += await sweepTask(join(root, thousand, task), await isThere(taskKey(Number(task))));
        }
        // Fails if it is not empty.
        await rmdir(join(root, thousand)).catch(() => {});
      }
      return removed;
    },
  };
}

/**
 * Writes and syncs the content under a temporary name, then renames it: the final name never has a part
 * of it.
 */
async function writeWhole(place: string, content: Uint8Array): Promise<void> {
  const unfinished = `${place}.${randomUUID()}${UNFINISHED}`;
  try {
    await writeFile(unfinished, content, { flush: true });
    await rename(unfinished, place);
  } catch (thrown) {
    // On a full disk the incomplete file would keep the disk full.
    await rm(unfinished, { force: true });
    throw thrown;
  }
}

/**
 * Removes the folder of a deleted task, or the incomplete files in the folder of an existing one.
 * Returns the number of removed items.
 */
async function sweepTask(folder: string, isThere: boolean): Promise<number> {
  if (!isThere) {
    await rm(folder, { recursive: true, force: true });
    return 1;
  }
  const unfinished = (await namesIn(folder)).filter((name) => name.endsWith(UNFINISHED));
  for (const name of unfinished) await rm(join(folder, name), { force: true });
  return unfinished.length;
}

/** The engine uses hashes as names. Other names are rejected, because they become part of a path. */
function checked(name: string): string {
  if (!NAME.test(name))
    throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`${JSON.stringify(name)} is not a valid name of a blob`) });
  return name;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Creates a folder durably: its parent folders are synced too. */
async function makeFolder(folder: string, root: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let above = dirname(folder); above.length >= dirname(root).length; above = dirname(above)) {
    await syncFolder(above);
    if (above === dirname(above)) break;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR') return [];
    throw thrown;
  });
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}
