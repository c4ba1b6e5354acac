import { codeOfError, withoutEndSlashes } from '#protocol';

/** A bucket, and how to reach it. */
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

/** A bucket can't be used. The message is for people. */
export class S3Error extends Error {
  override readonly name: string = 'S3Error';
  /** What to check or to change. */
  readonly hint: string | undefined;

  constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
  }
}

const KNOWN = ['endpoint', 'region'];

/** Reads `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`. The keys come from the environment only, from the variables that every S3 tool reads. */
export function s3OptionsIn(place: string, env: Readonly<Record<string, string | undefined>>): S3Options {
  const url = URL.parse(place);
  if (url === null || url.hostname === '')
    throw new S3Error('the bucket is missing', { hint: 'as s3://BUCKET/PREFIX?endpoint=http://127.0.0.1:9000' });
  if (`${url.username}${url.password}` !== '')
    throw new S3Error('keys must not be in the address', { hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY' });
  const unknown = [...url.searchParams.keys()].find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) throw new S3Error(`unknown parameter ${unknown}`, { hint: `known are ${KNOWN.join(' and ')}` });
  const set = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const [accessKeyId, secretAccessKey, sessionToken] = [set('AWS_ACCESS_KEY_ID'), set('AWS_SECRET_ACCESS_KEY'), set('AWS_SESSION_TOKEN')];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const missing = accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
    throw new S3Error(`s3://${url.hostname} needs ${missing} in the environment`, {
      hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    });
  }
  const region = url.searchParams.get('region') ?? set('AWS_REGION') ?? set('AWS_DEFAULT_REGION') ?? 'us-east-1';
  const prefix = url.pathname.replaceAll(/^\/+|(?<!\/)\/+$/g, '');
  return {
    endpoint:
      checkedEndpoint(url.searchParams.get('endpoint') ?? set('AWS_ENDPOINT_URL_S3') ?? set('AWS_ENDPOINT_URL')) ??
      `https://s3.${region}.amazonaws.com`,
    bucket: url.hostname,
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(prefix === '' ? {} : { prefix: `${decodeURIComponent(prefix)}/` }),
  };
}

function checkedEndpoint(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined || /^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) return endpoint;
  throw new S3Error(`the endpoint ${endpoint} is not an http(s) address`);
}

/** A request to a bucket. */
interface S3Request {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** How many bytes the response may have. The time limit grows with it. */
  readonly bytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** One page of a listing. Names have no prefix of the options. */
interface S3Page {
  readonly keys: readonly string[];
  /** When the object at the same place in `keys` was written, in milliseconds. */
  readonly writtenAt: readonly number[];
  /** The time of the server. */
  readonly now: number;
  /** With `/` as the delimiter: what is before the next one, with it. */
  readonly folders: readonly string[];
}

/** An S3-compatible bucket. Keys have no prefix of the options. */
export interface S3Bucket {
  /** Sends a request about an object. Returns responses of success, and 404, 409 and 412. Throws an S3Error otherwise. */
  ask(method: string, key: string, request?: S3Request): Promise<Response>;
  /** The objects whose keys begin so. With a delimiter only those of one level, and the folders in it. */
  list(prefix: string, delimiter?: '/'): AsyncGenerator<S3Page, void>;
}

const ANSWER_MS = 30_000;
/** Slower connections than 50 kB/s are given up. */
const BYTES_PER_MS_MIN = 50;

/** Opens a bucket without a request. Needs the package `aws4fetch`. */
export async function s3Bucket(options: S3Options): Promise<S3Bucket> {
  const { AwsClient } = await import('aws4fetch').catch((cause: unknown) => {
    throw new S3Error('S3 needs the package aws4fetch, which is not installed', { hint: 'npm install aws4fetch', cause });
  });
  const { accessKeyId, secretAccessKey, sessionToken, region = 'us-east-1', prefix = '' } = options;
  const client = new AwsClient({
    ...{ accessKeyId, secretAccessKey, region, service: 's3' },
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  const bucket = `${withoutEndSlashes(options.endpoint)}/${encodeURIComponent(options.bucket)}`;
  const send = async (method: string, url: string, { headers, body, bytes = 0, signal }: S3Request): Promise<Response> => {
    const limit = AbortSignal.timeout(ANSWER_MS + Math.ceil(Math.max(bytes, body?.length ?? 0) / BYTES_PER_MS_MIN));
    const answer = await client
      .fetch(url, {
        ...{ method, redirect: 'error', signal: signal === undefined ? limit : AbortSignal.any([limit, signal]) },
        ...(headers === undefined ? {} : { headers: { ...headers } }),
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
      })
      .catch((cause: unknown) => {
        throw new S3Error(`the bucket ${options.bucket} can't be reached at ${options.endpoint}: ${reasonOf(cause)}`, {
          hint: 'check the endpoint, and that it is running',
          cause,
        });
      });
    if (answer.ok || answer.status === 404 || answer.status === 412 || answer.status === 409) return answer;
    await answer.body?.cancel();
    throw new S3Error(`the bucket ${options.bucket} answered ${answer.status}`, {
      hint: answer.status === 403 ? 'check the keys, and that they may write to the bucket' : 'check the endpoint',
    });
  };
  return {
    ask: async (method, key, request = {}) => {
      const path = `${prefix}${key}`.split('/').map(encodeURIComponent).join('/');
      return await send(method, `${bucket}/${path}${request.query === undefined ? '' : `?${request.query}`}`, request);
    },
    list: async function* (under, delimiter) {
      for (let more: string | undefined = ''; more !== undefined; ) {
        const query = new URLSearchParams({
          'list-type': '2',
          prefix: `${prefix}${under}`,
          ...(delimiter === undefined ? {} : { delimiter }),
          ...(more === '' ? {} : { 'continuation-token': more }),
        });
        const answer = await send('GET', `${bucket}?${query}`, {});
        const text = await answer.text();
        if (answer.status === 404) throw new S3Error(`there is no bucket ${options.bucket}`, { hint: 'create it, or use another one' });
        const named = (pattern: RegExp): readonly string[] =>
          [...text.matchAll(pattern)].map(([, key = '']) => plain(key).slice(prefix.length));
        yield {
          keys: named(/<Key>([^<]*)<\/Key>/g),
          folders: named(/<CommonPrefixes>\s*<Prefix>([^<]*)<\/Prefix>/g),
          writtenAt: [...text.matchAll(/<LastModified>([^<]*)</g)].map(([, at = '']) => Date.parse(at)),
          now: Date.parse(answer.headers.get('date') ?? ''),
        };
        const next: string | undefined = /<NextContinuationToken>([^<]*)</.exec(text)?.[1];
        more = next === undefined ? undefined : plain(next);
      }
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
