import type { Dialect, Registry } from '#protocol';
import { A2AError, withoutEndSlashes } from '#protocol';
import type { HttpRequest } from './http.ts';
import type { BindingServeOptions } from './options.ts';
import { registryOf } from './options.ts';

/** What the URL and the headers of a request tell before its body is read. It is the same for all HTTP bindings. */
export interface RequestTarget {
  /** The path below `basePath`, without a slash at its end. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** `A2A-Version`, from the header or the query (A2A 1.0.1 §3.6.1). An empty value counts as absent. */
  readonly version: string | undefined;
  /** The dialect that the server's options or `?dialect=` fix. Undefined: the binding detects it. */
  readonly fixed: Dialect | undefined;
}

const NO_QUERY: RequestTarget['query'] = new URLSearchParams();

/** Throws INVALID_REQUEST if `?dialect=` names a dialect that is not served here. */
export function requestTarget(httpRequest: HttpRequest, options: BindingServeOptions): RequestTarget {
  const target = requestTargetForError(httpRequest, options);
  if (target.fixed === undefined && target.query.has('dialect')) {
    const known = registryOf(options)
      .all.map((each) => each.id)
      .join(', ');
    throw new A2AError('INVALID_REQUEST', `unknown dialect; known: ${known}`, { field: 'dialect' });
  }
  return target;
}

/** Like `requestTarget`, for requests that fail for another reason: it ignores an unknown `?dialect=`. */
export function requestTargetForError(httpRequest: HttpRequest, options: BindingServeOptions): RequestTarget {
  const query = httpRequest.query === '' ? NO_QUERY : new URLSearchParams(httpRequest.query);
  const named = options.dialect === undefined ? query.get('dialect') : null;
  return {
    path: pathBelow(httpRequest.path, options.basePath ?? ''),
    query,
    version: (httpRequest.header('a2a-version') ?? query.get('A2A-Version') ?? '').trim() || undefined,
    fixed: named === null ? options.dialect : registryOf(options).byId(named),
  };
}

/** Removes `base` from the start of a path, and slashes from its end. */
export function pathBelow(path: string, base: string): string {
  const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  return (below.endsWith('/') ? withoutEndSlashes(below) : below) || '/';
}

const ZERO_VERSIONS: readonly string[] = ['0.1', '0.2', '0.3'];

/**
 * Throws VERSION_NOT_SUPPORTED if `A2A-Version` contradicts the dialect that the method or the path has determined (docs/dialects.md).
 * All versions 0.x count as one here: clients of that time sent no such header, so a client that sends `0.2` today is accepted.
 */
export function checkVersion(version: string | undefined, dialect: Dialect, options: BindingServeOptions): void {
  const own = dialect.wire.versionHeader;
  if (version === undefined && (options.versionRequired !== true || own === undefined)) return;
  if (version !== undefined && speaks(dialect, version)) return;
  const requested = (version ?? '0.3').slice(0, 32);
  const supported = supportedVersions(registryOf(options));
  const isKnown = supported.some((each) => requested === each || requested.startsWith(`${each}.`));
  const words = isKnown ? `has no such request: it is one of ${dialect.title}` : 'is not supported';
  throw new A2AError('VERSION_NOT_SUPPORTED', `A2A version ${requested === '' ? '""' : requested} ${words}`, {
    info: { requestedVersion: requested, supportedVersions: supported.join(',') },
  });
}

/** Whether a value of `A2A-Version` names the version of a dialect. The patch number is ignored. */
export function speaks(dialect: Dialect, version: string): boolean {
  const release = /^(\d{1,4}\.\d{1,4})(?:\.\d{1,4})?$/.exec(version)?.[1];
  const own = dialect.wire.versionHeader;
  if (release === undefined) return false;
  return own === undefined || ZERO_VERSIONS.includes(own) ? ZERO_VERSIONS.includes(release) : release === own;
}

function supportedVersions(registry: Registry): readonly string[] {
  const named = registry.all.map((dialect) => dialect.wire.versionHeader);
  const versions = named.flatMap((version) => (version === undefined || ZERO_VERSIONS.includes(version) ? ZERO_VERSIONS : [version]));
  return [...new Set(versions)].sort();
}
