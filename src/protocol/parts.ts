import type { Json, Metadata, OneOf } from './json.ts';
import { unreachable } from './json.ts';

/**
 * Content of a message or an artifact (A2A 1.0.1 §4.1.6). Exactly one of `text`, `raw` (base64), `url`
 * and `data` is present. The other members are allowed on every kind.
 */
export type Part = OneOf<{ text: string; raw: string; url: string; data: Json }> & {
  /** Free members. */
  readonly metadata?: Metadata;
  /** File name, also for text and data. */
  readonly filename?: string;
  /** For example `text/markdown`. */
  readonly mediaType?: string;
};
/** A part with text. */
export type TextPart = Extract<Part, { readonly text: string }>;
/** A part with a JSON value. */
export type DataPart = Extract<Part, { readonly data: Json }>;
/** A part with a file: its bytes as base64 (`raw`), or a link (`url`). */
export type FilePart = Extract<Part, { readonly raw: string } | { readonly url: string }>;
/** The member that holds the content. */
export type PartKind = 'text' | 'raw' | 'url' | 'data';

/** What to say about a file beside its content. */
export interface FileOptions {
  /** File name, written as `filename`. */
  readonly name?: string;
  /** For example `image/png`. */
  readonly mediaType?: string;
  /** Free members of the part. */
  readonly metadata?: Metadata;
}

/** The member that holds the content, for use in a `switch`. */
export function partKind(part: Part): PartKind {
  if (part.text !== undefined) return 'text';
  if (part.raw !== undefined) return 'raw';
  if (part.url !== undefined) return 'url';
  if (part.data !== undefined) return 'data';
  return unreachable(part);
}

/** A part with text. */
export function createTextPart(text: string, metadata?: Metadata): TextPart {
  return metadata === undefined ? { text } : { text, metadata };
}

/**
 * A part with any JSON value.
 *
 * ```ts
 * const part = createDataPart({ optionId: 'yes' });
 * ```
 */
export function createDataPart(data: Json, metadata?: Metadata): DataPart {
  return metadata === undefined ? { data } : { data, metadata };
}

/**
 * A file by reference. The receiver downloads it, so the URL must be reachable from there.
 *
 * ```ts
 * const part = createFilePartFromUri('https://files.example/plan.pdf', { mediaType: 'application/pdf' });
 * ```
 */
export function createFilePartFromUri(url: string, options: FileOptions = {}): FilePart {
  return { url, ...fileMembers(options) };
}

/**
 * A file with its content. Takes bytes, or text that is base64 already.
 *
 * ```ts
 * const part = createFilePartFromBytes(await readFile('plan.pdf'), { name: 'plan.pdf', mediaType: 'application/pdf' });
 * ```
 */
export function createFilePartFromBytes(bytes: Uint8Array | string, options: FileOptions = {}): FilePart {
  return { raw: typeof bytes === 'string' ? bytes : bytesToBase64(bytes), ...fileMembers(options) };
}

/** Whether a part holds text. Narrows its type. */
export function isTextPart(part: Part): part is TextPart {
  return part.text !== undefined;
}

/** Whether a part holds a JSON value. Narrows its type. */
export function isDataPart(part: Part): part is DataPart {
  return part.data !== undefined;
}

/** Whether a part holds a file, as bytes or as a link. Narrows its type. */
export function isFilePart(part: Part): part is FilePart {
  return part.raw !== undefined || part.url !== undefined;
}

/** The JSON value of a data part. */
export function getDataFromDataPart(part: DataPart): Json {
  return part.data;
}

/** The URL of a file part; undefined when the part holds the bytes. */
export function getUriFromFilePart(part: FilePart): string | undefined {
  return part.url;
}

/** The bytes of a file part; undefined when the part is a link. Downloads nothing. */
export function getBytesFromFilePart(part: FilePart): Uint8Array | undefined {
  return part.raw === undefined ? undefined : base64ToBytes(part.raw);
}

/** Standard base64 with padding. Works in browsers too, where `Buffer` is missing. */
export function bytesToBase64(bytes: Uint8Array): string {
  // `btoa` needs a string with a character for each byte, which takes 5 s for a file of 50 MiB. This takes less than one.
  const groups = Math.ceil(bytes.length / 3);
  const out = new Uint8Array(groups * 4);
  for (let group = 0; group < groups; group += 1) {
    const from = group * 3;
    const bits = ((bytes[from] ?? 0) << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0);
    const to = group * 4;
    out[to] = BASE64[bits >> 18] ?? 0;
    out[to + 1] = BASE64[(bits >> 12) & 63] ?? 0;
    out[to + 2] = BASE64[(bits >> 6) & 63] ?? 0;
    out[to + 3] = BASE64[bits & 63] ?? 0;
  }
  const missing = groups * 3 - bytes.length;
  if (missing > 0) out.fill(PADDING, out.length - missing);
  return ascii.decode(out);
}

const BASE64: Uint8Array = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 0x3d;
const ascii = new TextDecoder('latin1');

/** Decodes standard base64. Throws on other characters. */
export function base64ToBytes(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function fileMembers(options: FileOptions): { filename?: string; mediaType?: string; metadata?: Metadata } {
  return {
    ...(options.name === undefined ? {} : { filename: options.name }),
    ...(options.mediaType === undefined ? {} : { mediaType: options.mediaType }),
    ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
  };
}
