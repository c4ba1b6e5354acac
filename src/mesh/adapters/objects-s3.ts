import type { S3Options } from '../../server/adapters/s3.ts';
import { S3Error, s3Bucket } from '../../server/adapters/s3.ts';
import type { Objects } from '../artifacts/objects.ts';

const KEYS_MAX = 100_000;

/** Stores objects in an S3-compatible bucket. Needs the package `aws4fetch`. */
export async function s3Objects(options: S3Options): Promise<Objects> {
  // Keys are stored in their escaped form, so the URL escapes them a second time.
  const { ask, list } = await s3Bucket(options);
  return {
    put: async (key, content) => {
      const known = await ask('HEAD', key);
      if (known.status === 200) return false;
      const answer = await ask('PUT', key, { body: content, headers: { 'If-None-Match': '*' } });
      await answer.body?.cancel();
      if (answer.status === 404) throw new S3Error(`there is no bucket ${options.bucket}`);
      return answer.ok;
    },
    get: async (key) => {
      const answer = await ask('GET', key);
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
      await answer.body?.cancel();
      return undefined;
    },
    list: async (under) => {
      const found: string[] = [];
      for await (const { keys } of list(under)) {
        found.push(...keys);
        if (found.length > KEYS_MAX) throw new S3Error(`there are more than ${KEYS_MAX} objects under ${under}`);
      }
      return found;
    },
    delete: async (key) => {
      await (await ask('DELETE', key)).body?.cancel();
    },
  };
}
