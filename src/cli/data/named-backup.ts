import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fetchBackup, refusePlaceOfBackups } from '../../server/adapters/backup.ts';
import { S3Error, s3OptionsIn } from '../../server/adapters/s3.ts';
import { CliError } from '../command.ts';
import { untilInterrupted } from './folder.ts';

/** Whether a backup is named by its place in a bucket. */
export function isInBucket(place: string): boolean {
  return place.startsWith('s3://');
}

/** What is done with a backup. */
type UseBackup<T> = (folder: string, signal: AbortSignal) => Promise<T>;

/** Calls `use` with the folder of a backup, until Ctrl-C. One in a bucket is downloaded to the temporary folder first. */
export async function withBackup<T>(place: string, use: UseBackup<T>): Promise<T> {
  return await untilInterrupted(async (signal) => {
    if (isInBucket(place)) return await withDownload(place, use, signal);
    await refusePlaceOfBackups(resolve(place));
    return await use(resolve(place), signal);
  });
}

async function withDownload<T>(place: string, use: UseBackup<T>, signal: AbortSignal): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-backup-'));
  try {
    await fetchBackup(s3OptionsIn(place, process.env), folder, signal);
    return await use(folder, signal);
  } catch (thrown) {
    throw thrown instanceof S3Error ? new CliError(thrown.message, { hint: thrown.hint, cause: thrown }) : thrown;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
