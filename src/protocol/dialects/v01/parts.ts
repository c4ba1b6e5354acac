import type { Json, JsonDraft, Mutable } from '../../json.ts';
import type { DataPart, FilePart, Part } from '../../parts.ts';
import type { ReadEnv } from '../dialect.ts';
import { fail, freeform, isRaw, member, metadataIf, missingOr, object, text, textIf } from '../shared/read.ts';
import { base64 } from '../shared/values.ts';
import { isSet, unwrapData, wirePartOf, wrapData, writeFileMembers } from '../shared/wire-parts.ts';

/** The earliest schema let `type` be left out. Then the one member that is present tells the type. */
export function readPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const type = wirePartOf(p, 'type');
  const metadata = metadataIf(p.metadata, 'metadata', env);
  if (type === 'data') return unwrapData(readData(p.data, env), metadata);
  const out: Mutable<Part> = type === 'text' ? { text: text(p.text, 'text') } : member(p.file, 'file', readFile, env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/** 0.1's data is an object; its text also allows a list. */
function readData(raw: unknown, env: ReadEnv): Json {
  if (typeof raw !== 'object' || raw === null) return fail('data', missingOr(raw, 'must be an object or an array'));
  return freeform(raw, 'data', env);
}

/**
 * `{name?, mimeType?, bytes?|uri?}`. 0.1 allows a file without content, 1.0 does not. In a response such
 * a file becomes a data part with its name and type. In a request it is an error (`checkFiles`).
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
  if (part.data !== undefined) return { type: 'data', ...wrapData(part) };
  const out: JsonDraft = part.text === undefined ? { type: 'file', file: writeFile(part) } : { type: 'text', text: part.text };
  if (part.metadata !== undefined) out.metadata = part.metadata;
  return out;
}

function writeFile(part: FilePart): Json {
  return writeFileMembers(part.url === undefined ? { bytes: part.raw } : { uri: part.url }, part);
}
