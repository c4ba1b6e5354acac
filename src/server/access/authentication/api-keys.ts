import type { SecurityScheme, TenantId } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { AuthenticatedIdentity, AuthMethod } from './auth-method.ts';
import { credentialOf } from './auth-method.ts';

/** What the node stores about an API key. It stores a hash, never the key itself. */
export interface KeyRecord {
  /** Identifies the key to people and in the audit log. Not secret. */
  readonly id: string;
  /** The owner: tasks created with the key belong to the principal `key:NAME`. */
  readonly name: string;
  /** Tenant that the key belongs to. Absent: none. */
  readonly tenant?: string;
  /** What callers with this key may do, for example `tasks:read`. */
  readonly scopes: readonly string[];
  /** RFC 3339, as the two times below. */
  readonly createdAt: string;
  /** The key is refused from this time on. */
  readonly expiresAt?: string;
  /** When an operator revoked the key. */
  readonly revokedAt?: string;
}

/**
 * Looks up API keys. An implementation must compare hashes, so that its timing reveals nothing about
 * the keys.
 */
export interface KeyRing {
  /**
   * The record of a key; undefined if there is none. Expired and revoked keys are found too, and
   * refused later.
   */
  find(secret: string): KeyRecord | undefined;
}

const BEARER: SecurityScheme = { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'A token or an API key of this node.' } };
const API_KEY: SecurityScheme = {
  apiKeySecurityScheme: { location: 'header', name: 'X-API-Key', description: 'An API key of this node.' },
};

/**
 * Authenticates callers by API key, in `Authorization: Bearer` or `X-API-Key`.
 *
 * ```ts
 * await serve(agent, { auth: [keyAuth({ find: (secret) => keysByHash.get(sha256(secret)) })] });
 * ```
 */
export function keyAuth(ring: KeyRing, now: () => number = Date.now): AuthMethod {
  /** One identity object for all calls of a key, so that a call allocates none. */
  const identities = new WeakMap<KeyRecord, AuthenticatedIdentity>();
  const isPast = ({ expiresAt }: KeyRecord): boolean => expiresAt !== undefined && Date.parse(expiresAt) <= now();
  const isGood = (key: KeyRecord | undefined): boolean => key !== undefined && key.revokedAt === undefined && !isPast(key);
  return {
    name: 'key',
    schemes: { bearer: BEARER, apiKey: API_KEY },
    challenge: { scheme: 'Bearer' },
    authenticate: (request) => {
      const credential = credentialOf(request);
      if (typeof credential === 'string') return undefined;
      const key = ring.find(credential.text);
      if (key === undefined) return undefined;
      if (key.revokedAt !== undefined) return { reason: `key ${key.id} is revoked` };
      if (isPast(key)) return { reason: `key ${key.id} has expired` };
      let known = identities.get(key);
      if (known === undefined) {
        known = { ...identityOf(key), isStillValid: () => isGood(ring.find(credential.text)) };
        identities.set(key, known);
      }
      return known;
    },
  };
}

function identityOf({ name, scopes, tenant = '' }: KeyRecord): AuthenticatedIdentity {
  return { principal: { id: `key:${name}`, scopes }, tenant: tenant as TenantId };
}

/**
 * Authenticates the bearer of the node's own token as `local`, the owner of the machine. `isSame` must
 * compare in constant time.
 */
export function tokenAuth(isSame: (text: string) => boolean): AuthMethod {
  return {
    name: 'token',
    schemes: { bearer: BEARER },
    challenge: { scheme: 'Bearer' },
    authenticate: (request) => {
      const credential = credentialOf(request);
      return typeof credential !== 'string' && isSame(credential.text) ? { principal: LOCAL_PRINCIPAL } : undefined;
    },
  };
}
