import { A2AError } from '#protocol';

/** One message of a gRPC stream as it is framed: a flag byte, the length in four bytes, the message. */
export interface GrpcFrame {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

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

/** Reads frames from pieces of a stream. Throws INVALID_REQUEST or PAYLOAD_TOO_LARGE. */
export class FrameReader {
  readonly #bytesMax: number;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether the stream ends within a frame. */
  get isInFrame(): boolean {
    return this.#rest.length > 0;
  }

  /** The frames that are complete with this piece. */
  read(piece: Uint8Array): readonly GrpcFrame[] {
    let bytes = piece;
    if (this.#rest.length > 0) {
      bytes = new Uint8Array(this.#rest.length + piece.length);
      bytes.set(this.#rest);
      bytes.set(piece, this.#rest.length);
    }
    const frames: GrpcFrame[] = [];
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const flag = bytes[at] ?? 0;
      if (flag > 1) throw new A2AError('INVALID_REQUEST', 'the request is not framed as gRPC frames messages');
      const length = lengthAt(bytes, at + 1);
      if (length > this.#bytesMax) throw tooLarge(this.#bytesMax);
      if (bytes.length - at - FRAME_HEAD_BYTES < length) break;
      at += FRAME_HEAD_BYTES + length;
      frames.push({ isCompressed: flag === 1, bytes: bytes.subarray(at - length, at) });
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }
}

function lengthAt(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return a * 0x1000000 + ((b << 16) | (c << 8) | d);
}

function tooLarge(bytesMax: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `Request message too large: more than ${bytesMax} bytes`);
}

/** The only message of a request. gRPC demands UNIMPLEMENTED for none and for several. */
export function onlyFrame(body: Uint8Array, bytesMax: number): GrpcFrame {
  const reader = new FrameReader(bytesMax);
  const [frame, ...more] = reader.read(body);
  if (reader.isInFrame) throw new A2AError('INVALID_REQUEST', 'the request was cut off within a message');
  if (frame === undefined) throw new A2AError('METHOD_NOT_FOUND', 'this method takes one message, and the request has none');
  if (more.length > 0) throw new A2AError('METHOD_NOT_FOUND', 'this method takes one message, and the request has several');
  return frame;
}
