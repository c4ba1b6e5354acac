import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { taskKey } from '#engine';
import { codeOfError } from '#protocol';
import type { ListContent, StoredContent } from './content-sweep.ts';

/** The content in a folder that several nodes share: `<thousand>/<task>/<name>`. A page for each thousand tasks. */
export function listFolderContent(root: string): ListContent {
  return async function* () {
    const now = await clockOf(root);
    for (const thousand of await namesIn(root)) {
      if (!/^\d+$/.test(thousand)) continue;
      const page: StoredContent[] = [];
      for (const task of await namesIn(join(root, thousand))) {
        if (/^\d+$/.test(task)) page.push(...(await contentOf(join(root, thousand, task), Number(task), now)));
      }
      yield page;
    }
  };
}

async function contentOf(folder: string, task: number, now: number): Promise<readonly StoredContent[]> {
  const found: StoredContent[] = [];
  for (const name of await namesIn(folder)) {
    const file = join(folder, name);
    const written = await stat(file).catch(() => undefined);
    if (written === undefined) continue; // deleted meanwhile
    const remove = async (): Promise<void> => {
      await rm(file, { force: true });
      // Fails if it is not empty.
      await rmdir(folder).catch(() => {});
    };
    found.push({ task: taskKey(task), ageMs: now - written.mtimeMs, isPart: name.endsWith('.part'), remove });
  }
  return found;
}

/** The time of the file server, which may differ from that of this machine. */
async function clockOf(root: string): Promise<number> {
  const file = join(root, `.clock-${randomUUID()}`);
  await writeFile(file, '');
  const { mtimeMs } = await stat(file);
  await rm(file, { force: true });
  return mtimeMs;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((thrown: unknown) => {
    if (codeOfError(thrown) === 'ENOENT' || codeOfError(thrown) === 'ENOTDIR') return [];
    throw thrown;
  });
}
