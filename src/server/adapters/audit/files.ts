import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../../engine/adapters/sync-folder.ts';
import type { ChainEnd } from '../../audit/chain.ts';

/** The folder of the files that are full, beside the current one: `audit/` beside `audit.jsonl`. */
export function folderOf(path: string): string {
  return join(dirname(path), basename(path).replace(/\.jsonl$/, ''));
}

const NAME = /^audit-(\d{12})\.jsonl$/;

/** A file of the log that is full. It is never changed again. */
export interface FullFile {
  readonly path: string;
  /** The number of its first record. */
  readonly first: number;
}

/** The full files, oldest first. */
export function fullFiles(path: string): readonly FullFile[] {
  const folder = folderOf(path);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const [, first] = NAME.exec(name) ?? [];
      return first === undefined ? [] : [{ path: join(folder, name), first: Number(first) }];
    })
    .sort((one, other) => one.first - other.first);
}

/** All files of a log in order: the full ones that belong to it, then the current one. */
export function auditFiles(path: string): readonly string[] {
  const start = readStart(path);
  const full = fullFiles(path);
  // What is before the start is about to be deleted, unless the log is still complete.
  const kept = start === undefined || full[0]?.first === 1 ? full : full.filter(({ first }) => first > start.seq);
  return [...kept.map((file) => file.path), ...(existsSync(path) ? [path] : [])];
}

/** Moves the current file to the full ones, durably. A crash leaves it in one of the two places. */
export async function moveToFull(path: string, first: number): Promise<void> {
  const folder = folderOf(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await rename(path, join(folder, `audit-${String(first).padStart(12, '0')}.jsonl`));
  await syncFolder(folder);
  await syncFolder(dirname(path));
}

const START = 'start.json';

/** The last record before the oldest file that is kept. Undefined: the log was never shortened. */
export function readStart(path: string): ChainEnd | undefined {
  try {
    const { seq, hash } = JSON.parse(readFileSync(join(folderOf(path), START), 'utf8')) as Partial<ChainEnd>;
    return typeof seq === 'number' && typeof hash === 'string' ? { seq, hash, open: '' } : undefined;
  } catch {
    return undefined;
  }
}

/** Durable when this resolves. */
export async function writeStart(path: string, { seq, hash }: ChainEnd): Promise<void> {
  const place = join(folderOf(path), START);
  const file = await open(`${place}.new`, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify({ seq, hash }));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${place}.new`, place);
  await syncFolder(dirname(place));
}
