import type { JsonDraft, JsonObject, Metadata, Mutable } from '../../json.ts';
import type { FilePart, Part } from '../../parts.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from '../shared/read.ts';
import { fail, freeform, isRaw, member, metadataIf, missingOr, object, text } from '../shared/read.ts';
import { base64 } from '../shared/values.ts';
import { isSet, onlyMember, unwrapData, wirePartOf, withFileMembers, wrapData, writeFileMembers } from '../shared/wire-parts.ts';

/** `{kind:"text"|"file"|"data", …}`. Without `kind`, the one member that is present tells the kind. */
export function readKindPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const kind = wirePartOf(p, 'kind');
  if (kind === 'data') return unwrapData(readData(p.data, env), metadataIf(p.metadata, 'metadata', env));
  return withMetadata(kind === 'text' ? { text: text(p.text, 'text') } : member(p.file, 'file', readKindFile, env), p, env);
}

/** The oneof of 0.3's Part: `{text}`, `{file:{fileWithUri|fileWithBytes}}`, `{data:{data}}`. */
export function readProtoPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const kind = onlyMember(p);
  if (kind === 'data') return unwrapData(member(p.data, 'data', readInnerData, env), metadataIf(p.metadata, 'metadata', env));
  return withMetadata(kind === 'text' ? { text: text(p.text, 'text') } : member(p.file, 'file', readProtoFile, env), p, env);
}

export function withMetadata(part: Part, p: Raw, env: ReadEnv): Part {
  const metadata = metadataIf(p.metadata, 'metadata', env);
  if (metadata === undefined) return part;
  const out: Mutable<Part> = part;
  out.metadata = metadata;
  return out;
}

function readData(raw: unknown, env: ReadEnv): JsonObject {
  if (!isRaw(raw)) return fail('data', missingOr(raw, 'must be an object'));
  return freeform(raw, 'data', env);
}

function readInnerData(raw: unknown, env: ReadEnv): JsonObject {
  return readData(object(raw).data, env);
}

/** A file has exactly one of `bytes` and `uri`. */
export function readKindFile(raw: unknown): FilePart {
  const f = object(raw);
  const { bytes, uri } = f;
  if (isSet(bytes) === isSet(uri)) return fail('', 'must have exactly one of bytes, uri');
  return withFileMembers(isSet(bytes) ? { raw: base64(bytes, 'bytes') } : { url: text(uri, 'uri') }, f);
}

/** The HTTP+JSON form of 0.3 calls them `fileWithBytes` and `fileWithUri`. */
function readProtoFile(raw: unknown): FilePart {
  const f = object(raw);
  const bytes = f.fileWithBytes ?? f.file_with_bytes;
  const uri = f.fileWithUri ?? f.file_with_uri;
  if (isSet(bytes) === isSet(uri)) return fail('', 'must have exactly one of fileWithBytes, fileWithUri');
  return withFileMembers(isSet(bytes) ? { raw: base64(bytes, 'fileWithBytes') } : { url: text(uri, 'fileWithUri') }, f);
}

/** A part of the JSON-RPC form, with `kind`. */
export function writeKindPart(part: Part): JsonDraft {
  if (part.text !== undefined) return described({ kind: 'text', text: part.text }, part.metadata);
  if (part.data !== undefined) return { kind: 'data', ...wrapData(part) };
  const content: JsonDraft = part.url === undefined ? { bytes: part.raw } : { uri: part.url };
  return described({ kind: 'file', file: writeFileMembers(content, part) }, part.metadata);
}

/** A part of the HTTP+JSON form, where data are nested once more. */
export function writeProtoPart(part: Part): JsonDraft {
  if (part.text !== undefined) return described({ text: part.text }, part.metadata);
  if (part.data !== undefined) {
    const { data, metadata } = wrapData(part);
    return described({ data: { data } }, metadata);
  }
  const content: JsonDraft = part.url === undefined ? { fileWithBytes: part.raw } : { fileWithUri: part.url };
  return described({ file: writeFileMembers(content, part) }, part.metadata);
}

function described(out: JsonDraft, metadata: Metadata | undefined): JsonDraft {
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}
