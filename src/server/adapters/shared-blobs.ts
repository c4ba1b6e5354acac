import { join, resolve } from 'node:path';
import type { Blobs, TaskKey } from '#engine';
import { openBlobs } from '../../engine/adapters/blobs.ts';
import { ConfigError } from '../config/read-value.ts';
import type { ListContent } from './content-sweep.ts';
import { listFolderContent } from './folder-content.ts';
import { fileProblem, makeFolder } from './folders.ts';
import { S3Error, s3Bucket, s3OptionsIn } from './s3.ts';
import { listS3Content, s3Blobs } from './s3-blobs.ts';

/** A store in a database, with room for large content. */
interface StoreWithBlobs {
  /** Random id of the store. Several stores may use one place. */
  readonly id: string;
  readonly blobs: Blobs;
  /** Called with the task whose content is neither in the place nor in the database. */
  readonly onMissing?: (task: TaskKey) => void;
}

/** Where several nodes keep large content. */
export interface SharedBlobs extends Blobs {
  /** Everything in a place outside of the database. Absent: the content is in the database, where it goes with its task. */
  readonly list?: ListContent;
}

/**
 * The large content of several nodes: in the database, unless `place` names a bucket (`s3://…`) or a folder that all nodes share. Content
 * that the database has from before stays readable.
 */
export async function openSharedBlobs(place: string | undefined, store: StoreWithBlobs): Promise<SharedBlobs> {
  const { id, blobs: database, onMissing } = store;
  const inDatabase: Blobs['get'] = async (task, name) => {
    const content = await database.get(task, name);
    if (content === undefined) onMissing?.(task);
    return content;
  };
  if (place === undefined || place === 'postgres') return { put: database.put, get: inDatabase, forget: database.forget };
  const blobs = place.startsWith('s3://') ? await inBucket(place, id) : inFolder(place, id);
  return {
    list: blobs.list,
    put: blobs.put,
    get: async (task, name) => (await blobs.get(task, name)) ?? (await inDatabase(task, name)),
    forget: async (task) => {
      await blobs.forget(task);
      await database.forget(task);
    },
  };
}

async function inBucket(place: string, id: string): Promise<Required<SharedBlobs>> {
  try {
    const bucket = await s3Bucket(s3OptionsIn(place, process.env));
    // Fails now, and not with the first large answer, if the bucket does not exist or the keys are wrong.
    for await (const _ of bucket.list(`${id}/`, '/')) break;
    return { ...s3Blobs(bucket, id), list: listS3Content(bucket, id) };
  } catch (thrown) {
    if (!(thrown instanceof S3Error)) throw thrown;
    throw new ConfigError(`blobs: ${thrown.message}${thrown.hint === undefined ? '' : `; ${thrown.hint}`}`);
  }
}

function inFolder(place: string, id: string): Required<SharedBlobs> {
  const [, scheme] = /^([a-z][a-z\d+.-]+):/i.exec(place) ?? [];
  if (scheme !== undefined && place.includes('//'))
    throw new ConfigError(`blobs: ${scheme}:// is not supported; use s3://BUCKET/PREFIX, a folder that all nodes share, or postgres`);
  const folder = join(resolve(place), id);
  try {
    makeFolder(folder);
  } catch (thrown) {
    throw new ConfigError(`blobs: ${fileProblem(thrown) ?? String(thrown)}; name a folder that this user may write to`);
  }
  return { ...openBlobs(folder), list: listFolderContent(folder) };
}
