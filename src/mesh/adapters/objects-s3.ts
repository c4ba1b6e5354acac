import { codeOfError, withoutEndSlashes } from '#protocol';
import type { Objects } from '../artifacts/objects.ts';
import { BrokerError } from '../broker.ts';

/** Options of `s3Objects`. */
export interface S3Options {
  /** `https://s3.eu-central-1.amazonaws.com`, or any S3-compatible server. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Prepended to every key. */
  readonly prefix?: string;
}

const ANSWER_MS = 30_000;
const PAGES_MAX = 100;

/** Stores objects in an S3-compatible bucket. Needs the package `aws4fetch`. */
export async function s3Objects(options: S3Options): Promise<Objects> {
  const { AwsClient } = await import('aws4fetch').catch((cause: unknown) => {
    throw new BrokerError('S3 needs the package aws4fetch, which is not installed', { hint: 'npm install aws4fetch', cause });
  });
  const { accessKeyId, secretAccessKey, sessionToken, region = 'us-east-1', prefix = '' } = options;
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  const bucket = `${withoutEndSlashes(options.endpoint)}/${encodeURIComponent(options.bucket)}`;
  // Keys are stored in their escaped form, so the URL escapes them a second time.
  const urlOf = (key: string): string => `${bucket}/${`${prefix}${key}`.split('/').map(encodeURIComponent).join('/')}`;
  const ask = async (method: string, url: string, init: RequestInit = {}): Promise<Response> => {
    const request = { ...init, method, signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' } as const;
    const answer = await client.fetch(url, request).catch((cause: unknown) => {
      throw new BrokerError(`the bucket ${options.bucket} can't be reached at ${options.endpoint}: ${reasonOf(cause)}`, {
        hint: 'check the endpoint, and that it is running',
        cause,
      });
    });
    if (answer.ok || answer.status === 404 || answer.status === 412 || answer.status === 409) return answer;
    await answer.body?.cancel();
    throw new BrokerError(`the bucket ${options.bucket} answered ${answer.status}`, {
      hint: answer.status === 403 ? 'check the keys, and that they may write to the bucket' : 'check the endpoint',
    });
  };
  return {
    put: async (key, content) => {
      const known = await ask('HEAD', urlOf(key));
      if (known.status === 200) return false;
      const answer = await ask('PUT', urlOf(key), { body: content as Uint8Array<ArrayBuffer>, headers: { 'If-None-Match': '*' } });
      await answer.body?.cancel();
      if (answer.status === 404) throw new BrokerError(`there is no bucket ${options.bucket}`);
      return answer.ok;
    },
    get: async (key) => {
      const answer = await ask('GET', urlOf(key));
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
      await answer.body?.cancel();
      return undefined;
    },
    list: async (under) => {
      const keys: string[] = [];
      let more: string | undefined;
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const query = new URLSearchParams({
          'list-type': '2',
          prefix: `${prefix}${under}`,
          ...(more === undefined ? {} : { 'continuation-token': more }),
        });
        const answer = await ask('GET', `${bucket}?${query}`);
        const text = await answer.text();
        if (answer.status === 404) throw new BrokerError(`there is no bucket ${options.bucket}`, { hint: 'create it, or use another one' });
        keys.push(...[...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => plain(key).slice(prefix.length)));
        more = /<NextContinuationToken>([^<]*)</.exec(text)?.[1];
        if (more === undefined) return keys;
        more = plain(more);
      }
      throw new BrokerError(`there are more than ${keys.length} objects under ${under}`);
    },
    delete: async (key) => {
      await (await ask('DELETE', urlOf(key))).body?.cancel();
    },
  };
}

/** `fetch` puts the actual reason into `cause`. */
function reasonOf(thrown: unknown): string {
  const inner = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return inner instanceof Error ? inner.message || String(codeOfError(inner)) : String(thrown);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function plain(xml: string): string {
  return xml.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
}
