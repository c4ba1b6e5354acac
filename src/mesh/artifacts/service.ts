import type { JsonObject } from '#protocol';
import { parseOwnJson } from '#protocol';
import type { ObjectKey, Objects } from './objects.ts';
import { keyOf, namesIn, prefixOf } from './objects.ts';
import type { ArtifactUri } from './uris.ts';
import { isArtifactName, readArtifactUri, writeArtifactUri } from './uris.ts';

/** The owner of an artifact. Users never see each other's artifacts, even with the right URI. */
export interface ArtifactOwner {
  /** Name of the agent or gateway that stores the file. */
  readonly app: string;
  readonly user: string;
  /** The conversation. */
  readonly session: string;
}

/** A file to store. */
export interface NewArtifact {
  /** A name with the prefix `user:` belongs to all sessions of the user. */
  readonly name: string;
  readonly content: Uint8Array;
  /** Default `application/octet-stream`. */
  readonly mediaType?: string;
  readonly metadata?: JsonObject;
}

/** What is known about a stored version of a file. */
export interface ArtifactInfo {
  readonly name: string;
  /** From 0. */
  readonly version: number;
  readonly uri: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly metadata?: JsonObject;
}

/** A stored version of a file with its content. */
export interface StoredArtifact extends ArtifactInfo {
  readonly content: Uint8Array;
}

/** Stores files that are too large for a message on a broker. */
export interface ArtifactService {
  /** Adds a new version. Versions are never overwritten. */
  save(owner: ArtifactOwner, artifact: NewArtifact): Promise<ArtifactInfo>;
  /** Loads the given version, or the latest one. */
  load(owner: ArtifactOwner, name: string, version?: number): Promise<StoredArtifact | undefined>;
  /** Loads what a URI names, if this owner may read it. */
  resolve(owner: ArtifactOwner, uri: string): Promise<StoredArtifact | undefined>;
  /** The existing version numbers, in order. */
  versions(owner: ArtifactOwner, name: string): Promise<readonly number[]>;
  /** The latest version of each artifact of the session and of the user, sorted by name. */
  list(owner: ArtifactOwner): Promise<readonly ArtifactInfo[]>;
  /** Deletes all versions. */
  delete(owner: ArtifactOwner, name: string): Promise<void>;
}

/** Options of `createArtifactService`. */
export interface ArtifactServiceOptions {
  readonly objects: Objects;
  /**
   * `app`: each app sees its own artifacts. `namespace`: all apps share them. `custom`: the apps with
   * the same name share them.
   */
  readonly scope?: 'app' | 'namespace' | { readonly custom: string };
  /** Maximum size of a file in bytes. Default 64 MiB. */
  readonly bytesMax?: number;
}

/** A file has a name that is not allowed, or is too large. */
export class ArtifactError extends Error {}

const BYTES_MAX = 64 * 1024 * 1024;
const SHARED = 'user:';
const USER_SESSION = 'user';
const META = 'meta';

/**
 * Stores files for agents on a mesh.
 *
 * ```ts
 * const artifacts = createArtifactService({ objects, scope: 'namespace' });
 * const mesh = joinMesh({ broker, namespace: 'production', artifacts });
 * ```
 */
