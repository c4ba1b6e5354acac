import type { Json, Mutable } from './json.ts';
import { parseJson } from './json.ts';
import type { FilePart, Part } from './parts.ts';

/**
 * Message content in the form that language models take: text, and media files. Converting this to the
 * request format of one provider is a simple mapping.
 */
export type LlmContent = LlmText | LlmMedia;

/** Text for a model, or text that a model wrote. */
export interface LlmText {
  readonly kind: 'text';
  readonly text: string;
  /** `application/json`: the text is a data part's JSON. */
  readonly mediaType?: string;
}

/** An image, a recording or another file, inline as base64 (`data`) or by `url`. */
export type LlmMedia = {
  readonly kind: 'image' | 'audio' | 'file';
  readonly mediaType: string;
  readonly name?: string;
} & ({ readonly data: string; readonly url?: never } | { readonly url: string; readonly data?: never });

const JSON_TYPE = 'application/json';
const UNKNOWN_TYPE = 'application/octet-stream';

/** Media types for files that come without one, limited to types that models accept. */
const TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['m4a', 'audio/mp4'],
  ['flac', 'audio/flac'],
  ['pdf', 'application/pdf'],
  ['json', JSON_TYPE],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
]);

/**
 * Converts parts for a model. Data parts become JSON text. Metadata, and the file names of text and
 * data parts, are dropped. A file without a media type gets one from its extension, otherwise
 * `application/octet-stream`.
 *
 * ```ts
 * const content = partsToLlmContent(turn.message.parts);
 * // [{ kind: 'text', text: 'What is on this picture?' }, { kind: 'image', mediaType: 'image/png', data: '…' }]
 * ```
 */
export function partsToLlmContent(parts: readonly Part[]): readonly LlmContent[] {
  return parts.map((part) => {
    if (part.text !== undefined) return part.mediaType === undefined ? textOf(part.text) : textOf(part.text, part.mediaType);
    if (part.data !== undefined) return textOf(JSON.stringify(part.data), JSON_TYPE);
    return mediaOf(part);
  });
}

/**
 * Converts a model's content to parts. Text with the media type `application/json` becomes a data part
 * if it parses, and stays text if it does not.
 */
export function llmContentToParts(content: readonly LlmContent[]): readonly Part[] {
  return content.map((item) => (item.kind === 'text' ? partOfText(item) : partOfMedia(item)));
}

function textOf(text: string, mediaType?: string): LlmText {
  return mediaType === undefined ? { kind: 'text', text } : { kind: 'text', text, mediaType };
}

function mediaOf(part: FilePart): LlmMedia {
  const mediaType = part.mediaType ?? guessedType(part);
  const about: { kind: LlmMedia['kind']; mediaType: string; name?: string } = { kind: kindOf(mediaType), mediaType };
  if (part.filename !== undefined) about.name = part.filename;
  return part.url === undefined ? { ...about, data: part.raw } : { ...about, url: part.url };
}

function kindOf(mediaType: string): LlmMedia['kind'] {
  const family = essence(mediaType).split('/')[0];
  return family === 'image' || family === 'audio' ? family : 'file';
}

/** The type without its parameters: `application/json` of `Application/JSON; charset=utf-8`. */
function essence(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

function guessedType(part: FilePart): string {
  const name = part.filename ?? (part.url !== undefined && URL.canParse(part.url) ? new URL(part.url).pathname : '');
  return mediaTypeOfName(name) ?? UNKNOWN_TYPE;
}

/** The media type that belongs to the ending of a file's name. */
export function mediaTypeOfName(name: string): string | undefined {
  const extension = /\.([^./]+)$/.exec(name)?.[1] ?? '';
  return TYPE_OF_EXTENSION.get(extension.toLowerCase());
}

function partOfText(item: LlmText): Part {
  if (item.mediaType === undefined) return { text: item.text };
  const parsed = essence(item.mediaType) === JSON_TYPE ? jsonIf(item.text) : undefined;
  return parsed === undefined ? { text: item.text, mediaType: item.mediaType } : { data: parsed };
}

function jsonIf(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function partOfMedia(item: LlmMedia): Part {
  const out: Mutable<FilePart> = item.url === undefined ? { raw: item.data } : { url: item.url };
  out.mediaType = item.mediaType;
  if (item.name !== undefined) out.filename = item.name;
  return out;
}
