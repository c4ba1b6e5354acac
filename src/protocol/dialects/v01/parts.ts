import type { Json, Metadata, Mutable } from '../../json.ts';
import { unreachable } from '../../json.ts';
import type { DataPart, FilePart, Part, TextPart } from '../../parts.ts';
import { partKind } from '../../parts.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from '../shared/read.ts';
import { fail, freeform, isRaw, member, metadataIf, missingOr, object, oneOf, text, textIf } from '../shared/read.ts';
import { base64 } from '../shared/values.ts';

type PartType = 'text' | 'file' | 'data';
const TYPES: ReadonlyMap<unknown, PartType> = new Map<unknown, PartType>([
  ['text', 'text'],
  ['file', 'file'],
  ['data', 'data'],
]);

/**
 * 0.1's data is an object (its text also allows a list). Any other value is wrapped as in 0.3 (docs/dialects/v03.md, "Data that is no
 * object").
 */
const WRAPPED = 'data_part_compat';

/** The earliest schema let `type` be left out. Then the one member that is present tells the type. */
export function readPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const type = isSet(p.type) ? oneOf(p.type, 'type', TYPES) : onlyMember(p);
  const metadata = metadataIf(p.metadata, 'metadata', env);
  switch (type) {
    case 'text': {
      const out: Mutable<TextPart> = { text: text(p.text, 'text') };
      if (metadata !== undefined) out.metadata = metadata;
      return out;
    }
    case 'file': {
      const out: Mutable<Part> = member(p.file, 'file', readFile, env);
      if (metadata !== undefined) out.metadata = metadata;
      return out;
    }
    case 'data':
      return readData(p.data, metadata, env);
    default:
      return unreachable(type);
  }
}

function onlyMember(p: Raw): PartType {
  const found = Number(isSet(p.text)) + Number(isSet(p.file)) + Number(isSet(p.data));
  if (found !== 1) return fail('', `must have exactly one of text, file, data; has ${found}`);
  return isSet(p.text) ? 'text' : isSet(p.file) ? 'file' : 'data';
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readData(raw: unknown, metadata: Metadata | undefined, env: ReadEnv): DataPart {
  if (typeof raw !== 'object' || raw === null) return fail('data', missingOr(raw, 'must be an object or an array'));
  const data = freeform(raw, 'data', env);
  if (metadata === undefined) return { data };
  if (metadata[WRAPPED] !== true || !isRaw(raw) || !Object.hasOwn(raw, 'value')) return { data, metadata };
  const { [WRAPPED]: _, ...rest } = metadata;
  const value = raw.value as Json;
  return Object.keys(rest).length === 0 ? { data: value } : { data: value, metadata: rest };
}

/**
 * `{name?, mimeType?, bytes?|uri?}`. 0.1 allows a file with neither, which only refers to it; 1.0 has no such file. In a response, what is
 * known of it is kept as data. A request with one is refused (`checkFiles`).
 */
function readFile(raw: unknown): FilePart | DataPart {
  const f = object(raw);
  const filename = textIf(f.name, 'name');
  const mediaType = textIf(f.mimeType, 'mimeType');
  const { bytes, uri } = f;
  // A peer that writes every member writes '' for the absent one.
  const [hasBytes, hasUri] = [isSet(bytes) && bytes !== '', isSet(uri) && uri !== ''];
  if (hasBytes && hasUri) return fail('', 'must have exactly one of bytes, uri; has 2');
  if (!hasUri && !isSet(bytes)) return { data: { ...(filename ? { name: filename } : {}), ...(mediaType ? { mimeType: mediaType } : {}) } };
  const out: Mutable<FilePart> = hasUri ? { url: text(uri, 'uri') } : { raw: base64(bytes, 'bytes') };
  if (filename) out.filename = filename;
  if (mediaType) out.mediaType = mediaType;
  return out;
}

/** Refuses a file without content. Only requests are checked; a response is read as it comes. */
export function checkFiles(parts: readonly unknown[]): void {
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    if (!isRaw(part) || !isRaw(part.file)) continue;
    const { bytes, uri } = part.file;
    if (!isSet(bytes) && (!isSet(uri) || uri === '')) fail(`parts[${at}].file`, 'must have exactly one of bytes, uri; has 0');
  }
}

export function writeParts(parts: readonly Part[]): Json {
  const out: Json[] = [];
  for (const part of parts) out.push(writePart(part));
  return out;
}

function writePart(part: Part): Json {
  const kind = partKind(part);
  switch (kind) {
    case 'text':
      return part.metadata === undefined
        ? { type: 'text', text: part.text as string }
        : { type: 'text', text: part.text as string, metadata: part.metadata };
    case 'raw':
      return writeFile(part, { bytes: part.raw as string });
    case 'url':
      return writeFile(part, { uri: part.url as string });
    case 'data':
      return writeData(part.data as Json, part.metadata);
    default:
      return unreachable(kind);
  }
}

function writeFile(part: Part, file: { [member: string]: Json }): Json {
  if (part.filename !== undefined) file.name = part.filename;
  if (part.mediaType !== undefined) file.mimeType = part.mediaType;
  return part.metadata === undefined ? { type: 'file', file } : { type: 'file', file, metadata: part.metadata };
}

function writeData(data: Json, metadata: Metadata | undefined): Json {
  if (!isRaw(data)) return { type: 'data', data: { value: data }, metadata: { ...metadata, [WRAPPED]: true } };
  return metadata === undefined ? { type: 'data', data } : { type: 'data', data, metadata };
}
