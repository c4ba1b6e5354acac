/** Who may call. docs/security.md describes how these work together. */
export const AUTH_SETTINGS = {
  auth: {
    type: 'boolean',
    default: true,
    flag: 'no-auth',
    flagMeans: false,
    flagDoc: 'Do not authenticate callers. Allowed on loopback and sockets only.',
    doc: 'Whether callers are authenticated where that is needed. May be off on loopback and sockets only.',
  },
  authRequired: {
    type: 'boolean',
    flag: 'require-auth',
    doc: 'Authenticate callers on loopback too. By default an agent that runs no commands is open there.',
  },
  trustLocalUsers: {
    type: 'boolean',
    flag: 'trust-local-users',
    doc: 'DANGEROUS: programs of your own user on this machine may call without a token, also agents that run commands. Linux and loopback only. Browsers, sandboxes and other users are refused.',
  },
  authFolder: {
    type: 'text',
    flag: 'auth-folder',
    placeholder: 'DIR',
    doc: "The folder with this machine's token and the API keys. Default: where the platform keeps configuration.",
  },
  token: {
    type: 'secret',
    reload: 'live',
    doc: "The token of the node's owner, at least 32 characters. Default on loopback: one that is created and kept in `authFolder`.",
  },
} as const;

/** TLS, and callers who authenticate with a certificate. */
export const TLS_SETTINGS = {
  'tls.cert': { type: 'text', flag: 'tls-cert', placeholder: 'FILE', reload: 'live', doc: 'PEM file with the certificate chain.' },
  'tls.key': {
    type: 'text',
    flag: 'tls-key',
    reload: 'live',
    placeholder: 'FILE',
    doc: 'PEM file with the private key of the certificate.',
  },
  'tls.ca': {
    type: 'text',
    flag: 'tls-ca',
    placeholder: 'FILE',
    doc: "PEM file with the authority that signs callers' certificates. If set, callers may authenticate with one.",
  },
  'tls.clients': {
    type: 'list',
    flag: 'tls-client',
    reload: 'live',
    placeholder: 'NAME',
    doc: 'Names in certificates that may call, as `URI:spiffe://example.org/agent` or `DNS:agent.example.org`. Default: all.',
  },
  'tls.scopes': {
    type: 'scopes',
    flag: 'tls-scope',
    reload: 'live',
    placeholder: 'SCOPE',
    doc: 'Scopes of callers who authenticate with a certificate.',
  },
} as const;

/** Callers who present a token of an OAuth 2 or OpenID Connect issuer. */
export const JWT_SETTINGS = {
  'jwt.issuer': {
    type: 'url',
    flag: 'jwt-issuer',
    placeholder: 'URL',
    doc: 'The OAuth 2 or OpenID Connect issuer of the tokens that callers present. https; http on loopback only.',
  },
  'jwt.audience': {
    type: 'list',
    flag: 'jwt-audience',
    reload: 'live',
    placeholder: 'NAME',
    doc: 'Names of this node at the issuer. A token must be for one of them. Required with `jwt.issuer`.',
  },
  'jwt.algorithms': {
    type: 'list',
    default: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    flag: 'jwt-algorithm',
    reload: 'live',
    placeholder: 'NAME',
    doc: 'Accepted signature algorithms. `none` and those with a shared secret are never accepted.',
  },
  'jwt.jwksUrl': {
    type: 'url',
    flag: 'jwt-jwks-url',
    placeholder: 'URL',
    doc: "The URL of the issuer's keys. Default: as the issuer's `/.well-known/openid-configuration` states.",
  },
  'jwt.tenantClaim': {
    type: 'text',
    flag: 'jwt-tenant-claim',
    reload: 'live',
    placeholder: 'CLAIM',
    doc: 'The claim that holds the tenant. A token without it belongs to no tenant.',
  },
  'jwt.scopes': {
    type: 'list',
    flag: 'jwt-scope',
    reload: 'live',
    placeholder: 'SCOPE',
    doc: "Scopes that every token has besides its own, for issuers that do not know Parley's scopes.",
  },
} as const;

/** What is recorded. */
export const RECORD_SETTINGS = {
  audit: {
    type: 'boolean',
    default: true,
    flag: 'no-audit',
    flagMeans: false,
    flagDoc: 'Keep no audit log of rejected callers and administrative changes.',
    doc: 'Record admitted work, rejected callers and administrative changes in `audit.jsonl` beside the tasks, or in the database of `store`. Not with `memory`.',
  },
  auditFileBytesMax: {
    type: 'number',
    default: 67_108_864,
    doc: 'The audit log continues in a new file when `audit.jsonl` has this size. The full file moves to the folder `audit`. Not with `store`.',
  },
  auditFileMsMax: {
    type: 'number',
    default: 2_592_000_000,
    doc: 'The audit log continues in a new file when the first record of `audit.jsonl` is this old: 30 days. 0: only by size. Not with `store`.',
  },
  auditKeepMs: {
    type: 'number',
    default: 34_560_000_000,
    doc: 'Files of the audit log are deleted when their last record is this old: 400 days; with `store`, records of this age. A record of the log says so. 0: never.',
  },
} as const;

/** Backups that the node makes by itself. */
export const BACKUP_SETTINGS = {
  'backup.to': {
    type: 'text',
    flag: 'backup-to',
    placeholder: 'PLACE',
    doc: 'Where the node backs itself up, again and again: a folder outside of the data, best on another disk, or `s3://BUCKET/PREFIX?endpoint=URL`. Not with `memory` or Postgres.',
  },
  'backup.everyMs': {
    type: 'number',
    min: 1000,
    max: 2_147_483_647,
    default: 86_400_000,
    flag: 'backup-every-ms',
    placeholder: 'MS',
    doc: 'The time between two backups: a day. The first is made at once if the newest at the place is older.',
  },
  'backup.keep': {
    type: 'number',
    min: 1,
    max: 10_000,
    default: 7,
    flag: 'backup-keep',
    placeholder: 'COUNT',
    doc: 'How many backups stay. Older ones are removed when a new one is complete and was read again.',
  },
} as const;
