import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../folders.ts';
import type { S3Bucket } from '../s3.ts';
import { S3Error } from '../s3.ts';

/** Larger files are sent and read in parts. S3 demands at least 5 MiB, and allows 10,000 parts: 160 GB. */
const PART_BYTES = 16 * 2 ** 20;

/** Sends a file to a bucket. */
export async function sendFile(
  { ask }: S3Bucket,
  file: { readonly path: string; readonly key: string },
  signal?: AbortSignal,
): Promise<void> {
  const { path, key } = file;
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const read = async (from: number): Promise<Uint8Array> => {
      const part = Buffer.alloc(Math.min(PART_BYTES, size - from));
      let at = 0;
      while (at < part.length) {
        const { bytesRead } = await handle.read(part, at, part.length - at, from + at);
        if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
        at += bytesRead;
      }
      return part;
    };
    if (size <= PART_BYTES) {
      await accepted(await ask('PUT', key, { body: await read(0), signal }), key);
      return;
    }
    await inParts({ ask }, { key, size, read, signal });
  } finally {
    await handle.close();
  }
}

interface PartedFile {
  readonly key: string;
  readonly size: number;
  readonly read: (from: number) => Promise<Uint8Array>;
  readonly signal: AbortSignal | undefined;
}

/** S3's multipart upload. The object appears with its last request. */
async function inParts({ ask }: Pick<S3Bucket, 'ask'>, { key, size, read, signal }: PartedFile): Promise<void> {
  const begun = await accepted(await ask('POST', key, { query: 'uploads=', signal }), key);
  const id = /<UploadId>([^<]+)</.exec(begun)?.[1];
  if (id === undefined) throw new S3Error(`the bucket does not take ${key} in parts`);
  const upload = `uploadId=${encodeURIComponent(id)}`;
  try {
    const parts: string[] = [];
    for (let from = 0; from < size; from += PART_BYTES) {
      const number = parts.length + 1;
      const answer = await ask('PUT', key, { query: `partNumber=${number}&${upload}`, body: await read(from), signal });
      await accepted(answer, key);
      parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${answer.headers.get('ETag') ?? ''}</ETag></Part>`);
    }
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const ended = await accepted(await ask('POST', key, { query: upload, body, bytes: size, signal }), key);
    // S3 may report an error after the status 200.
    if (/<Error>/.test(ended)) throw new S3Error(`the bucket could not join the parts of ${key}`);
  } catch (thrown) {
    // Parts that were sent cost space until the upload is ended.
    await ask('DELETE', key, { query: upload }).then(
      (answer) => answer.body?.cancel(),
      () => undefined,
    );
    throw thrown;
  }
}

async function accepted(answer: Response, key: string): Promise<string> {
  const text = await answer.text();
  if (answer.ok) return text;
  throw new S3Error(answer.status === 404 ? 'there is no such bucket' : `the bucket answered ${answer.status} for ${key}`, {
    hint: 'create it, or use another one',
  });
}

/** What a file of a backup should be. */
export interface ExpectedFile {
  readonly key: string;
  readonly bytes: number;
}

/** The content of an object in parts. Throws if it is missing or has another size. */
async function* partsOf({ ask }: S3Bucket, { key, bytes }: ExpectedFile, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  for (let from = 0; from < bytes; from += PART_BYTES) {
    const to = Math.min(bytes, from + PART_BYTES) - 1;
    const answer = await ask('GET', key, { headers: { Range: `bytes=${from}-${to}` }, bytes: to - from, signal });
    if (answer.status === 404) throw new S3Error(`${key} is missing`);
    const part = new Uint8Array(await answer.arrayBuffer());
    if (part.length !== to - from + 1) throw new S3Error(`${key} has another size than it was sent with`);
    yield part;
  }
}

/** The SHA-256 of an object, read from the bucket. */
export async function hashInBucket(bucket: S3Bucket, file: ExpectedFile, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of partsOf(bucket, file, signal)) hash.update(part);
  return hash.digest('hex');
}

/** Where an object is written to. */
interface ReceivedFile {
  readonly path: string;
  readonly signal?: AbortSignal;
}

/** Writes an object to a new file. */
export async function receiveFile(bucket: S3Bucket, file: ExpectedFile, { path, signal }: ReceivedFile): Promise<void> {
  makeFolder(dirname(path));
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const part of partsOf(bucket, file, signal)) await handle.writeFile(part);
  } finally {
    await handle.close();
  }
}

/** The whole of a small object. Undefined: it is missing. */
export async function readObject({ ask }: S3Bucket, key: string): Promise<Uint8Array | undefined> {
  const answer = await ask('GET', key);
  if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
  await answer.body?.cancel();
  return undefined;
}

/** Works on all items, some at the same time. After a failure no other is begun, and those that were are awaited. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  let failure: { readonly cause: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (failure !== undefined) return;
      await work(item).catch((cause: unknown) => {
        failure ??= { cause };
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (failure !== undefined) throw failure.cause;
}

const AT_ONCE = 4;
