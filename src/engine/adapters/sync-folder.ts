import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';

/** Makes new, renamed and deleted files of a folder durable. Windows can't sync a folder. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await handle.sync();
  } finally {
    await handle?.close();
  }
}
