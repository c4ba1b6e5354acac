import type { SecurityScheme, TenantId } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { AuthenticatedIdentity, AuthMethod } from './authenticator.ts';
import { credentialOf } from './authenticator.ts';

/** What is known of an API key. The key itself is not: only its hash is kept. */
export interface KeyRecord {
  /** For people and the audit log; no secret. */
  readonly id: string;
  /** Whose it is: what is made with it belongs to `key:NAME`. */
  readonly name: string;
  readonly tenant?: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
}

/** Where keys are looked up. Whoever implements it compares hashes, in a time that says nothing of the keys. */
export interface KeyRing {
  find(secret: string): KeyRecord | undefined;
}

const BEARER: SecurityScheme = { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'A token or an API key of this node.' } };
const API_KEY: SecurityScheme = {
  apiKeySecurityScheme: { location: 'header', name: 'X-API-Key', description: 'An API key of this node.' },
};

/** API keys, and static tokens that were taken in as such. */
export function keyAuth(ring: KeyRing, now: () => number = Date.now): AuthMethod {
  /** One object for all calls of a key: what is kept by its name finds it without making it anew. */
  const identities = new WeakMap<KeyRecord, AuthenticatedIdentity>();
  const isPast = ({ expiresAt }: KeyRecord): boolean => expiresAt !== undefined && Date.parse(expiresAt) <= now();
  const isGood = (key: KeyRecord | undefined): boolean => key !== undefined && key.revokedAt === undefined && !isPast(key);
  return {
    method: 'key',
    schemes: { bearer: BEARER, apiKey: API_KEY },
    challenge: { scheme: 'Bearer' },
    recognise: (request) => {
      const credential = credentialOf(request);
      if (typeof credential === 'string') return undefined;
      const key = ring.find(credential.text);
      if (key === undefined) return undefined;
      if (key.revokedAt !== undefined) return { denied: `key ${key.id} is revoked` };
      if (isPast(key)) return { denied: `key ${key.id} has expired` };
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

/** The node's own token: whoever has it is the owner of the machine, `local`. `isSame` takes as long whatever the difference is. */
export function tokenAuth(isSame: (text: string) => boolean): AuthMethod {
  return {
    method: 'token',
    schemes: { bearer: BEARER },
    challenge: { scheme: 'Bearer' },
    recognise: (request) => {
      const credential = credentialOf(request);
      return typeof credential !== 'string' && isSame(credential.text) ? { principal: LOCAL_PRINCIPAL } : undefined;
    },
  };
}
