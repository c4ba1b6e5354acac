import { A2AError } from '#protocol';
import { ByteCollector } from './bytes.ts';
import type { ReadTimeout } from './idle-timer.ts';
import { IdleTimer } from './idle-timer.ts';

/** The limits that a body must keep before it is decoded. */
export interface BodyLimits {
  /** Maximum size of a body in bytes. */
  readonly bodyBytesMax: number;
  /** Maximum nesting of arrays and objects. */
  readonly jsonDepthMax: number;
  /**
   * Maximum number of arrays, objects and object members together. These make JSON slow to parse;
   * numbers and strings in arrays cost little.
   */
  readonly jsonMembersMax: number;
}

/** 1 MiB, 64 levels, 50,000 members. */
export const DEFAULT_BODY_LIMITS: BodyLimits = { bodyBytesMax: 1_048_576, jsonDepthMax: 64, jsonMembersMax: 50_000 };

/** Parsed JSON of any shape, or the error. */
export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: A2AError };

// `ignoreBOM` keeps a byte order mark in the text, so that JSON.parse rejects it (RFC 8259 §8.1: JSON must not begin with one).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses bytes as UTF-8 and JSON, within a maximum depth and a maximum number of members. Never throws.
 */
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

/**
 * With no more opening brackets than the maximum depth, JSON can't be nested too deep. This settles
 * most bodies without a scan byte by byte.
 */
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
 * Reads a whole body. Fails with PAYLOAD_TOO_LARGE as soon as the size is known, which is often before
 * the first byte. The timeout's signal ends the wait for a sender that has stopped sending, even if the
 * body itself does not listen to that signal.
 */
export async function readBytes(message: Request | Response, bodyBytesMax: number, timeout: ReadTimeout = {}): Promise<Uint8Array> {
  const timer = new IdleTimer(timeout, () => undefined);
  return await readTimed(message, bodyBytesMax, { timer, idleMs: timeout.idleMs });
}

/** A timer that runs already, and the idle time to use once the body starts. */
export interface TimedRead {
  readonly timer: IdleTimer;
  readonly idleMs: number | undefined;
}

/** Like `readBytes`, with a timer that has started before the body. Stops the timer at the end. */
export async function readTimed(message: Request | Response, bodyBytesMax: number, { timer, idleMs }: TimedRead): Promise<Uint8Array> {
  let close = (): void => undefined;
  try {
    const declared = Number(message.headers.get('content-length') ?? 0);
    if (declared > bodyBytesMax) throw bodyTooLarge(bodyBytesMax);
    if (message.body === null) return new Uint8Array(0);
    const reader = message.body.getReader();
    close = () => void reader.cancel().catch(() => undefined); // errors of a stream that nobody reads do not matter
    timer.extend(idleMs, close);
    // Without a content encoding, Content-Length tells the last chunk, so no further read is needed.
    const length = message.headers.get('content-encoding') === null ? declared : 0;
    const collected = new ByteCollector();
    for (;;) {
      timer.check();
      const { done, value } = await reader.read();
      timer.check();
      timer.touch();
      if (done) return collected.take();
      if (collected.length + value.length > bodyBytesMax) throw bodyTooLarge(bodyBytesMax);
      collected.add(value);
      if (collected.length === length) return collected.take();
    }
  } catch (thrown) {
    close();
    timer.check(); // the timer itself may have closed the body
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

/**
 * The kind of each byte outside strings. One look-up per byte keeps the scan fast. Bytes of multi-byte
 * characters are OTHER.
 */
const KIND = new Uint8Array(256);
KIND[QUOTE] = STRING;
for (const bracket of '[{') KIND[bracket.charCodeAt(0)] = OPENING;
for (const bracket of ']}') KIND[bracket.charCodeAt(0)] = CLOSING;
KIND[':'.charCodeAt(0)] = COLON;

/**
 * Whether at most `max` arrays and objects are nested in each other. JSON.parse accepts half a million
 * levels, on which JSON.stringify then overflows the stack. So the bytes are checked before they are
 * parsed.
 */
export function nestsWithin(bytes: Uint8Array, max: number): boolean {
  return excessIn(bytes, max, Number.POSITIVE_INFINITY) === undefined;
}

/**
 * Counts members before parsing: JSON.parse takes 60 ms for 1 MiB of the smallest members, and blocks
 * all other requests meanwhile (docs/faults.md, H14).
 */
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

/** The error for a request that is larger than the limit. */
export function bodyTooLarge(bodyBytesMax: number, options: { readonly cause?: unknown } = {}): A2AError {
  const hint = "Send a link to a large file, or raise the server's limit bodyBytesMax";
  return new A2AError('PAYLOAD_TOO_LARGE', `Request body too large: more than ${bodyBytesMax} bytes. ${hint}`, options);
}
