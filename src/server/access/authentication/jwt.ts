import type { errors as JoseErrors, JWTPayload } from 'jose';
import type { HttpRequest } from '#bindings';
import type { Fetch, SecurityScheme, TenantId } from '#protocol';
import { isScope } from '../authorisation/scopes.ts';
import type { AuthenticatedIdentity, AuthMethod, Denial } from './authenticator.ts';
import { credentialOf } from './authenticator.ts';
import { configurationUrl, isSafe, KeysUnavailable, remoteKeys } from './jwks.ts';

export interface JwtOptions {
  readonly issuer: string;
  /** This node, as the issuer calls it. A token must be for one of these. */
  readonly audience: string | readonly string[];
  /** Only signatures that need the issuer's private key. */
  readonly algorithms?: readonly string[] | undefined;
  /** Default: by OpenID Connect Discovery. */
  readonly jwksUrl?: string | undefined;
  /** The claim with the tenant. A token without it belongs to none. */
  readonly tenantClaim?: string | undefined;
  /** Scopes that every valid token has besides its own. */
  readonly scopes?: readonly string[] | undefined;
  /** How discovery and keys are fetched: through the outbound guard. */
  readonly fetch: Fetch;
  readonly clockToleranceSeconds?: number;
}

export const JWT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
const ASYMMETRIC = /^(?:[RP]S(?:256|384|512)|ES(?:256|384|512)|EdDSA|Ed25519)$/;
const CLOCK_TOLERANCE_SECONDS = 30;
/** A token that was verified is taken on its word for a minute, or until it expires. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 1000;
const TENANT_CHARS_MAX = 128;

/** Tokens of an OAuth 2 or OpenID Connect issuer. */
export function jwtAuth(options: JwtOptions): AuthMethod {
  checkOptions(options);
  const verify = verifier(options);
  const remembered = new Map<string, { readonly identity: AuthenticatedIdentity; readonly until: number }>();
  const scheme: SecurityScheme =
    options.jwksUrl === undefined
      ? { openIdConnectSecurityScheme: { openIdConnectUrl: configurationUrl(options.issuer) } }
      : { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } };
  return {
    method: 'jwt',
    schemes: { oidc: scheme },
    challenge: { scheme: 'Bearer' },
    recognise: (request) => {
      const credential = credentialOf(request);
      if (typeof credential === 'string' || !looksLikeJwt(credential.text)) return undefined;
      const known = remembered.get(credential.text);
      if (known !== undefined && known.until > Date.now()) return known.identity;
      remembered.delete(credential.text);
      return verify(credential.text, request).then(({ found, expiresAt }) => {
        if (expiresAt === undefined || 'denied' in found) return found;
        if (remembered.size >= REMEMBERED_MAX) remembered.clear();
        remembered.set(credential.text, { identity: found, until: Math.min(expiresAt, Date.now() + REMEMBERED_MS) });
        return found;
      });
    },
  };
}

interface Verified {
  readonly found: AuthenticatedIdentity | Denial;
  /** When it may be remembered till. */
  readonly expiresAt?: number;
}

function verifier(options: JwtOptions): (token: string, request: HttpRequest) => Promise<Verified> {
  const keys = remoteKeys(options);
  const rules = {
    issuer: options.issuer,
    audience: typeof options.audience === 'string' ? options.audience : [...options.audience],
    algorithms: [...(options.algorithms ?? JWT_ALGORITHMS)],
    requiredClaims: ['exp', 'sub'],
    clockTolerance: options.clockToleranceSeconds ?? CLOCK_TOLERANCE_SECONDS,
  };
  return async (token, request) => {
    // Loaded with the first token: most nodes have no issuer.
    const { errors, jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, keys, rules);
      const found = identityOf(payload, options, request);
      // A bound token is good on its own connection only, so it is looked at each time.
      return payload['cnf'] === undefined ? { found, expiresAt: (payload.exp ?? 0) * 1000 } : { found };
    } catch (thrown) {
      return { found: denialOf(thrown, errors) };
    }
  };
}

function identityOf(payload: JWTPayload, options: JwtOptions, request: HttpRequest): AuthenticatedIdentity | Denial {
  const { sub = '' } = payload;
  if (sub === '' || sub.length > 255) return { denied: 'a token without a usable subject' };
  const unbound = unboundReason(payload['cnf'], request);
  if (unbound !== undefined) return { denied: unbound };
  const tenant = options.tenantClaim === undefined ? '' : (payload[options.tenantClaim] ?? '');
  if (typeof tenant !== 'string' || tenant.length > TENANT_CHARS_MAX) return { denied: 'a token whose tenant is none' };
  // Issuer and subject together name a person (OpenID Connect Core §5.7).
  return {
    principal: { id: `oidc:${options.issuer}#${sub}`, scopes: [...scopesIn(payload), ...(options.scopes ?? [])] },
    tenant: tenant as TenantId,
  };
}

/** RFC 8705 §3: a token that is bound to a certificate comes with it. Other bindings can't be checked here, so they do not hold. */
function unboundReason(confirmation: unknown, request: HttpRequest): string | undefined {
  if (confirmation === undefined) return undefined;
  const thumbprint =
    typeof confirmation === 'object' && confirmation !== null ? (confirmation as Record<string, unknown>)['x5t#S256'] : undefined;
  if (typeof thumbprint === 'string' && request.peer?.certificate?.thumbprint === thumbprint) return undefined;
  return 'a token that is bound to another connection';
}

/** `scope` of RFC 8693, `scp` of Entra, `permissions` of Auth0. The scope that means all is given by nobody but this node. */
function scopesIn(payload: JWTPayload): readonly string[] {
  return ['scope', 'scp', 'permissions']
    .flatMap((claim) => {
      const value = payload[claim];
      if (typeof value === 'string') return value.split(' ');
      return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
    })
    .filter((scope) => isScope(scope) && scope !== '*');
}

function denialOf(thrown: unknown, errors: typeof JoseErrors): Denial {
  if (thrown instanceof KeysUnavailable || thrown instanceof errors.JWKSTimeout)
    return { denied: 'the keys are not to be had', retryAfterMs: 5000 };
  if (thrown instanceof errors.JWTExpired) return { denied: 'an expired token', words: 'the token has expired' };
  if (thrown instanceof errors.JWTClaimValidationFailed) return { denied: `a token with a wrong ${thrown.claim}` };
  if (thrown instanceof errors.JOSEError) return { denied: `a token that is none: ${thrown.code}` };
  return { denied: 'a token that can’t be read' };
}

function looksLikeJwt(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
}

function checkOptions({ issuer, audience, algorithms = [], jwksUrl }: JwtOptions): void {
  for (const url of jwksUrl === undefined ? [issuer] : [jwksUrl]) {
    if (!isSafe(url)) throw new TypeError(`${url} must be an https address (http on loopback only)`);
  }
  if (audience.length === 0) throw new TypeError('an audience is needed: without one, a token for anybody else would do');
  const weak = algorithms.find((name) => !ASYMMETRIC.test(name));
  if (weak !== undefined)
    throw new TypeError(`${weak} is not one of the algorithms that need the issuer’s private key, as ${JWT_ALGORITHMS.join(', ')}`);
}
