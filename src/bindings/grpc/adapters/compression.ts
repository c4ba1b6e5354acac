import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { A2AError } from '#protocol';
import { bodyTooLarge } from '../../body.ts';
import type { HttpRequest } from '../../http.ts';
import { framed } from '../framing.ts';
import type { GrpcFrame } from '../wire.ts';

const unzip = promisify(gunzip);
const zip = promisify(gzip);

/** The encodings of messages that this server reads: the value of `grpc-accept-encoding`. */
export const ACCEPTED_ENCODINGS = 'identity,gzip';

/** The encoding of a request's messages. Throws for one that is not supported. */
export function encodingOf(httpRequest: HttpRequest): 'gzip' | undefined {
  const encoding = httpRequest.header('grpc-encoding') ?? 'identity';
  if (encoding === 'identity') return undefined;
  if (encoding === 'gzip') return 'gzip';
  // METHOD_NOT_FOUND is UNIMPLEMENTED, which gRPC demands here.
  throw new A2AError('METHOD_NOT_FOUND', `the encoding ${encoding.slice(0, 32)} is not supported; use one of ${ACCEPTED_ENCODINGS}`);
}

/** Whether answers are compressed: if the caller compresses its own messages, and reads compressed ones. */
export function compressesAnswers(httpRequest: HttpRequest): boolean {
  if (encodingOf(httpRequest) === undefined) return false;
  const accepted = httpRequest.header('grpc-accept-encoding');
  return accepted === undefined || accepted.split(',').some((encoding) => encoding.trim() === 'gzip');
}

/** The message of a frame. A compressed one may not grow beyond the limit when it is decompressed. */
export function messageIn(
  { isCompressed, bytes }: GrpcFrame,
  encoding: 'gzip' | undefined,
  bytesMax: number,
): Uint8Array | Promise<Uint8Array> {
  if (!isCompressed) return bytes;
  if (encoding === undefined) throw new A2AError('INVALID_REQUEST', 'a message is compressed, and grpc-encoding does not say how');
  return unzip(bytes, { maxOutputLength: bytesMax }).catch((cause: unknown) => {
    const isTooLarge = cause instanceof RangeError;
    throw isTooLarge
      ? bodyTooLarge(bytesMax, { cause })
      : new A2AError('INVALID_REQUEST', 'a message is not compressed with gzip', { cause });
  });
}

/** Frames messages and compresses them. */
export async function compressed(messages: readonly Uint8Array[]): Promise<Uint8Array> {
  return framed(await Promise.all(messages.map((bytes) => zip(bytes))), true);
}
