/** Frames of HTTP/2 by hand, for clients that break its rules (RFC 9113, RFC 7541). */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const DATA = 0;
export const HEADERS = 1;
export const PRIORITY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;
export const END_STREAM = 1;
export const END_HEADERS = 4;
const HEAD_BYTES = 9;

export interface FrameHead {
  readonly flags?: number;
  readonly stream?: number;
}

export function frame(type: number, payload: Buffer = Buffer.alloc(0), { flags = 0, stream = 0 }: FrameHead = {}): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header as an HPACK literal. `isKept`: the receiver keeps it in its table. */
export function literal(name: string, value: string, isKept = false): Buffer {
  return Buffer.concat([Buffer.from([isKept ? 0x40 : 0]), text(name), text(value)]);
}

function text(value: string): Buffer {
  return Buffer.concat([lengthOf(value.length), Buffer.from(value)]);
}

/** A length in 7 bits, or in 7 and as many groups of 7 as it takes. */
function lengthOf(length: number): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** The types of the whole frames in some bytes. */
export function frameTypes(bytes: Buffer): readonly number[] {
  const types: number[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; at += HEAD_BYTES + bytes.readUIntBE(at, 3)) types.push(bytes[at + 3] ?? 0);
  return types;
}
