import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { FRAME_HEAD_BYTES, framed } from '../framing.ts';

const INTERNAL = '13';
const INVALID_ARGUMENT = '3';

/**
 * Connect answers bytes that it can't read with INTERNAL, as if the server had failed. The caller sent
 * them, so the answer becomes INVALID_ARGUMENT. `isRead`: a handler got the message, so its bytes were
 * valid.
 */
export async function invalidInsteadOfInternal(answer: UniversalServerResponse, isRead: () => boolean): Promise<UniversalServerResponse> {
  if (answer.trailer?.get('grpc-status') === INTERNAL && !isRead()) answer.trailer.set('grpc-status', INVALID_ARGUMENT);
  const { body } = answer;
  if (body === undefined) return answer;
  const pieces = body[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (isRead() || first.done === true) return { ...answer, body: startingWith(first, pieces) };
  const { status, value } = corrected(first.value, answer.status);
  if (value !== first.value) answer.header?.delete('content-length');
  return { ...answer, status, body: startingWith({ done: false, value }, pieces) };
}

/** No generator: it would cost each message of a stream several promises. */
function startingWith(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let read: IteratorResult<Uint8Array> | undefined = first;
  const pieces: AsyncIterator<Uint8Array> = {
    next: () => {
      if (read === undefined) return rest.next();
      const piece = read;
      read = undefined;
      return Promise.resolve(piece);
    },
    return: async () => (await rest.return?.()) ?? { done: true, value: undefined },
  };
  return { [Symbol.asyncIterator]: () => pieces };
}

const TRAILERS_FLAG = 0x80;
const END_FLAG = 0x02;

/** Error bodies: JSON, or a frame with JSON (Connect), or a frame with trailers (gRPC-Web). */
function corrected(bytes: Uint8Array, status: number): { readonly status: number; readonly value: Uint8Array } {
  const flag = bytes[0] ?? 0;
  const isFrame = flag === TRAILERS_FLAG || flag === END_FLAG;
  const text = new TextDecoder().decode(isFrame ? bytes.subarray(FRAME_HEAD_BYTES) : bytes);
  const replaced =
    flag === TRAILERS_FLAG
      ? text.replace(/^grpc-status: ?13\r?$/m, `grpc-status: ${INVALID_ARGUMENT}\r`)
      : text.replace('"code":"internal"', '"code":"invalid_argument"');
  if (replaced === text) return { status, value: bytes };
  const value = new TextEncoder().encode(replaced);
  if (!isFrame) return { status: 400, value };
  const frame = framed([value]);
  frame[0] = flag;
  return { status, value: frame };
}
