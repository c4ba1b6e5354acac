import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import { fileInside, isInside } from '../workspace/folders.ts';

const FILE_BYTES_MAX = 16 * 1_048_576;

/** Reads lines of a text file of the working folder. We are not confined as the agent is: so it gets nothing that it could not read. */
export async function readText(folder: string, path: string, { line, limit }: LineRange): Promise<string> {
  const file = await openInside(folder, path, constants.O_RDONLY);
  try {
    if ((await file.stat()).size > FILE_BYTES_MAX) throw refusal(path, 'is too large');
    const text = await file.readFile('utf8');
    if (line === undefined && limit === undefined) return text;
    const from = Math.max(0, (line ?? 1) - 1);
    return text
      .split('\n')
      .slice(from, limit === undefined ? undefined : from + limit)
      .join('\n');
  } finally {
    await file.close();
  }
}

interface LineRange {
  readonly line: number | undefined;
  readonly limit: number | undefined;
}

export async function writeText(folder: string, path: string, content: string): Promise<void> {
  const target = await fileInside(folder, path);
  if (target === undefined) throw refusal(path, 'is outside of the working folder');
  await mkdir(dirname(target), { recursive: true });
  // Not truncated by opening: what is opened is looked at first.
  const file = await openInside(folder, target, constants.O_WRONLY | constants.O_CREAT);
  try {
    await file.truncate(0);
    await file.writeFile(content, 'utf8');
  } finally {
    await file.close();
  }
}

/**
 * Between the look and the opening somebody may put a link in the way. So it is looked at again once it is open: where the system
 * can tell (Linux), by what the descriptor really is.
 */
async function openInside(folder: string, path: string, flags: number): Promise<FileHandle> {
  const target = await fileInside(folder, path);
  if (target === undefined) throw refusal(path, 'is outside of the working folder');
  const file = await open(target, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666).catch((thrown: NodeJS.ErrnoException) => {
    throw refusal(path, thrown.code === 'ENOENT' ? 'does not exist' : 'can not be opened');
  });
  const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => target);
  if (isInside(real, folder) && (await file.stat()).isFile()) return file;
  await file.close();
  throw refusal(path, 'is not a file of the working folder');
}

function refusal(path: string, why: string): RequestError {
  return RequestError.invalidParams({ path }, `${path} ${why}`);
}
