import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/read-value.ts';
import type { S3Bucket, S3Options } from '../s3.ts';
import { S3Error, s3Bucket } from '../s3.ts';
import { DATABASE, databaseProblem, MANIFEST, parseManifest, readManifest } from './manifest.ts';
import type { BackupPlace, PlacedBackup } from './place.ts';
import { isWhole, severalWords } from './place.ts';
import { hashInBucket, inTurns, readObject, receiveFile, sendFile } from './s3-files.ts';

/** The copy that is sent. It is in the data folder: there the node may write, and files of one disk are copied without using space. */
const STAGING = 'backup.new';

/** Backups as groups of objects in a bucket. Sends no request yet. */
export async function s3Place(options: S3Options, data: string): Promise<BackupPlace> {
  const bucket = await s3Bucket(options);
  const staging = join(data, STAGING);
  return {
    shown: shownBucket(options),
    list: () => backupsIn(bucket),
    write: async (name, copy, signal) => {
      await rm(staging, { recursive: true, force: true });
      await mkdir(staging, { recursive: true, mode: 0o700 });
      try {
        const manifest = await copy(staging);
        await inTurns(manifest.files, async ({ path, bytes, sha256 }) => {
          const key = `${name}/${path}`;
          await sendFile(bucket, { path: join(staging, path), key }, signal);
          if ((await hashInBucket(bucket, { key, bytes }, signal)) !== sha256)
            throw new S3Error(`${key} is not the same in the bucket as it was sent`);
        });
        // Last: what has no manifest is not a backup.
        await sendFile(bucket, { path: join(staging, MANIFEST), key: `${name}/${MANIFEST}` }, signal);
        return manifest;
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
    },
    remove: async (name) => {
      const remove = async (key: string): Promise<void> => void (await (await bucket.ask('DELETE', key)).body?.cancel());
      await remove(`${name}/${MANIFEST}`);
      // Deleted objects would shift the pages of a listing that is read meanwhile.
      const keys: string[] = [];
      for await (const page of bucket.list(`${name}/`)) keys.push(...page.keys);
      await inTurns(keys, remove);
    },
  };
}

/** The backups directly below the prefix of a bucket. */
async function backupsIn(bucket: S3Bucket): ReturnType<BackupPlace['list']> {
  const names: string[] = [];
  for await (const { folders } of bucket.list('', '/')) names.push(...folders.map((folder) => folder.slice(0, -1)));
  const found: PlacedBackup[] = [];
  await inTurns(names, async (name) => {
    const manifest = await readObject(bucket, `${name}/${MANIFEST}`);
    if (manifest === undefined) found.push({ name, isComplete: false });
    else found.push({ name, isComplete: true, problem: await problemOf(bucket, name, manifest) });
  });
  return found;
}

async function problemOf(bucket: S3Bucket, name: string, manifest: Uint8Array): Promise<string | undefined> {
  const database = await bucket.ask('HEAD', `${name}/${DATABASE}`);
  try {
    const described = parseManifest(() => new TextDecoder().decode(manifest), `${name}/${MANIFEST}`);
    return databaseProblem(described, database.ok ? Number(database.headers.get('Content-Length')) : undefined);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Downloads a backup to an empty folder. The prefix of the options is the backup itself. Its content is not checked here. */
export async function fetchBackup(options: S3Options, folder: string, signal: AbortSignal): Promise<void> {
  const bucket = await s3Bucket(options);
  const manifest = await readObject(bucket, MANIFEST);
  if (manifest === undefined) throw new ConfigError(await nothingAt(bucket, options));
  await writeFile(join(folder, MANIFEST), manifest, { mode: 0o600 });
  await inTurns(readManifest(folder).files, async ({ path, bytes }) =>
    receiveFile(bucket, { key: path, bytes }, { path: join(folder, path), signal }),
  );
}

async function nothingAt(bucket: S3Bucket, options: S3Options): Promise<string> {
  const shown = shownBucket(options);
  const names = (await backupsIn(bucket)).filter(isWhole).map(({ name }) => name);
  return names.length === 0 ? `${shown} is not a backup, and has none in it` : severalWords(shown, names, `?endpoint=${options.endpoint}`);
}

function shownBucket({ bucket, prefix = '' }: S3Options): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, '');
}
