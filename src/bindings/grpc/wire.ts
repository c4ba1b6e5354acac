// How gRPC calls look on the wire. gRPC-Web is the same, with the trailers as a last frame, because `fetch` hides trailers.

import { percentDecoded } from '#protocol';

/** The end of a call: `grpc-status`, `grpc-message` and `grpc-status-details-bin`. */
export interface GrpcStatus {
  /** 0 is success. */
  readonly code: number;
  /** Not escaped. */
  readonly message: string;
  /** A `google.rpc.Status`, not in base64. Absent: no details. */
  readonly details?: Uint8Array;
}

/** A frame of the body: a message, or the trailers of gRPC-Web. */
export interface GrpcFrame {
  readonly isTrailers: boolean;
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

const HEAD_BYTES = 5;
const COMPRESSED = 0x01;
const TRAILERS = 0x80;

/** One message as a frame: a byte of flags, the length in four bytes, the message. */
export function messageFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return frameOf(0, bytes);
}

function frameOf(flags: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(HEAD_BYTES + bytes.length);
  out[0] = flags;
  new DataView(out.buffer).setUint32(1, bytes.length);
  out.set(bytes, HEAD_BYTES);
  return out;
}

/** Trailers as the last frame of gRPC-Web. Names are in lower case. */
export function trailersFrame(trailers: Iterable<readonly [string, string]>): Uint8Array<ArrayBuffer> {
  const lines = [...trailers].map(([name, value]) => `${name}: ${value}\r\n`);
  return frameOf(TRAILERS, new TextEncoder().encode(lines.join('')));
}

/** Reads the trailers of gRPC-Web. */
export function readTrailers(bytes: Uint8Array): ReadonlyMap<string, string> {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  const pairs = lines.map(
    (line) =>
      [
        line
          .slice(0, Math.max(0, line.indexOf(':')))
          .trim()
          .toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ] as const,
  );
  return new Map(pairs.filter(([name]) => name !== ''));
}

/** The flags of frames that are not reserved. */
export const REQUEST_FLAGS: number = COMPRESSED;
const RESPONSE_FLAGS = COMPRESSED | TRAILERS;

/** A frame with flags that it may not have. */
export class WrongFlags extends Error {
  override readonly name = 'WrongFlags';
}

/** More bytes in a frame than the reader accepts. */
export class FrameTooLarge extends Error {
  override readonly name = 'FrameTooLarge';
}

/** Cuts a body into frames. A frame of the current chunk is a view of it, not a copy. */
export class FrameParser {
  readonly #bytesMax: number;
  readonly #flags: number;
  #rest: Uint8Array = new Uint8Array();
  /** Chunks of a frame that has not arrived whole, after `#rest`. */
  #more: Uint8Array[] = [];
  #length = 0;
  #wanted = HEAD_BYTES;

  /** `flags`: those that frames may have. Default: those of responses. */
  constructor(bytesMax: number, flags: number = RESPONSE_FLAGS) {
    this.#bytesMax = bytesMax;
    this.#flags = flags;
  }

  /** Whether a frame has begun and not ended. */
  get isPartial(): boolean {
    return this.#length > 0;
  }

  /** The frames that end in this chunk. Throws `FrameTooLarge` or `WrongFlags`. */
  push(chunk: Uint8Array): readonly GrpcFrame[] {
    this.#more.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return [];
    const bytes = this.#joined();
    const frames: GrpcFrame[] = [];
    let at = 0;
    this.#wanted = HEAD_BYTES;
    while (bytes.length - at >= HEAD_BYTES) {
      const flags = bytes[at] ?? 0;
      if ((flags & ~this.#flags) !== 0) throw new WrongFlags(`a frame with the flags 0x${flags.toString(16).padStart(2, '0')}`);
      const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(1);
      if (length > this.#bytesMax) throw new FrameTooLarge(`a message of ${length} bytes`);
      if (bytes.length - at - HEAD_BYTES < length) {
        this.#wanted = HEAD_BYTES + length;
        break;
      }
      const start = at + HEAD_BYTES;
      at = start + length;
      frames.push({ isTrailers: (flags & TRAILERS) !== 0, isCompressed: (flags & COMPRESSED) !== 0, bytes: bytes.subarray(start, at) });
    }
    this.#rest = bytes.subarray(at);
    this.#length = this.#rest.length;
    return frames;
  }

  #joined(): Uint8Array {
    const [only] = this.#more;
    const more = this.#more;
    this.#more = [];
    if (this.#rest.length === 0 && more.length === 1 && only !== undefined) return only;
    const out = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of [this.#rest, ...more]) {
      out.set(piece, at);
      at += piece.length;
    }
    return out;
  }
}

const UNKNOWN = 2;

/** The status in headers or trailers. Undefined if there is none. One that can't be read is UNKNOWN, as gRPC demands. */
export function readStatus(get: (name: string) => string | undefined): GrpcStatus | undefined {
  const text = get('grpc-status');
  if (text === undefined) return undefined;
  const code = /^\d{1,9}$/.test(text) ? Number(text) : UNKNOWN;
  const details = bytesOf(get('grpc-status-details-bin'));
  const message = percentDecoded(get('grpc-message') ?? '');
  return details === undefined ? { code, message } : { code, message, details };
}

/** The status as trailers. */
export function writeStatus({ code, message, details }: GrpcStatus): Record<string, string> {
  return {
    'grpc-status': String(code),
    ...(message === '' ? {} : { 'grpc-message': escaped(message) }),
    ...(details === undefined ? {} : { 'grpc-status-details-bin': base64Of(details) }),
  };
}

/** Percent-encodes only what gRPC demands: everything outside 0x20 to 0x7E, and `%`. @grpc/grpc-js leaves other escapes in the text. */
function escaped(message: string): string {
  return message.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, (text) => {
    const bytes = new TextEncoder().encode(text);
    return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('=', '');
}

/** Base64 with or without padding. A peer may send several values, joined by commas: the first counts. */
function bytesOf(text: string | undefined): Uint8Array | undefined {
  const first = text?.split(',')[0]?.trim();
  if (first === undefined || first === '') return undefined;
  try {
    return Uint8Array.from(atob(first.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** `grpc-timeout`: at most eight digits and a unit. */
export function timeoutText(ms: number): string {
  if (ms < 1e8) return `${Math.max(1, Math.ceil(ms))}m`;
  return `${Math.min(99_999_999, Math.ceil(ms / 1000))}S`;
}
