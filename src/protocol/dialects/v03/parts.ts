import type { Json, JsonObject, Metadata, Mutable } from '../../json.ts';
import { unreachable } from '../../json.ts';
import type { DataPart, FilePart, Part } from '../../parts.ts';
import { partKind } from '../../parts.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from '../shared/read.ts';
import { fail, freeform, isRaw, member, metadataIf, missingOr, object, oneOf, text, textIf } from '../shared/read.ts';
import { base64 } from '../shared/values.ts';

/** JSON under construction. */
export type Out = { [key: string]: Json };

/** 0.3's data is an object. Any other value is sent as `{value}` with this mark (docs/dialects/v03.md, "Data that is no object"). */
const WRAPPED = 'data_part_compat';

type WirePart = 'text' | 'file' | 'data';
const KINDS: ReadonlyMap<unknown, WirePart> = new Map<unknown, WirePart>([
  ['text', 'text'],
  ['file', 'file'],
  ['data', 'data'],
]);

/** `{kind:"text"|"file"|"data", …}`. Without `kind`, the one member that is present tells the kind. */
export function readKindPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const kind = isSet(p.kind) ? oneOf(p.kind, 'kind', KINDS) : onlyMember(p);
  if (kind === 'data') return unwrapped(readData(p.data, env), p, env);
  return withMetadata(kind === 'text' ? { text: text(p.text, 'text') } : member(p.file, 'file', readKindFile, env), p, env);
}

/** The oneof of 0.3's Part: `{text}`, `{file:{fileWithUri|fileWithBytes}}`, `{data:{data}}`. */
export function readProtoPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const kind = onlyMember(p);
  if (kind === 'data') return unwrapped(member(p.data, 'data', readInnerData, env), p, env);
  return withMetadata(kind === 'text' ? { text: text(p.text, 'text') } : member(p.file, 'file', readProtoFile, env), p, env);
}

function onlyMember(p: Raw): WirePart {
  const found = Number(isSet(p.text)) + Number(isSet(p.file)) + Number(isSet(p.data));
  if (found !== 1) return fail('', `must have exactly one of text, file, data; has ${found}`);
  return isSet(p.text) ? 'text' : isSet(p.file) ? 'file' : 'data';
}

function withMetadata(part: Part, p: Raw, env: ReadEnv): Part {
  const metadata = metadataIf(p.metadata, 'metadata', env);
  if (metadata !== undefined) (part as Mutable<Part>).metadata = metadata;
  return part;
}

function readData(raw: unknown, env: ReadEnv): JsonObject {
  if (!isRaw(raw)) return fail('data', missingOr(raw, 'must be an object'));
  return freeform(raw, 'data', env) as JsonObject;
}

function readInnerData(raw: unknown, env: ReadEnv): JsonObject {
  return readData(object(raw).data, env);
}

function unwrapped(data: JsonObject, p: Raw, env: ReadEnv): DataPart {
  const metadata = metadataIf(p.metadata, 'metadata', env);
  if (metadata === undefined) return { data };
  if (metadata[WRAPPED] !== true || !Object.hasOwn(data, 'value') || Object.keys(data).length !== 1) return { data, metadata };
  const { [WRAPPED]: _, ...rest } = metadata;
  const value = data.value as Json;
  return Object.keys(rest).length === 0 ? { data: value } : { data: value, metadata: rest };
}

function readKindFile(raw: unknown): FilePart {
  const f = object(raw);
  const { bytes, uri } = f;
  if (isSet(bytes) === isSet(uri)) return fail('', 'must have exactly one of bytes, uri');
  return withFileMembers(isSet(bytes) ? { raw: base64(bytes, 'bytes') } : { url: text(uri, 'uri') }, f);
}

function readProtoFile(raw: unknown): FilePart {
  const f = object(raw);
  const bytes = f.fileWithBytes ?? f.file_with_bytes;
  const uri = f.fileWithUri ?? f.file_with_uri;
  if (isSet(bytes) === isSet(uri)) return fail('', 'must have exactly one of fileWithBytes, fileWithUri');
  return withFileMembers(isSet(bytes) ? { raw: base64(bytes, 'fileWithBytes') } : { url: text(uri, 'fileWithUri') }, f);
}

function withFileMembers(part: FilePart, f: Raw): FilePart {
  const out: Mutable<FilePart> = part;
  const filename = textIf(f.name, 'name');
  if (filename !== undefined && filename !== '') out.filename = filename;
  const mediaType = textIf(f.mimeType ?? f.mime_type, 'mimeType');
  if (mediaType !== undefined && mediaType !== '') out.mediaType = mediaType;
  return out;
}

/** Optional members may be null in 0.x, because pydantic writes them so. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function writeKindPart(part: Part): Out {
  const kind = partKind(part);
  switch (kind) {
    case 'text':
      return described({ kind: 'text', text: part.text as string }, part.metadata);
    case 'raw':
      return described({ kind: 'file', file: fileMembers({ bytes: part.raw as string }, part) }, part.metadata);
    case 'url':
      return described({ kind: 'file', file: fileMembers({ uri: part.url as string }, part) }, part.metadata);
    case 'data':
      return isObject(part.data)
        ? described({ kind: 'data', data: part.data as Json }, part.metadata)
        : { kind: 'data', data: { value: part.data as Json }, metadata: { ...part.metadata, [WRAPPED]: true } };
    default:
      return unreachable(kind);
  }
}

export function writeProtoPart(part: Part): Out {
  const kind = partKind(part);
  switch (kind) {
    case 'text':
      return described({ text: part.text as string }, part.metadata);
    case 'raw':
      return described({ file: fileMembers({ fileWithBytes: part.raw as string }, part) }, part.metadata);
    case 'url':
      return described({ file: fileMembers({ fileWithUri: part.url as string }, part) }, part.metadata);
    case 'data':
      return isObject(part.data)
        ? described({ data: { data: part.data as Json } }, part.metadata)
        : { data: { data: { value: part.data as Json } }, metadata: { ...part.metadata, [WRAPPED]: true } };
    default:
      return unreachable(kind);
  }
}

function isObject(data: Json | undefined): boolean {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

function described(out: Out, metadata: Metadata | undefined): Out {
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function fileMembers(out: Out, part: Part): Out {
  if (part.filename !== undefined) out.name = part.filename;
  if (part.mediaType !== undefined) out.mimeType = part.mediaType;
  return out;
}
