import type { Json, Mutable } from './json.ts';
import { parseJson } from './json.ts';
import type { FilePart, Part } from './parts.ts';

/**
 * A message's content as language models take it: text, and media that a model sees, hears or reads. Every provider's own
 * shape is one step from here.
 */
export type LlmContent = LlmText | LlmMedia;

export interface LlmText {
  readonly kind: 'text';
  readonly text: string;
  /** `application/json`: the text is a data part's JSON. */
  readonly mediaType?: string;
}

export type LlmMedia = {
  readonly kind: 'image' | 'audio' | 'file';
  readonly mediaType: string;
  readonly name?: string;
} & ({ readonly data: string; readonly url?: never } | { readonly url: string; readonly data?: never });

const JSON_TYPE = 'application/json';
const UNKNOWN_TYPE = 'application/octet-stream';

/** For files that come without a media type: those that models take. */
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
 * Parts for a model. Data becomes its JSON. What a model has no use for is left behind: metadata, and the file name of text
 * and data. A file without a media type gets one: by its name's ending, otherwise `application/octet-stream`.
 */
export function partsToLlmContent(parts: readonly Part[]): readonly LlmContent[] {
  return parts.map((part) => {
    if (part.text !== undefined) return part.mediaType === undefined ? textOf(part.text) : textOf(part.text, part.mediaType);
    if (part.data !== undefined) return textOf(JSON.stringify(part.data), JSON_TYPE);
    return mediaOf(part);
  });
}

/** A model's content as parts. Text that says it is JSON becomes data if it is, and stays text if it is not. */
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
  const extension = /\.([^./]+)$/.exec(name)?.[1] ?? '';
  return TYPE_OF_EXTENSION.get(extension.toLowerCase()) ?? UNKNOWN_TYPE;
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
