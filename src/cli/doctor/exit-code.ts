import type { Finding } from '#client/doctor';

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

/** The first error decides: 3 not reached, 4 credentials, 5 no answer, 1 anything else. */
export function exitFor(findings: readonly Finding[]): number {
  const first = findings.find(({ level }) => level === 'error');
  if (first === undefined) return 0;
  if (NOT_REACHED.has(first.id)) return 3;
  if (CREDENTIALS.has(first.id)) return 4;
  return first.id === 'silent' || first.id === 'interface-silent' ? 5 : 1;
}
