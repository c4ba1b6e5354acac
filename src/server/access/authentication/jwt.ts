import type { errors as JoseErrors, JWTPayload } from 'jose';
import type { HttpRequest } from '#bindings';
import type { Fetch, SecurityScheme, TenantId } from '#protocol';
import { isScope } from '../authorisation/scopes.ts';
import type { AuthenticatedIdentity, AuthMethod, CredentialDenial } from './auth-method.ts';
import { credentialOf, isDenial } from './auth-method.ts';
import type { RemoteKeys } from './jwks.ts';
import { configurationUrl, isSafe, KeysUnavailable, remoteKeys } from './jwks.ts';

/** Options of `jwtAuth`. */
export interface JwtOptions {
  /** URL of the issuer. A token must name exactly this text as `iss`. */
  readonly issuer: string;
  /** The issuer's names for this node. A token must contain one of them as its audience. */
  readonly audience: string | readonly string[];
  /** Allowed signature algorithms, asymmetric ones only. Default: `JWT_ALGORITHMS`. */
  readonly algorithms?: readonly string[] | undefined;
  /** The address of the issuer's keys. Default: found by OpenID Connect Discovery. */
  readonly jwksUrl?: string | undefined;
  /** The claim that holds the tenant. A token without it belongs to no tenant. */
  readonly tenantClaim?: string | undefined;
  /** Scopes that every valid token gets in addition to its own. */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Fetches the discovery document and the keys. Use an `Outbound`, which refuses private addresses.
   */
  readonly fetch: Fetch;
  /** Called after each attempt to fetch them: with the cause if it failed, or else with undefined. */
  readonly onFetched?: ((cause: unknown) => void) | undefined;
  /** Accepted difference between the clocks. Default 30. */
  readonly clockToleranceSeconds?: number;
}

/** Accepted algorithms by default. Shared secrets and `none` are never accepted. */
export const JWT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
const ASYMMETRIC = /^(?:[RP]S(?:256|384|512)|ES(?:256|384|512)|EdDSA|Ed25519)$/;
const CLOCK_TOLERANCE_SECONDS = 30;
/** A verified token is not verified again for a minute, or until it expires. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 1000;
const TENANT_CHARS_MAX = 128;

/**
 * Authenticates callers by JSON Web Tokens of an OAuth 2 or OpenID Connect issuer.
 *
 * ```ts
 * jwtAuth({ issuer: 'https://id.example.org', audience: 'parley', fetch: outbound.fetchWithin({ bytesMax: 1_000_000, msMax: 5000 }) });
 * ```
 */
export function jwtAuth(options: JwtOptions): AuthMethod {
  checkOptions(options);
  const keys = remoteKeys(options);
  const verify = verifier(options, keys);
  const remembered = new Map<string, { readonly identity: AuthenticatedIdentity; readonly until: number }>();
  const scheme: SecurityScheme =
    options.jwksUrl === undefined
      ? { openIdConnectSecurityScheme: { openIdConnectUrl: configurationUrl(options.issuer) } }
      : { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } };
  return {
    name: 'jwt',
    schemes: { oidc: scheme },
    challenge: { scheme: 'Bearer' },
    connect: () => keys.fetchNow(),
    authenticate: (request) => {
      const credential = credentialOf(request);
      if (typeof credential === 'string' || !looksLikeJwt(credential.text)) return undefined;
      const known = remembered.get(credential.text);
      if (known !== undefined && known.until > Date.now()) return known.identity;
      remembered.delete(credential.text);
      return verify(credential.text, request).then(({ found, expiresAt }) => {
        if (expiresAt === undefined || isDenial(found)) return found;
        if (remembered.size >= REMEMBERED_MAX) remembered.clear();
        remembered.set(credential.text, { identity: found, until: Math.min(expiresAt, Date.now() + REMEMBERED_MS) });
        return found;
      });
    },
  };
}

interface VerifiedToken {
  readonly found: AuthenticatedIdentity | CredentialDenial;
  /** Until when the result may be remembered. Absent: not at all. */
  readonly expiresAt?: number;
}

