import type { JsonObject } from '#protocol';
import type { ArtifactLayout, ArtifactLayoutName, ArtifactMeta } from './layout.ts';
import { ARTIFACT_LAYOUTS, readMeta, UNKNOWN_META } from './layout.ts';
import type { ObjectKey, Objects } from './objects.ts';
import { prefixOf } from './objects.ts';
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
  /** As `save`, unless the latest version has the same content. Then that version is returned. */
  keep(owner: ArtifactOwner, artifact: NewArtifact): Promise<ArtifactInfo>;
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
  /**
   * `sam`: the folder of Solace Agent Mesh, so that both share one. Its first level is the scope, which
   * SAM names by the last level of its namespace. Default `parley`.
   */
  readonly layout?: ArtifactLayoutName;
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
export function createArtifactService(options: ArtifactServiceOptions): ArtifactService {
  const { objects, scope = 'app', bytesMax = BYTES_MAX } = options;
  const layout = ARTIFACT_LAYOUTS[options.layout ?? 'parley'];
  const pathOf = ({ app, user, session }: ArtifactOwner, name: string): readonly string[] => {
    for (const [what, text] of Object.entries({ app, user, session, name })) {
      if (!isArtifactName(text))
        throw new ArtifactError(`${JSON.stringify(text).slice(0, 100)} is not allowed as the ${what} of an artifact`);
    }
    const root = scope === 'app' ? app : scope === 'namespace' ? 'namespace' : scope.custom;
    return name.startsWith(SHARED)
      ? [root, user, USER_SESSION, name.slice(SHARED.length)]
      : [root, user, layout.sessionLevel(session), name];
  };
  const versionsAt = async (path: readonly string[]): Promise<readonly number[]> => {
    const keys = await objects.list(prefixOf(layout.keyOf(...path)));
    const numbers = keys.map((key) => layout.namesIn(key).at(-1) ?? '').filter((last) => /^\d+$/.test(last));
    return numbers.map(Number).toSorted((left, right) => left - right);
  };
  const read = async (owner: ArtifactOwner, name: string, version: number | undefined): Promise<StoredArtifact | undefined> => {
    const path = pathOf(owner, name);
    const wanted = version ?? (await versionsAt(path)).at(-1);
    if (wanted === undefined) return undefined;
    const content = await objects.get(layout.keyOf(...path, String(wanted)));
    if (content === undefined) return undefined;
    return { ...(await infoAt(owner, name, wanted)), content, bytes: content.length };
  };
  const infoAt = async (owner: ArtifactOwner, name: string, version: number): Promise<ArtifactInfo> =>
    infoOf(owner, name, { version, meta: readMeta(await objects.get(layout.keyOf(...pathOf(owner, name), `${version}.${META}`))) });
  const list = async (owner: ArtifactOwner): Promise<readonly ArtifactInfo[]> => {
    const [root = '', user = '', session = ''] = pathOf(owner, 'any');
    const found = new Set<string>();
    const namesUnder = async (level: string): Promise<readonly string[]> =>
      (await objects.list(prefixOf(layout.keyOf(root, user, level)))).map((key) => layout.namesIn(key).at(-2) ?? '');
    for (const name of await namesUnder(session)) found.add(name);
    for (const name of await namesUnder(USER_SESSION)) found.add(`${SHARED}${name}`);
    const names = [...found].filter((name) => layout.companion?.isCompanion(name) !== true).toSorted();
    const latest = await Promise.all(names.map(async (name) => ({ name, version: (await versionsAt(pathOf(owner, name))).at(-1) })));
    return await Promise.all(latest.flatMap(({ name, version }) => (version === undefined ? [] : [infoAt(owner, name, version)])));
  };
  const save = async (owner: ArtifactOwner, artifact: NewArtifact): Promise<ArtifactInfo> => {
    if (artifact.content.length > bytesMax)
      throw new ArtifactError(`${artifact.name} has ${artifact.content.length} bytes; the maximum is ${bytesMax}`);
    const path = pathOf(owner, artifact.name);
    const from = ((await versionsAt(path)).at(-1) ?? -1) + 1;
    const stored = await putNext({ objects, layout }, path, { artifact, from });
    return infoOf(owner, artifact.name, stored);
  };
  return {
    save,
    keep: async (owner, artifact) => {
      const last = await read(owner, artifact.name, undefined);
      return last !== undefined && isSame(last.content, artifact.content) ? withoutContent(last) : await save(owner, artifact);
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
      const path = pathOf(owner, name);
      for (const each of [path, ...companionPath(layout, path)])
        for (const key of await objects.list(prefixOf(layout.keyOf(...each)))) await objects.delete(key as ObjectKey);
    },
  };
}

const encoder = new TextEncoder();

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}

function withoutContent({ content: _, ...info }: StoredArtifact): ArtifactInfo {
  return info;
}

interface StoredVersion {
  readonly version: number;
  readonly meta: ArtifactMeta;
}

function infoOf(owner: ArtifactOwner, name: string, { version, meta }: StoredVersion): ArtifactInfo {
  const { mediaType, bytes, metadata } = meta;
  const uri = writeArtifactUri({ ...owner, file: name, version });
  return { name, version, uri, mediaType, bytes, ...(metadata === undefined ? {} : { metadata }) };
}

/**
 * Writing the content claims the version number, so that two concurrent saves get different numbers.
 */
async function putNext(
  { objects, layout }: { readonly objects: Objects; readonly layout: ArtifactLayout },
  path: readonly string[],
  { artifact, from }: { readonly artifact: NewArtifact; readonly from: number },
): Promise<StoredVersion> {
  const { content, mediaType = UNKNOWN_META.mediaType, metadata } = artifact;
  const meta: ArtifactMeta = { mediaType, bytes: content.length, ...(metadata === undefined ? {} : { metadata }) };
  for (let version = from; ; version += 1) {
    if (!(await objects.put(layout.keyOf(...path, String(version)), content))) continue;
    await objects.put(layout.keyOf(...path, `${version}.${META}`), encoder.encode(layout.writeMeta(meta)));
    for (const beside of companionPath(layout, path))
      await objects.put(layout.keyOf(...beside, String(version)), encoder.encode(layout.companion?.write(artifact.name, meta) ?? ''));
    return { version, meta };
  }
}

/** The path of the file that describes another one, if the layout has such files. */
function companionPath({ companion }: ArtifactLayout, path: readonly string[]): readonly (readonly string[])[] {
  return companion === undefined ? [] : [[...path.slice(0, -1), companion.nameOf(path.at(-1) ?? '')]];
}

/**
 * The short form names the reader's own artifact. The long form must name the reader, and the reader's
 * app unless apps share.
 */
function isOwn({ app, user }: ArtifactUri, owner: ArtifactOwner, scope: ArtifactServiceOptions['scope']): boolean {
  if (user === undefined) return true;
  return user === owner.user && (scope !== 'app' || app === owner.app);
}
