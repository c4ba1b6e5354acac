import { A2AError, isA2AError } from '#protocol';
import { bodyTooLarge } from '../body.ts';
import type { HttpRequest } from '../http.ts';
import { requestBytes } from '../request-body.ts';
import type { GrpcFrame } from './wire.ts';
import { FrameParser, FrameTooLarge, REQUEST_FLAGS, WrongFlags } from './wire.ts';

export const FRAME_HEAD_BYTES = 5;

/** Writes the head of a frame at a position of a buffer. */
function writeHead(
  into: Uint8Array,
  at: number,
  { isCompressed, length }: { readonly isCompressed: boolean; readonly length: number },
): void {
  into[at] = isCompressed ? 1 : 0;
  into[at + 1] = length >>> 24;
  into[at + 2] = length >>> 16;
  into[at + 3] = length >>> 8;
  into[at + 4] = length;
}

/** Frames messages, one after the other in one buffer. */
export function framed(messages: readonly Uint8Array[], isCompressed = false): Uint8Array {
  let size = 0;
  for (const { length } of messages) size += FRAME_HEAD_BYTES + length;
  const out = new Uint8Array(size);
  let at = 0;
  for (const bytes of messages) {
    writeHead(out, at, { isCompressed, length: bytes.length });
    out.set(bytes, at + FRAME_HEAD_BYTES);
    at += FRAME_HEAD_BYTES + bytes.length;
  }
  return out;
}

/** Cuts a request into frames. */
export function requestParser(bytesMax: number): FrameParser {
  return new FrameParser(bytesMax, REQUEST_FLAGS);
}

/** The frames of messages that end in this piece of a request. Throws INVALID_REQUEST or PAYLOAD_TOO_LARGE. */
export function requestFrames(parser: FrameParser, piece: Uint8Array, bytesMax: number): readonly GrpcFrame[] {
  try {
    return parser.push(piece);
  } catch (cause) {
    if (cause instanceof FrameTooLarge) throw bodyTooLarge(bytesMax, { cause });
    if (!(cause instanceof WrongFlags)) throw cause;
    throw new A2AError('INVALID_REQUEST', `the request has ${cause.message}; messages are framed with 0x00, or 0x01 if compressed`, {
      cause,
    });
  }
}

/** Reads the body of a request for one message of at most this size. */
export function framedBody(httpRequest: HttpRequest, bytesMax: number): Promise<Uint8Array> {
  return requestBytes(httpRequest, bytesMax + FRAME_HEAD_BYTES).catch((thrown: unknown) => {
    throw withoutFrame(thrown, bytesMax);
  });
}

/** What reading a body threw. The error for one that is too large names the limit of its message, without the frame around it. */
function withoutFrame(thrown: unknown, bytesMax: number): unknown {
  return isA2AError(thrown) && thrown.kind === 'PAYLOAD_TOO_LARGE' ? bodyTooLarge(bytesMax, { cause: thrown }) : thrown;
}

/** The error for a request that ends within a frame. */
export function cutOff(): A2AError {
  return new A2AError('INVALID_REQUEST', 'the request was cut off within a message');
}

/** The only message of a request. gRPC demands UNIMPLEMENTED for none and for several. */
export function onlyFrame(body: Uint8Array, bytesMax: number): GrpcFrame {
  const parser = requestParser(bytesMax);
  const [frame, ...more] = requestFrames(parser, body, bytesMax);
  if (parser.isPartial) throw cutOff();
  if (frame === undefined) throw new A2AError('METHOD_NOT_FOUND', 'this method takes one message, and the request has none');
  if (more.length > 0) throw new A2AError('METHOD_NOT_FOUND', 'this method takes one message, and the request has several');
  return frame;
}
