import type { Json, JsonDraft, JsonObject, Metadata, Mutable } from '../../json.ts';
import type { DataPart, FilePart, Part } from '../../parts.ts';
import type { Raw } from './read.ts';
import { fail, oneOf, textIf } from './read.ts';

/** The parts of every version before 1.0: text, file or data. */
export type WirePart = 'text' | 'file' | 'data';
const WIRE_PARTS: ReadonlyMap<unknown, WirePart> = new Map<unknown, WirePart>([
  ['text', 'text'],
  ['file', 'file'],
  ['data', 'data'],
]);

/** What a part is, by its `kind` or `type`. Without one, the only member that is present tells. */
export function wirePartOf(p: Raw, discriminator: 'kind' | 'type'): WirePart {
  const value = p[discriminator];
  return isSet(value) ? oneOf(value, discriminator, WIRE_PARTS) : onlyMember(p);
}

/** What a part without a discriminator is. Fails unless exactly one member is present. */
export function onlyMember(p: Raw): WirePart {
  const found = Number(isSet(p.text)) + Number(isSet(p.file)) + Number(isSet(p.data));
  if (found !== 1) return fail('', `must have exactly one of text, file, data; has ${found}`);
  return isSet(p.text) ? 'text' : isSet(p.file) ? 'file' : 'data';
}

/** Optional members may be null in 0.x, because pydantic writes them so. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Adds the name and media type that the wire's `file` object has. */
export function withFileMembers(part: FilePart, file: Raw): FilePart {
  const out: Mutable<FilePart> = part;
  const filename = textIf(file.name, 'name');
  if (filename !== undefined && filename !== '') out.filename = filename;
  const mediaType = textIf(file.mimeType ?? file.mime_type, 'mimeType');
  if (mediaType !== undefined && mediaType !== '') out.mediaType = mediaType;
  return out;
}

/** Adds the part's name and media type to the wire's `file` object. */
export function writeFileMembers(file: JsonDraft, part: Part): JsonDraft {
  if (part.filename !== undefined) file.name = part.filename;
  if (part.mediaType !== undefined) file.mimeType = part.mediaType;
  return file;
}

/**
 * Before 1.0 a data part holds an object. Any other value is sent as `{value}` with this mark
 * (docs/dialects/v03.md, "Data that is not an object").
 */
const WRAPPED = 'data_part_compat';

/** Restores data that `wrapData` wrapped. */
export function unwrapData(data: Json, metadata: Metadata | undefined): DataPart {
  if (metadata === undefined) return { data };
  const value = metadata[WRAPPED] === true && isJsonObject(data) && Object.keys(data).length === 1 ? data.value : undefined;
  if (value === undefined) return { data, metadata };
  const { [WRAPPED]: _, ...rest } = metadata;
  return Object.keys(rest).length === 0 ? { data: value } : { data: value, metadata: rest };
}

/** The members `data` and `metadata` of a data part as they are written. */
export function wrapData({ data, metadata }: DataPart): { readonly data: JsonObject; readonly metadata?: Metadata } {
  if (!isJsonObject(data)) return { data: { value: data }, metadata: { ...metadata, [WRAPPED]: true } };
  return metadata === undefined ? { data } : { data, metadata };
}

function isJsonObject(data: Json): data is JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
