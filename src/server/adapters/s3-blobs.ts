import type { Blobs, TaskKey } from '#engine';
import { taskKey } from '#engine';
import { A2AError } from '#protocol';
import type { ListContent } from './content-sweep.ts';
import type { S3Bucket } from './s3.ts';

const NAME = /^[0-9a-f]{16,128}$/;
/** Content of one artifact, at most (`artifactBytesMax`), and some more. It sets the time limit of a read. */
const BYTES_MAX = 96 * 2 ** 20;

/** Large content as objects of a bucket: `<folder>/<task>/<name>`. An object is complete whenever it exists. */
export function s3Blobs(bucket: S3Bucket, folder: string): Blobs {
  const keyOf = (task: TaskKey, name: string): string => {
    if (!NAME.test(name))
      throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`${JSON.stringify(name)} is not a valid name of a blob`) });
    return `${folder}/${task}/${name}`;
  };
  return {
    put: (task, name, content) =>
      available(async () => {
        const answer = await bucket.ask('PUT', keyOf(task, name), { body: content });
        await answer.body?.cancel();
        if (!answer.ok) throw new Error(`the bucket answered ${answer.status}`);
      }),
    get: (task, name) =>
      available(async () => {
        const answer = await bucket.ask('GET', keyOf(task, name), { bytes: BYTES_MAX });
        if (answer.ok) return await answer.bytes();
        await answer.body?.cancel();
        return undefined;
      }),
    forget: (task) =>
      available(async () => {
        for await (const { keys } of bucket.list(`${folder}/${task}/`)) {
          for (const key of keys) await (await bucket.ask('DELETE', key)).body?.cancel();
        }
      }),
  };
}

/** The content in a bucket. An object without a time is never old. */
export function listS3Content(bucket: S3Bucket, folder: string): ListContent {
  return async function* () {
    for await (const { keys, writtenAt, now } of bucket.list(`${folder}/`)) {
      yield keys.flatMap((key, at) => {
        const [, task = '', name = ''] = /^\/(\d+)\/([^/]+)$/.exec(key.slice(folder.length)) ?? [];
        const ageMs = now - (writtenAt[at] ?? Number.NaN);
        const remove = async (): Promise<void> => void (await (await bucket.ask('DELETE', key)).body?.cancel());
        return NAME.test(name) ? [{ task: taskKey(Number(task)), ageMs, remove }] : [];
      });
    }
  };
}

/** A bucket that can't be reached is a temporary failure, as a full disk is. */
async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    throw new A2AError('UNAVAILABLE', 'the store of large content can’t be reached', { retryAfterMs: 1000, cause });
  }
}
