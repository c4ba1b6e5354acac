import type { HttpRequest } from '#bindings';
import type { Principal, SecurityScheme, TenantId } from '#protocol';

/** The identity that a valid credential proves. */
export interface AuthenticatedIdentity {
  /** Who calls, and with which scopes. */
  readonly principal: Principal;
  /**
   * The credential's tenant. `''`: it belongs to no tenant, and its bearer can't choose one. Absent:
   * its bearer may name any tenant.
   */
  readonly tenant?: TenantId;
  /**
   * Called every few seconds while a stream of this caller is open. The stream ends when it returns
   * false. Absent: the stream stays open.
   */
  readonly isStillValid?: () => boolean;
}

/** The rejection of a credential that belongs to a method. */
export interface CredentialDenial {
  /** For the audit log. Must not contain any part of the credential. */
  readonly reason: string;
  /** For the caller. Default: "the credential is not valid". */
  readonly message?: string;
  /**
   * Set when the credential could not be checked; the caller gets a 503 and may retry after this time.
   */
  readonly retryAfterMs?: number;
}

/** The result of one method. Undefined: the request carries no credential of this method. */
export type AuthenticationResult = AuthenticatedIdentity | CredentialDenial | undefined;

/**
 * One way to authenticate callers: API keys, tokens of an issuer, client certificates, or your own. A
 * node tries its methods in order; the first result that is not undefined decides.
 *
 * ```ts
 * const header: AuthMethod = {
 *   name: 'header',
 *   schemes: { header: { apiKeySecurityScheme: { location: 'header', name: 'X-User' } } },
 *   authenticate: (request) => {
 *     const user = request.header('x-user');
 *     return user === undefined ? undefined : { principal: { id: user, scopes: CALLER_SCOPES } };
 *   },
 * };
 * ```
 */
export interface AuthMethod {
  /** The method's name in the audit log. */
  readonly name: string;
  /**
   * The security schemes that the agent cards declare for this method. A caller needs only one scheme
   * of all methods.
   */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
  /** The scheme, and its own parameters, for the `WWW-Authenticate` header. */
  readonly challenge?: { readonly scheme: string; readonly parameters?: Readonly<Record<string, string>> };
  /** Reaches what the method depends on, for example the issuer of tokens. Rejects if it can't be reached. Absent: it depends on nothing. */
  connect?(): Promise<void>;
  /** Checks the credential of a request. Must not read the body. */
  authenticate(request: HttpRequest): AuthenticationResult | Promise<AuthenticationResult>;
}

export function isDenial(result: AuthenticatedIdentity | CredentialDenial): result is CredentialDenial {
  return 'reason' in result;
}

const CREDENTIAL_CHARS_MAX = 8192;

/**
 * Reads the credential of a request from `Authorization: Bearer`, or from `X-API-Key` if there is no
 * `Authorization`. Returns `malformed` for a text that can't be a credential, for example several that
 * a host has joined with commas.
 */
export function credentialOf(request: HttpRequest): { readonly text: string } | 'none' | 'malformed' {
  const authorization = request.header('authorization');
  const given = authorization ?? request.header('x-api-key');
  if (given === undefined) return 'none';
  if (given.length > CREDENTIAL_CHARS_MAX) return 'malformed';
  const text = authorization === undefined ? given : /^bearer (.*)$/is.exec(given)?.[1]?.trimStart();
  return text !== undefined && /^[\w.~+/=-]+$/.test(text) ? { text } : 'malformed';
}
