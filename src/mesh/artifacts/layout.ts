import type { JsonObject } from '#protocol';
import { isObject, parseJson } from '#protocol';
import type { ObjectKey } from './objects.ts';
import { keyOf, namesIn, plainKeyOf } from './objects.ts';

/** What is stored beside a version of a file. */
export interface ArtifactMeta {
  readonly mediaType: string;
  readonly bytes: number;
  readonly metadata?: JsonObject;
}

export const UNKNOWN_META: ArtifactMeta = { mediaType: 'application/octet-stream', bytes: 0 };

/** How files, versions and metadata are named and written in the store. */
export interface ArtifactLayout {
  keyOf(...names: readonly string[]): ObjectKey;
  namesIn(key: string): readonly string[];
  /** The level of one session. The session `user` holds the files with the prefix `user:`. */
  sessionLevel(session: string): string;
  writeMeta(meta: ArtifactMeta): string;
  /** A file that describes another one, with as many versions as that has. */
  readonly companion?: {
    nameOf(name: string): string;
    write(name: string, meta: ArtifactMeta): string;
    isCompanion(name: string): boolean;
  };
}

/** Names are escaped, and a session can't be taken for the folder of shared files. */
const own: ArtifactLayout = {
  keyOf,
  namesIn,
  sessionLevel: (session) => `s-${session}`,
  writeMeta: (meta) => JSON.stringify(meta),
};

const COMPANION = '.metadata.json';

/**
 * The folder of SAM's `FilesystemArtifactService`: names as they are, the media type in `N.meta`, and a
 * second file with the description that SAM shows to its models (docs/dialects/sam.md, "Artifacts").
 */
const sam: ArtifactLayout = {
  keyOf: plainKeyOf,
  namesIn: (key) => key.split('/'),
  sessionLevel: (session) => session,
  writeMeta: ({ mediaType }) => JSON.stringify({ mime_type: mediaType }),
  companion: {
    nameOf: (name) => `${name}${COMPANION}`,
    isCompanion: (name) => name.endsWith(COMPANION),
    write: (filename, { mediaType, bytes, metadata }) =>
      JSON.stringify({ ...metadata, filename, mime_type: mediaType, size_bytes: bytes, timestamp_utc: Date.now() / 1000 }),
  },
};

/** The layouts by the name that settings use. */
export const ARTIFACT_LAYOUTS: { readonly parley: ArtifactLayout; readonly sam: ArtifactLayout } = { parley: own, sam };
/** Name of a layout. */
export type ArtifactLayoutName = keyof typeof ARTIFACT_LAYOUTS;

/** Reads the metadata of either layout. A file that can't be read counts as absent. */
export function readMeta(content: Uint8Array | undefined): ArtifactMeta {
  if (content === undefined) return UNKNOWN_META;
  let read: unknown;
  try {
    read = parseJson(new TextDecoder().decode(content));
  } catch {
    return UNKNOWN_META;
  }
  if (!isObject(read)) return UNKNOWN_META;
  const { mediaType = read['mime_type'], bytes, metadata } = read as { mediaType?: unknown; bytes?: unknown; metadata?: unknown };
  return {
    mediaType: typeof mediaType === 'string' ? mediaType : UNKNOWN_META.mediaType,
    bytes: typeof bytes === 'number' ? bytes : 0,
    ...(isObject(metadata) ? { metadata: metadata as JsonObject } : {}),
  };
}
