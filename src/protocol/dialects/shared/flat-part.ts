import type { Mutable } from '../../json.ts';
import type { Part } from '../../parts.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from './read.ts';
import { fail, freeform, isRaw, metadataIf, object, text, textIf } from './read.ts';
import { base64 } from './values.ts';

/**
 * A part recognised by its members, in any spelling that agents use: file content flat or under `file`,
 * `raw` or `bytes`, `url` or `uri`, `mediaType` or `mimeType`. Unknown members such as `kind` or
 * `partId` are ignored.
 */
export function readFlatPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const file: Raw = isRaw(p.file) ? p.file : {};
  const out = readContent(p, file, env);
  const metadata = metadataIf(p.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  const filename = textIf(p.filename, 'filename') ?? textIf(file.name, 'file.name');
  if (filename) out.filename = filename;
  const mediaType = textIf(p.mediaType ?? p.media_type ?? mimeTypeOf(p), 'mediaType') ?? textIf(mimeTypeOf(file), 'file.mimeType');
  if (mediaType) out.mediaType = mediaType;
  return out;
}

/** A part must have exactly one content, in any of the names that flat dialects use for it. */
function readContent(p: Raw, file: Raw, env: ReadEnv): Mutable<Part> {
  const content = p.text ?? undefined;
  const flatBytes = p.raw ?? p.bytes ?? undefined;
  const flatUrl = p.url ?? p.uri ?? undefined;
  const bytes = flatBytes ?? file.bytes ?? undefined;
  const url = flatUrl ?? file.uri ?? undefined;
  const found = Number(content !== undefined) + Number(bytes !== undefined) + Number(url !== undefined) + Number(p.data !== undefined);
  if (found !== 1) return fail('', `must have exactly one of text, data, and a file's bytes or address; has ${found}`);
  if (content !== undefined) return { text: text(content, 'text') };
  if (bytes !== undefined) return { raw: base64(bytes, flatBytes === undefined ? 'file.bytes' : 'raw') };
  if (url !== undefined) return { url: text(url, flatUrl === undefined ? 'file.uri' : 'url') };
  return { data: freeform(p.data, 'data', env) };
}

function mimeTypeOf(raw: Raw): unknown {
  return raw.mimeType ?? raw.mime_type;
}
