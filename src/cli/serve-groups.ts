/** The flags of `parley serve` as its help shows them: first what most need, then each by what it is about. */
export const FLAG_GROUPS = [
  'Common options',
  'Coding agents and commands',
  'Network and console',
  'Who may call',
  'TLS',
  'Tokens of an issuer',
  'Webhooks',
  'Cards and protocol',
  'Mesh',
  'Limits and records',
] as const;
export type FlagGroup = (typeof FLAG_GROUPS)[number];

/** By the names of their keys. */
const GROUPED: readonly (readonly [FlagGroup, RegExp])[] = [
  ['Common options', /^(?:port|host|data|memory|log)$/],
  ['Network and console', /^(?:url|socket|console|insecureBehindProxy|trustedProxies|allowedHosts|allowedOrigins)$/],
  ['Who may call', /^auth/],
  ['TLS', /^tls\./],
  ['Tokens of an issuer', /^jwt\./],
  ['Webhooks', /^allow.*Targets$/],
  ['Cards and protocol', /^(?:card|publisher|idempotency|versionRequired)$/],
  ['Coding agents and commands', /^run\./],
  ['Mesh', /^(?:mesh|namespace$|artifacts$)/],
  ['Limits and records', /^audit/],
];

/** A key that nobody has sorted yet is common: so it is seen. */
export function groupOf(key: string): FlagGroup {
  return GROUPED.find(([, names]) => names.test(key))?.[0] ?? 'Common options';
}
