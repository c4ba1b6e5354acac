import type { Part } from '#protocol';
import { base64ToBytes, bytesToBase64 } from '#protocol';
import type { ArtifactOwner, ArtifactService } from './service.ts';

/**
 * Larger files are sent by reference. For smaller ones the extra round trip costs more than the bytes.
 */
export const INLINE_BYTES_MAX = 100_000;

/** Whose files are stored, and which of them. */
export interface FileStoring {
  readonly owner: ArtifactOwner;
  /** Files of at most this size stay in the message. Default `INLINE_BYTES_MAX`. */
  readonly inlineBytesMax?: number;
}

/** Stores files that are too large for a message and replaces them by `artifact://` URLs. */
export async function toReferences(service: ArtifactService, storing: FileStoring, parts: readonly Part[]): Promise<readonly Part[]> {
  return await Promise.all(parts.map((part) => toReference(service, storing, part)));
}

/**
 * Stores a file and returns a reference to it. An event and the final task have the same file, which is
 * stored once.
 */
async function toReference(service: ArtifactService, storing: FileStoring, part: Part): Promise<Part> {
  const { owner, inlineBytesMax = INLINE_BYTES_MAX } = storing;
  if (part.raw === undefined || (part.raw.length * 3) / 4 <= inlineBytesMax) return part;
  const { raw, ...rest } = part;
  const content = base64ToBytes(raw);
  const saved = await service.keep(owner, {
    name: part.filename ?? (await nameFor(content)),
    content,
    ...(part.mediaType === undefined ? {} : { mediaType: part.mediaType }),
  });
  return { ...rest, url: saved.uri };
}

/** The same content has the same name. */
async function nameFor(content: Uint8Array): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(content)));
  return `file-${Array.from(sum.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * Replaces this owner's `artifact://` URLs by bytes: callers outside of the mesh can't read them. Other
 * URLs stay.
 */
export async function toBytes(service: ArtifactService, owner: ArtifactOwner, parts: readonly Part[]): Promise<readonly Part[]> {
  return await Promise.all(
    parts.map(async (part): Promise<Part> => {
      if (part.url === undefined || !part.url.startsWith('artifact:')) return part;
      const { url, ...rest } = part;
      const found = await service.resolve(owner, url);
      if (found === undefined) return part;
      return {
        ...rest,
        raw: bytesToBase64(found.content),
        filename: part.filename ?? found.name,
        mediaType: part.mediaType ?? found.mediaType,
      };
    }),
  );
}
