import { JWT_ALGORITHMS } from '../access/authentication/jwt.ts';
import { CALLER_SCOPES } from '../access/authorisation/scopes.ts';
import type { Key } from './key.ts';
import type { KeyType } from './values.ts';

const TEXT: KeyType = { kind: 'text' };
const TEXTS: KeyType = { kind: 'list' };
const FLAG: KeyType = { kind: 'boolean' };
const URL: KeyType = { kind: 'text', form: 'url' };

/** Who may come in. docs/security.md says how they fit together. */
export const AUTH_KEYS: readonly Key[] = [
  {
    name: 'auth',
    type: FLAG,
    default: true,
    env: ['PARLEY_AUTH'],
    flag: 'no-auth',
    flagMeans: false,
    flagDoc: 'Ask nobody who they are. On loopback and sockets only.',
    doc: 'Whether callers are asked who they are, where that is needed. Off only on loopback and sockets.',
  },
  {
    name: 'authRequired',
    type: FLAG,
    default: false,
    env: ['PARLEY_AUTH_REQUIRED'],
    flag: 'require-auth',
    doc: 'Ask callers who they are on loopback too, where an agent that runs no commands is open.',
  },
  {
    name: 'authFolder',
    type: TEXT,
    env: ['PARLEY_AUTH_FOLDER'],
    flag: 'auth-folder',
    doc: 'The folder with the token of this machine and the API keys. Default: where the platform keeps configuration.',
  },
  {
    name: 'token',
    type: { kind: 'text', form: 'secret' },
    env: ['PARLEY_TOKEN'],
    doc: 'The token of the node’s owner, of at least 32 characters. Default on loopback: one that is made and kept in `authFolder`.',
  },
  {
    name: 'insecureBehindProxy',
    type: FLAG,
    default: false,
    env: ['PARLEY_INSECURE_BEHIND_PROXY'],
    flag: 'insecure-behind-proxy',
    doc: 'Serve to others without TLS: a proxy in front speaks it, and nobody comes around that proxy.',
  },
  {
    name: 'trustedProxies',
    type: TEXTS,
    default: [],
    env: ['PARLEY_TRUSTED_PROXIES'],
    flag: 'trust-proxy',
    doc: 'Addresses or networks of proxies whose `X-Forwarded-For` is believed, as `10.0.0.0/8`.',
  },
  {
    name: 'socket',
    type: TEXT,
    env: ['PARLEY_SOCKET'],
    flag: 'socket',
    doc: 'A Unix socket to listen on in place of host and port; only its owner may open it.',
  },
  {
    name: 'audit',
    type: FLAG,
    default: true,
    env: ['PARLEY_AUDIT'],
    flag: 'no-audit',
    flagMeans: false,
    flagDoc: 'Keep no audit log of who was refused and who changed what.',
    doc: 'Write down who was refused and who changed what, in `audit.jsonl` beside the tasks. Not with `memory`.',
  },
  { name: 'tls.cert', type: TEXT, env: ['PARLEY_TLS_CERT'], flag: 'tls-cert', doc: 'PEM file with the certificate, and those above it.' },
  { name: 'tls.key', type: TEXT, env: ['PARLEY_TLS_KEY'], flag: 'tls-key', doc: 'PEM file with the key of the certificate.' },
  {
    name: 'tls.ca',
    type: TEXT,
    env: ['PARLEY_TLS_CA'],
    flag: 'tls-ca',
    doc: 'PEM file with the authority that signs the certificates of callers. Given, callers may show one to say who they are.',
  },
  {
    name: 'tls.clients',
    type: TEXTS,
    default: [],
    env: ['PARLEY_TLS_CLIENTS'],
    flag: 'tls-client',
    doc: 'Names in certificates that may call, as `URI:spiffe://example.org/agent` or `DNS:agent.example.org`. Default: all.',
  },
  {
    name: 'tls.scopes',
    type: TEXTS,
    default: CALLER_SCOPES,
    env: ['PARLEY_TLS_SCOPES'],
    flag: 'tls-scope',
    doc: 'Scopes of callers with a certificate.',
  },
  {
    name: 'jwt.issuer',
    type: URL,
    env: ['PARLEY_JWT_ISSUER'],
    flag: 'jwt-issuer',
    doc: 'The OAuth 2 or OpenID Connect issuer whose tokens callers show. https; http on loopback only.',
  },
  {
    name: 'jwt.audience',
    type: TEXTS,
    default: [],
    env: ['PARLEY_JWT_AUDIENCE'],
    flag: 'jwt-audience',
    doc: 'This node, as the issuer calls it: a token must be for one of these. Needed with `jwt.issuer`.',
  },
  {
    name: 'jwt.algorithms',
    type: TEXTS,
    default: JWT_ALGORITHMS,
    env: ['PARLEY_JWT_ALGORITHMS'],
    flag: 'jwt-algorithm',
    doc: 'Signatures that are taken. Those with a shared secret, and none, never are.',
  },
  {
    name: 'jwt.jwksUrl',
    type: URL,
    env: ['PARLEY_JWT_JWKS_URL'],
    flag: 'jwt-jwks-url',
    doc: 'Where the issuer’s keys are. Default: as its `/.well-known/openid-configuration` says.',
  },
  {
    name: 'jwt.tenantClaim',
    type: TEXT,
    env: ['PARLEY_JWT_TENANT_CLAIM'],
    flag: 'jwt-tenant-claim',
    doc: 'The claim with the tenant. A token without it belongs to none.',
  },
  {
    name: 'jwt.scopes',
    type: TEXTS,
    default: [],
    env: ['PARLEY_JWT_SCOPES'],
    flag: 'jwt-scope',
    doc: 'Scopes that every token has besides its own, for issuers that know none of ours.',
  },
];
