import type { Part } from '#protocol';
import { base64ToBytes, bytesToBase64 } from '#protocol';
import type { ArtifactOwner, ArtifactService } from './service.ts';

/**
 * Larger files are sent by reference. For smaller ones the extra round trip costs more than the bytes.
 */
export const INLINE_BYTES_MAX = 100_000;

/** Stores files that are too large for a message and replaces them by `artifact://` URLs. */
export async function toReferences(service: ArtifactService, owner: ArtifactOwner, parts: readonly Part[]): Promise<readonly Part[]> {
  return await Promise.all(parts.map((part) => toReference(service, owner, part)));
}

/** Saves a file of more than `INLINE_BYTES_MAX` and returns a reference to it. */
async function toReference(service: ArtifactService, owner: ArtifactOwner, part: Part): Promise<Part> {
  if (part.raw === undefined || (part.raw.length * 3) / 4 <= INLINE_BYTES_MAX) return part;
  const { raw, ...rest } = part;
  const name = part.filename ?? `file-${crypto.randomUUID()}`;
  const saved = await service.save(owner, {
    name,
    content: base64ToBytes(raw),
    ...(part.mediaType === undefined ? {} : { mediaType: part.mediaType }),
  });
  return { ...rest, url: saved.uri };
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