export function createArtifactService({ objects, scope = 'app', bytesMax = BYTES_MAX }: ArtifactServiceOptions): ArtifactService {
  const pathOf = ({ app, user, session }: ArtifactOwner, name: string): readonly string[] => {
    for (const [what, text] of Object.entries({ app, user, session, name })) {
      if (!isArtifactName(text))
        throw new ArtifactError(`${JSON.stringify(text).slice(0, 100)} is not allowed as the ${what} of an artifact`);
    }
    const root = scope === 'app' ? app : scope === 'namespace' ? 'namespace' : scope.custom;
    return name.startsWith(SHARED) ? [root, user, USER_SESSION, name.slice(SHARED.length)] : [root, user, `s-${session}`, name];
  };
  const versionsAt = async (path: readonly string[]): Promise<readonly number[]> => {
    const keys = await objects.list(prefixOf(...path));
    const numbers = keys.map((key) => namesIn(key).at(-1) ?? '').filter((last) => /^\d+$/.test(last));
    return numbers.map(Number).toSorted((left, right) => left - right);
  };
  const read = async (owner: ArtifactOwner, name: string, version: number | undefined): Promise<StoredArtifact | undefined> => {
    const path = pathOf(owner, name);
    const wanted = version ?? (await versionsAt(path)).at(-1);
    if (wanted === undefined) return undefined;
    const content = await objects.get(keyOf(...path, String(wanted)));
    if (content === undefined) return undefined;
    return { ...(await infoAt(owner, name, wanted)), content, bytes: content.length };
  };
  const infoAt = async (owner: ArtifactOwner, name: string, version: number): Promise<ArtifactInfo> => {
    const stored = await objects.get(keyOf(...pathOf(owner, name), `${version}.${META}`));
    const meta = stored === undefined ? UNKNOWN : parseOwnJson<Meta>(new TextDecoder().decode(stored));
    return infoOf(owner, name, { version, meta });
  };
  const list = async (owner: ArtifactOwner): Promise<readonly ArtifactInfo[]> => {
    const [root = '', user = '', session = ''] = pathOf(owner, 'any');
    const found = new Set<string>();
    for (const key of await objects.list(prefixOf(root, user, session))) found.add(namesIn(key).at(-2) ?? '');
    for (const key of await objects.list(prefixOf(root, user, USER_SESSION))) found.add(`${SHARED}${namesIn(key).at(-2) ?? ''}`);
    const latest = await Promise.all(
      [...found].toSorted().map(async (name) => ({ name, version: (await versionsAt(pathOf(owner, name))).at(-1) })),
    );
    return await Promise.all(latest.flatMap(({ name, version }) => (version === undefined ? [] : [infoAt(owner, name, version)])));
  };
  return {
    save: async (owner, artifact) => {
      if (artifact.content.length > bytesMax)
        throw new ArtifactError(`${artifact.name} has ${artifact.content.length} bytes; the maximum is ${bytesMax}`);
      const path = pathOf(owner, artifact.name);
      const from = ((await versionsAt(path)).at(-1) ?? -1) + 1;
      return infoOf(owner, artifact.name, await putNext(objects, path, { artifact, from }));
    },
    load: read,
    resolve: async (owner, uri) => {
      const named = readArtifactUri(uri);
      return named === undefined || !isOwn(named, owner, scope)
        ? undefined
        : await read({ ...owner, session: named.session }, named.file, named.version);
    },
    versions: (owner, name) => versionsAt(pathOf(owner, name)),
    list,
    delete: async (owner, name) => {
      for (const key of await objects.list(prefixOf(...pathOf(owner, name)))) await objects.delete(key as ObjectKey);
    },
  };
}

interface StoredVersion {
  readonly version: number;
  readonly meta: Meta;
}

function infoOf(owner: ArtifactOwner, name: string, { version, meta }: StoredVersion): ArtifactInfo {
  const { mediaType, bytes, metadata } = meta;
  const uri = writeArtifactUri({ ...owner, file: name, version });
  return { name, version, uri, mediaType, bytes, ...(metadata === undefined ? {} : { metadata }) };
}

interface Meta {
  readonly mediaType: string;
  readonly bytes: number;
  readonly metadata?: JsonObject;
}
const UNKNOWN: Meta = { mediaType: 'application/octet-stream', bytes: 0 };

/**
 * Writing the content claims the version number, so that two concurrent saves get different numbers.
 */
async function putNext(
  objects: Objects,
  path: readonly string[],
  { artifact, from }: { readonly artifact: NewArtifact; readonly from: number },
): Promise<StoredVersion> {
  const { content, mediaType = UNKNOWN.mediaType, metadata } = artifact;
  const meta: Meta = { mediaType, bytes: content.length, ...(metadata === undefined ? {} : { metadata }) };
  for (let version = from; ; version += 1) {
    if (!(await objects.put(keyOf(...path, String(version)), content))) continue;
    await objects.put(keyOf(...path, `${version}.${META}`), new TextEncoder().encode(JSON.stringify(meta)));
    return { version, meta };
  }
}

/**
 * The short form names the reader's own artifact. The long form must name the reader, and the reader's
 * app unless apps share.
 */
function isOwn({ app, user }: ArtifactUri, owner: ArtifactOwner, scope: ArtifactServiceOptions['scope']): boolean {
  if (user === undefined) return true;
  return user === owner.user && (scope !== 'app' || app === owner.app);
}
