import type { Part } from '#protocol';
import { base64ToBytes, bytesToBase64 } from '#protocol';
import type { ArtifactOwner, ArtifactService } from './service.ts';

/** Files above this go by reference on a broker: below it the bytes cost less than the way to them. */
export const INLINE_BYTES_MAX = 100_000;

/** Bytes that are too many for a message become `artifact://` references. */
export async function toReferences(service: ArtifactService, owner: ArtifactOwner, parts: readonly Part[]): Promise<readonly Part[]> {
  return await Promise.all(parts.map((part) => toReference(service, owner, part)));
}

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

/** References that are this owner's become bytes: whoever is outside of the mesh can't follow them. Others stay as they are. */
export async function toBytes(service: ArtifactService, owner: ArtifactOwner, parts: readonly Part[]): Promise<readonly Part[]> {
  return await Promise.all(
    parts.map(async (part): Promise<Part> => {
      const found = part.url?.startsWith('artifact:') === true ? await service.resolve(owner, part.url) : undefined;
      if (found === undefined) return part;
      const { url: _, ...rest } = part as Extract<Part, { readonly url: string }>;
      return {
        ...rest,
        raw: bytesToBase64(found.content),
        filename: part.filename ?? found.name,
        mediaType: part.mediaType ?? found.mediaType,
      };
    }),
  );
}
