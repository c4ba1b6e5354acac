import type { JsonObject } from '#protocol';
import type { ObjectKey, Objects } from './objects.ts';
import { keyOf, namesIn, prefixOf } from './objects.ts';
import type { ArtifactUri } from './uris.ts';
import { isArtifactName, readArtifactUri, writeArtifactUri } from './uris.ts';

/** Whose it is. Another user's artifacts are not there, whatever their URI. */
export interface ArtifactOwner {
  readonly app: string;
  readonly user: string;
  readonly session: string;
}

export interface NewArtifact {
  /** With the prefix `user:` it belongs to all sessions of the user. */
  readonly name: string;
  readonly content: Uint8Array;
  readonly mediaType?: string;
  readonly metadata?: JsonObject;
}

export interface ArtifactInfo {
  readonly name: string;
  /** From 0. */
  readonly version: number;
  readonly uri: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly metadata?: JsonObject;
}

export interface StoredArtifact extends ArtifactInfo {
  readonly content: Uint8Array;
}

export interface ArtifactService {
  /** A new version; never one over another. */
  save(owner: ArtifactOwner, artifact: NewArtifact): Promise<ArtifactInfo>;
  /** The latest version if none is named. */
  load(owner: ArtifactOwner, name: string, version?: number): Promise<StoredArtifact | undefined>;
  /** What a URI names, if it is this owner's to read. */
  resolve(owner: ArtifactOwner, uri: string): Promise<StoredArtifact | undefined>;
  versions(owner: ArtifactOwner, name: string): Promise<readonly number[]>;
  /** The latest version of each, those of all sessions included, by name. */
  list(owner: ArtifactOwner): Promise<readonly ArtifactInfo[]>;
  delete(owner: ArtifactOwner, name: string): Promise<void>;
}

export interface ArtifactServiceOptions {
  readonly objects: Objects;
  /** `app`: each app sees its own. `namespace`: all apps share. Anything else: those that share this name. */
  readonly scope?: 'app' | 'namespace' | { readonly custom: string };
  readonly bytesMax?: number;
}

export class ArtifactError extends Error {}

const BYTES_MAX = 64 * 1024 * 1024;
const SHARED = 'user:';
const USER_SESSION = 'user';
const META = 'meta';

export function createArtifactService({ objects, scope = 'app', bytesMax = BYTES_MAX }: ArtifactServiceOptions): ArtifactService {
  const placeOf = ({ app, user, session }: ArtifactOwner, name: string): readonly string[] => {
    for (const [what, text] of Object.entries({ app, user, session, name })) {
      if (!isArtifactName(text)) throw new ArtifactError(`${JSON.stringify(text).slice(0, 100)} can't be the ${what} of an artifact`);
    }
    const root = scope === 'app' ? app : scope === 'namespace' ? 'namespace' : scope.custom;
    return name.startsWith(SHARED) ? [root, user, USER_SESSION, name.slice(SHARED.length)] : [root, user, `s-${session}`, name];
  };
  const versionsAt = async (place: readonly string[]): Promise<readonly number[]> => {
    const keys = await objects.list(prefixOf(...place));
    const numbers = keys.map((key) => namesIn(key).at(-1) ?? '').filter((last) => /^\d+$/.test(last));
    return numbers.map(Number).toSorted((left, right) => left - right);
  };
  const read = async (owner: ArtifactOwner, name: string, version: number | undefined): Promise<StoredArtifact | undefined> => {
    const place = placeOf(owner, name);
    const wanted = version ?? (await versionsAt(place)).at(-1);
    if (wanted === undefined) return undefined;
    const content = await objects.get(keyOf(...place, String(wanted)));
    if (content === undefined) return undefined;
    return { ...(await infoAt(owner, name, wanted)), content, bytes: content.length };
  };
  const infoAt = async (owner: ArtifactOwner, name: string, version: number): Promise<ArtifactInfo> => {
    const kept = await objects.get(keyOf(...placeOf(owner, name), `${version}.${META}`));
    const { mediaType, bytes, metadata } = kept === undefined ? UNKNOWN : (JSON.parse(new TextDecoder().decode(kept)) as Meta);
    const uri = writeArtifactUri({ ...owner, file: name, version });
    return { name, version, uri, mediaType, bytes, ...(metadata === undefined ? {} : { metadata }) };
  };
  const list = async (owner: ArtifactOwner): Promise<readonly ArtifactInfo[]> => {
    const [root = '', user = '', session = ''] = placeOf(owner, 'any');
    const found = new Set<string>();
    for (const key of await objects.list(prefixOf(root, user, session))) found.add(namesIn(key).at(-2) ?? '');
    for (const key of await objects.list(prefixOf(root, user, USER_SESSION))) found.add(`${SHARED}${namesIn(key).at(-2) ?? ''}`);
    const latest = await Promise.all(
      [...found].toSorted().map(async (name) => ({ name, version: (await versionsAt(placeOf(owner, name))).at(-1) })),
    );
    return await Promise.all(latest.flatMap(({ name, version }) => (version === undefined ? [] : [infoAt(owner, name, version)])));
  };
  return {
    save: async (owner, artifact) => {
      if (artifact.content.length > bytesMax)
        throw new ArtifactError(`${artifact.name} has ${artifact.content.length} bytes; at most ${bytesMax} are kept`);
      const place = placeOf(owner, artifact.name);
      const version = await putNext(objects, place, { artifact, from: ((await versionsAt(place)).at(-1) ?? -1) + 1 });
      return await infoAt(owner, artifact.name, version);
    },
    load: read,
    resolve: async (owner, uri) => {
      const named = readArtifactUri(uri);
      return named === undefined || !isOwn(named, owner, scope)
        ? undefined
        : await read({ ...owner, session: named.session }, named.file, named.version);
    },
    versions: (owner, name) => versionsAt(placeOf(owner, name)),
    list,
    delete: async (owner, name) => {
      for (const key of await objects.list(prefixOf(...placeOf(owner, name)))) await objects.delete(key as ObjectKey);
    },
  };
}

interface Meta {
  readonly mediaType: string;
  readonly bytes: number;
  readonly metadata?: JsonObject;
}
const UNKNOWN: Meta = { mediaType: 'application/octet-stream', bytes: 0 };

/** The content decides who has the number: two who save at once get two numbers. */
async function putNext(
  objects: Objects,
  place: readonly string[],
  { artifact, from }: { readonly artifact: NewArtifact; readonly from: number },
): Promise<number> {
  const { content, mediaType = UNKNOWN.mediaType, metadata } = artifact;
  const meta: Meta = { mediaType, bytes: content.length, ...(metadata === undefined ? {} : { metadata }) };
  for (let version = from; ; version += 1) {
    if (!(await objects.put(keyOf(...place, String(version)), content))) continue;
    await objects.put(keyOf(...place, `${version}.${META}`), new TextEncoder().encode(JSON.stringify(meta)));
    return version;
  }
}

/** The short form is of the reader's own. The long one must name the reader, and its app unless all apps share. */
function isOwn({ app, user }: ArtifactUri, owner: ArtifactOwner, scope: ArtifactServiceOptions['scope']): boolean {
  if (user === undefined) return true;
  return user === owner.user && (scope !== 'app' || app === owner.app);
}
