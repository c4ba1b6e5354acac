import { A2AError } from '#protocol';
import { Gathered } from './bytes.ts';

/** What a body may be before anybody looks into it. */
export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly jsonDepthMax: number;
}

export const DEFAULT_BODY_LIMITS: BodyLimits = { bodyBytesMax: 1_048_576, jsonDepthMax: 64 };

/** JSON that nobody has checked, or why there is none. */
export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: A2AError };

// A BOM is kept, so that JSON.parse refuses it: JSON on a wire has none (RFC 8259 §8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes to JSON: well-formed UTF-8, not nested too deep, well-formed JSON. Never throws. */
export function parseJson(bytes: Uint8Array, jsonDepthMax: number = DEFAULT_BODY_LIMITS.jsonDepthMax): Parsed {
  if (!nestsWithin(bytes, jsonDepthMax)) return refused(`Invalid JSON payload: nested deeper than ${jsonDepthMax}`);
  try {
    return { ok: true, value: JSON.parse(utf8.decode(bytes)) };
  } catch (cause) {
    return refused(undefined, cause);
  }
}

/** The whole body under the limit. Fails with PAYLOAD_TOO_LARGE as soon as that is known: often before the first byte. */
export async function readBytes(message: Request | Response, bodyBytesMax: number): Promise<Uint8Array> {
  const declared = Number(message.headers.get('content-length') ?? 0);
  if (declared > bodyBytesMax) throw tooLarge(bodyBytesMax);
  if (message.body === null) return new Uint8Array(0);
  const reader = message.body.getReader();
  const gathered = new Gathered();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return gathered.take();
    if (gathered.length + value.length > bodyBytesMax) {
      reader.cancel().catch(() => undefined); // the sender is told by the answer; how its stream ends is of no interest
      throw tooLarge(bodyBytesMax);
    }
    gathered.add(value);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What a byte outside of strings does to the depth. */
const STEP = new Int8Array(256);
for (const bracket of '[{') STEP[bracket.charCodeAt(0)] = 1;
for (const bracket of ']}') STEP[bracket.charCodeAt(0)] = -1;

/**
 * No more than `max` arrays and objects inside each other, brackets in strings aside. JSON.parse takes half a million of them
 * and JSON.stringify then overflows the stack, so this looks at the bytes first. One pass that knows of strings costs no
 * more than one that only counts brackets: most bytes of JSON are in strings.
 */
export function nestsWithin(bytes: Uint8Array, max: number): boolean {
  const { length } = bytes;
  let depth = 0;
  let at = 0;
  while (at < length) {
    let byte = bytes[at++] as number;
    depth += STEP[byte] as number;
    if (depth > max) return false;
    if (byte !== QUOTE) continue;
    do {
      byte = bytes[at++] as number;
      if (byte === BACKSLASH) at += 1;
    } while (byte !== QUOTE && at < length);
  }
  return true;
}

function refused(message: string | undefined, cause?: unknown): Parsed {
  return { ok: false, error: new A2AError('PARSE_ERROR', message, cause === undefined ? {} : { cause }) };
}

function tooLarge(bodyBytesMax: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `Request body too large: more than ${bodyBytesMax} bytes`);
}