/** Verifies signature, issuer, audience and expiry. `exp` and `sub` are required. */
function verifier(options: JwtOptions, keys: RemoteKeys): (token: string, request: HttpRequest) => Promise<VerifiedToken> {
  const rules = {
    issuer: options.issuer,
    audience: typeof options.audience === 'string' ? options.audience : [...options.audience],
    algorithms: [...(options.algorithms ?? JWT_ALGORITHMS)],
    requiredClaims: ['exp', 'sub'],
    clockTolerance: options.clockToleranceSeconds ?? CLOCK_TOLERANCE_SECONDS,
  };
  return async (token, request) => {
    // jose is loaded with the first token, because most nodes have no issuer.
    const { errors, jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, keys.find, rules);
      const found = identityOf(payload, options, request);
      // A token with a `cnf` claim is valid only on its own connection, so it is verified each time.
      return payload['cnf'] === undefined ? { found, expiresAt: (payload.exp ?? 0) * 1000 } : { found };
    } catch (thrown) {
      return { found: denialOf(thrown, errors) };
    }
  };
}

/** The caller of a verified token. */
function identityOf(payload: JWTPayload, options: JwtOptions, request: HttpRequest): AuthenticatedIdentity | CredentialDenial {
  // Typed as a string, but jose does not check it: the array ["eve"] would turn into the text eve.
  const sub: unknown = payload.sub;
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) return { reason: 'a token without a usable subject' };
  const unbound = unboundReason(payload['cnf'], request);
  if (unbound !== undefined) return { reason: unbound };
  const tenant = options.tenantClaim === undefined ? '' : (payload[options.tenantClaim] ?? '');
  if (typeof tenant !== 'string' || tenant.length > TENANT_CHARS_MAX) return { reason: 'a token with an invalid tenant' };
  // Only issuer and subject together identify a user (OpenID Connect Core §5.7).
  return {
    principal: { id: `oidc:${options.issuer}#${sub}`, scopes: [...scopesIn(payload), ...(options.scopes ?? [])] },
    tenant: tenant as TenantId,
  };
}

/**
 * RFC 8705 §3: a certificate-bound token is valid only with that certificate. Other kinds of `cnf`
 * can't be checked here and are refused.
 */
function unboundReason(confirmation: unknown, request: HttpRequest): string | undefined {
  if (confirmation === undefined) return undefined;
  const thumbprint =
    typeof confirmation === 'object' && confirmation !== null ? (confirmation as Record<string, unknown>)['x5t#S256'] : undefined;
  if (typeof thumbprint === 'string' && request.peer?.certificate?.thumbprint === thumbprint) return undefined;
  return 'a token that is bound to another connection';
}

/**
 * Reads `scope` (RFC 8693), `scp` (Entra) and `permissions` (Auth0). The scope `*` is dropped: only
 * this node may grant everything.
 */
function scopesIn(payload: JWTPayload): readonly string[] {
  return ['scope', 'scp', 'permissions']
    .flatMap((claim) => {
      const value = payload[claim];
      if (typeof value === 'string') return value.split(' ');
      return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
    })
    .filter((scope) => isScope(scope) && scope !== '*');
}

/** Why a token is rejected. If the issuer's keys are unavailable, the caller may retry. */
function denialOf(thrown: unknown, errors: typeof JoseErrors): CredentialDenial {
  if (thrown instanceof KeysUnavailable || thrown instanceof errors.JWKSTimeout)
    return { reason: 'the issuer’s keys could not be fetched', retryAfterMs: 5000 };
  if (thrown instanceof errors.JWTExpired) return { reason: 'an expired token', message: 'the token has expired' };
  if (thrown instanceof errors.JWTClaimValidationFailed) return { reason: `a token with a wrong ${thrown.claim}` };
  if (thrown instanceof errors.JOSEError) return { reason: `an invalid token: ${thrown.code}` };
  return { reason: 'a token that can’t be read' };
}

function looksLikeJwt(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
}

/** Throws for settings that would accept forged or foreign tokens. */
function checkOptions({ issuer, audience, algorithms = [], jwksUrl }: JwtOptions): void {
  for (const url of jwksUrl === undefined ? [issuer] : [jwksUrl]) {
    if (!isSafe(url)) throw new TypeError(`${url} must be an https URL (http on loopback only)`);
  }
  if (audience.length === 0) throw new TypeError('an audience is required: without one, tokens for any other service would be accepted');
  const weak = algorithms.find((name) => !ASYMMETRIC.test(name));
  if (weak !== undefined) throw new TypeError(`${weak} is not an asymmetric algorithm; use one such as ${JWT_ALGORITHMS.join(', ')}`);
}
