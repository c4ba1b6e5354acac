/** One thing that was found out. `id` is for programs and never changes. */
export interface Finding {
  readonly id: string;
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  readonly what: string;
  /** Why it matters, or what was seen. */
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
  readonly url?: string | undefined;
}

export function ok(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'ok', what, ...more };
}

export function note(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'note', what, ...more };
}

export function warning(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'warning', what, ...more };
}

export function error(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'error', what, ...more };
}

const NOT_REACHED: ReadonlySet<string> = new Set([
  'dns',
  'refused',
  'bad-port',
  'unreachable',
  'tls',
  'tls-expired',
  'tls-self-signed',
  'tls-wrong-host',
  'tls-not-spoken',
  'no-agent',
]);
const CREDENTIALS: ReadonlySet<string> = new Set(['card-private', 'credentials-needed', 'credentials-refused', 'auth-undeclared']);

/** The first error decides: 3 not reached, 4 credentials, 5 silent, 1 anything else. */
export function exitFor(findings: readonly Finding[]): number {
  const first = findings.find(({ level }) => level === 'error');
  if (first === undefined) return 0;
  if (NOT_REACHED.has(first.id)) return 3;
  if (CREDENTIALS.has(first.id)) return 4;
  return first.id === 'silent' || first.id === 'interface-silent' ? 5 : 1;
}
