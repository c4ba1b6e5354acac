import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

const UNPACK = [gunzipSync, inflateSync, inflateRawSync, brotliDecompressSync];

/** The files below a folder that contain a text: as it is, in base64, in UTF-16, or compressed. */
export function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const bytes = readIfThere(path);
      return [bytes, ...unpacked(bytes)].some((each) => formsOf(text).some((form) => each.includes(form)));
    });
}

function unpacked(bytes: Buffer): readonly Buffer[] {
  return UNPACK.flatMap((unpack) => {
    try {
      return [unpack(bytes)];
    } catch {
      return [];
    }
  });
}

/** Base64 depends on the position of the text, so the characters at both ends, which its neighbours change, are cut off. */
function formsOf(text: string): readonly Buffer[] {
  const shifted = [0, 1, 2].map((before) =>
    Buffer.from(
      Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
        .toString('base64')
        .slice(before === 0 ? 0 : 4, -4),
    ),
  );
  return [Buffer.from(text), Buffer.from(text, 'utf16le'), ...shifted];
}

/** A node that runs deletes journals of its databases at any time. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return Buffer.of();
    throw thrown;
  }
}
