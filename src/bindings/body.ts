import { A2AError } from '#protocol';
import { ByteCollector } from './bytes.ts';
import type { ReadTimeout } from './idle-timer.ts';
import { IdleTimer } from './idle-timer.ts';

/** What a body may be before anybody looks into it. */
export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly jsonDepthMax: number;
  /** Arrays, objects and members of objects: what JSON costs to read. Numbers and texts in a list cost little. */
  readonly jsonMembersMax: number;
}

export const DEFAULT_BODY_LIMITS: BodyLimits = { bodyBytesMax: 1_048_576, jsonDepthMax: 64, jsonMembersMax: 50_000 };

/** JSON that nobody has checked, or why there is none. */
export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: A2AError };

// A BOM is kept, so that JSON.parse refuses it: JSON on a wire has none (RFC 8259 §8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes to JSON: well-formed UTF-8, not nested too deep, not of too many members, well-formed JSON. Never throws. */
export function parseJson(bytes: Uint8Array, jsonDepthMax: number, jsonMembersMax: number = Number.POSITIVE_INFINITY): ParsedJson {
  try {
    const text = utf8.decode(bytes);
    const isSmall = bytes.length <= jsonMembersMax && opensFew(text, jsonDepthMax);
    const excess = isSmall ? undefined : excessIn(bytes, jsonDepthMax, jsonMembersMax);
    if (excess === undefined) return { ok: true, value: JSON.parse(text) };
    if (excess === 'depth') return refused(`Invalid JSON payload: nested deeper than ${jsonDepthMax}`);
    return { ok: false, error: new A2AError('INVALID_REQUEST', `more than ${jsonMembersMax} members in one request`) };
  } catch (cause) {
    return refused(undefined, cause);
  }
}

/** Fewer brackets of each kind than the maximum depth: the JSON can't be nested too deep. This settles most bodies without a scan byte by byte. */
function opensFew(text: string, max: number): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > max) return false;
    }
  }
  return true;
}

/**
 * The whole body under the limit. Fails with PAYLOAD_TOO_LARGE as soon as that is known: often before the first byte. The signal
 * ends the wait for a sender that has stopped sending, whether or not the body listens to it as well.
 */
export async function readBytes(message: Request | Response, bodyBytesMax: number, timeout: ReadTimeout = {}): Promise<Uint8Array> {
  const timer = new IdleTimer(timeout, () => undefined);
  return await readTimed(message, bodyBytesMax, { timer, idleMs: timeout.idleMs });
}

export interface TimedRead {
  readonly timer: IdleTimer;
  readonly idleMs: number | undefined;
}

/** The same under a timer that has begun before the body did. It ends with the body. */
export async function readTimed(message: Request | Response, bodyBytesMax: number, { timer, idleMs }: TimedRead): Promise<Uint8Array> {
  let close = (): void => undefined;
  try {
    const declared = Number(message.headers.get('content-length') ?? 0);
    if (declared > bodyBytesMax) throw tooLarge(bodyBytesMax);
    if (message.body === null) return new Uint8Array(0);
    const reader = message.body.getReader();
    close = () => void reader.cancel().catch(() => undefined); // how the sender's stream ends is of no interest
    timer.extend(idleMs, close);
    // Where the length is that of these very bytes, the last of them is known without asking for more.
    const length = message.headers.get('content-encoding') === null ? declared : 0;
    const collected = new ByteCollector();
    for (;;) {
      timer.check();
      const { done, value } = await reader.read();
      timer.check();
      timer.touch();
      if (done) return collected.take();
      if (collected.length + value.length > bodyBytesMax) throw tooLarge(bodyBytesMax);
      collected.add(value);
      if (collected.length === length) return collected.take();
    }
  } catch (thrown) {
    close();
    timer.check(); // that it was closed may be our doing
    throw thrown;
  } finally {
    timer.stop();
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OTHER = 0;
const STRING = 1;
const OPENING = 2;
const CLOSING = 3;
const COLON = 4;

/** What a byte outside of a string is. One look-up a byte is what makes the scan cheap; bytes of longer characters are OTHER. */
const KIND = new Uint8Array(256);
KIND[QUOTE] = STRING;
for (const bracket of '[{') KIND[bracket.charCodeAt(0)] = OPENING;
for (const bracket of ']}') KIND[bracket.charCodeAt(0)] = CLOSING;
KIND[':'.charCodeAt(0)] = COLON;

/**
 * No more than `max` arrays and objects inside each other. JSON.parse takes half a million of them and JSON.stringify then
 * overflows the stack, so this looks at the bytes first.
 */
export function nestsWithin(bytes: Uint8Array, max: number): boolean {
  return excessIn(bytes, max, Number.POSITIVE_INFINITY) === undefined;
}

/** JSON.parse takes 60 ms for a MiB of the smallest members, and no other request is served meanwhile (docs/faults.md, H14). So members are counted first. */
function excessIn(bytes: Uint8Array, depthMax: number, membersMax: number): 'depth' | 'members' | undefined {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const kind = KIND[bytes[at] as number] as number;
    if (kind === OTHER) continue;
    if (kind === STRING) at = endOfString(bytes, at + 1);
    else if (kind === CLOSING) depth -= 1;
    else {
      members += 1;
      if (kind === OPENING) depth += 1;
      if (depth > depthMax) return 'depth';
    }
  }
  return members > membersMax ? 'members' : undefined;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte !== QUOTE && byte !== undefined; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1;
  return at;
}

function refused(message: string | undefined, cause?: unknown): ParsedJson {
  return { ok: false, error: new A2AError('PARSE_ERROR', message, cause === undefined ? {} : { cause }) };
}

function tooLarge(bodyBytesMax: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `Request body too large: more than ${bodyBytesMax} bytes`);
}
