/**
 * `artifact://{app}/{user}/{session}/{file}?version=N`, as Solace Agent Mesh writes it, or the short
 * form of its documentation, `artifact://{session}/{file}`. Without a version it means the latest one.
 */
export interface ArtifactUri {
  readonly app?: string;
  readonly user?: string;
  readonly session: string;
  readonly file: string;
  readonly version?: number;
}

const SCHEME = 'artifact://';
const URI_CHARS_MAX = 2048;

/** The URI of a file, in the long form if app and user are known. Escapes every name. */
export function writeArtifactUri({ app, user, session, file, version }: ArtifactUri): string {
  const levels = app === undefined || user === undefined ? [session, file] : [app, user, session, file];
  return `${SCHEME}${levels.map(encodeURIComponent).join('/')}${version === undefined ? '' : `?version=${version}`}`;
}

/** Undefined when the text is not an artifact URI, or contains a name that `isArtifactName` refuses. */
export function readArtifactUri(text: string): ArtifactUri | undefined {
  if (!text.startsWith(SCHEME) || text.length > URI_CHARS_MAX) return undefined;
  const [path = '', query, ...more] = text.slice(SCHEME.length).split('?');
  if (more.length > 0 || path.includes('#')) return undefined;
  const names = path.split('/').map(decodeLevel);
  const version = query === undefined ? undefined : /^version=(\d{1,9})$/.exec(query)?.[1];
  if ((query !== undefined && version === undefined) || !names.every((name) => name !== undefined && isArtifactName(name)))
    return undefined;
  const at = version === undefined ? {} : { version: Number(version) };
  const [first = '', second = '', third, fourth] = names;
  if (names.length === 2) return { session: first, file: second, ...at };
  return names.length === 4 && third !== undefined && fourth !== undefined
    ? { app: first, user: second, session: third, file: fourth, ...at }
    : undefined;
}

const NAME_CHARS_MAX = 255;

/**
 * Whether a name may be one level of a path. Refuses everything that another program could read as a
 * separator, a dot or an escape: full-width forms, double escapes, control characters (docs/faults.md,
 * S6).
 */
export function isArtifactName(name: string): boolean {
  if (name === '' || name.length > NAME_CHARS_MAX || !name.isWellFormed()) return false;
  const plain = name.normalize('NFKC');
  if (/^\.{1,2}$/.test(plain) || /[/\\\p{Cc}\u2024\u2025\u2215\u2044\u29F8]/u.test(plain) || plain.includes('..')) return false;
  return !/%[0-9a-fA-F]{2}/.test(plain);
}

function decodeLevel(level: string): string | undefined {
  try {
    return decodeURIComponent(level);
  } catch {
    return undefined;
  }
}
