import type { Json, Metadata, OneOf } from './json.ts';
import { unreachable } from './json.ts';

/** A2A 1.0.1 §4.1.6: exactly one of text, raw (base64), url, data; the other members are allowed on every kind. */
export type Part = OneOf<{ text: string; raw: string; url: string; data: Json }> & {
  readonly metadata?: Metadata;
  readonly filename?: string;
  readonly mediaType?: string;
};
export type TextPart = Extract<Part, { readonly text: string }>;
export type DataPart = Extract<Part, { readonly data: Json }>;
export type FilePart = Extract<Part, { readonly raw: string } | { readonly url: string }>;
export type PartKind = 'text' | 'raw' | 'url' | 'data';

export interface FileOptions {
  readonly name?: string;
  readonly mediaType?: string;
  readonly metadata?: Metadata;
}

export function partKind(part: Part): PartKind {
  if (part.text !== undefined) return 'text';
  if (part.raw !== undefined) return 'raw';
  if (part.url !== undefined) return 'url';
  if (part.data !== undefined) return 'data';
  return unreachable(part);
}

export function createTextPart(text: string, metadata?: Metadata): TextPart {
  return metadata === undefined ? { text } : { text, metadata };
}

export function createDataPart(data: Json, metadata?: Metadata): DataPart {
  return metadata === undefined ? { data } : { data, metadata };
}

export function createFilePartFromUri(url: string, options: FileOptions = {}): FilePart {
  return { url, ...fileMembers(options) };
}

/** Takes bytes, or text that is base64 already. */
export function createFilePartFromBytes(bytes: Uint8Array | string, options: FileOptions = {}): FilePart {
  return { raw: typeof bytes === 'string' ? bytes : bytesToBase64(bytes), ...fileMembers(options) };
}

export function isTextPart(part: Part): part is TextPart {
  return part.text !== undefined;
}

export function isDataPart(part: Part): part is DataPart {
  return part.data !== undefined;
}

export function isFilePart(part: Part): part is FilePart {
  return part.raw !== undefined || part.url !== undefined;
}

export function getDataFromDataPart(part: DataPart): Json {
  return part.data;
}

export function getUriFromFilePart(part: FilePart): string | undefined {
  return part.url;
}

export function getBytesFromFilePart(part: FilePart): Uint8Array | undefined {
  return part.raw === undefined ? undefined : base64ToBytes(part.raw);
}

export function bytesToBase64(bytes: Uint8Array): string {
  const PIECE = 0x8000; // a spread of more arguments than this overflows the stack
  let binary = '';
  for (let start = 0; start < bytes.length; start += PIECE) {
    binary += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  }
  return btoa(binary);
}

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
