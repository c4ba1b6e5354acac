/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables that every program needs: to find its parts, its home and its language, and the machine's
 * proxies.
 */
const ALWAYS: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'TMPDIR', 'TMP', 'TEMP'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy', 'NODE_EXTRA_CA_CERTS'],
  // Windows finds neither its libraries nor its profile without these.
  ...['SystemRoot', 'SYSTEMROOT', 'ComSpec', 'COMSPEC', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'ProgramFiles', 'WINDIR'],
]);

/**
 * The environment of a child is an allow-list, because ours may hold other secrets. A name that ends in
 * `*` allows all names with that prefix. Variables that change how a program is loaded (`LD_PRELOAD`,
 * `NODE_OPTIONS`) pass only if they are named in full.
 */
export function allowedEnvironment(from: Environment, allowed: readonly string[] = []): Record<string, string> {
  const names = new Set(allowed.filter((name) => !name.endsWith('*')));
  const starts = allowed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const passes = (name: string): boolean =>
    ALWAYS.has(name) || name.startsWith('LC_') || names.has(name) || starts.some((start) => name.startsWith(start));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) if (value !== undefined && passes(name)) kept[name] = value;
  return kept;
}
