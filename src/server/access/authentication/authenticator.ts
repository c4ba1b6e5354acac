import type { HttpRequest } from '#bindings';
import type { Principal, SecurityScheme, TenantId } from '#protocol';

/** Somebody who has shown who it is. */
export interface AuthenticatedIdentity {
  readonly principal: Principal;
  /** Of the credential. `''` for one that belongs to none: its bearer can't choose one. Absent: it may, to keep its own things apart. */
  readonly tenant?: TenantId;
  /** Asked every few seconds while a stream is open that was asked for with it. Absent: it is good for as long as the stream. */
  readonly isStillValid?: () => boolean;
}

/** A credential that is one of this method's, and no good. */
export interface Denial {
  /** For the audit log. Never holds any of the credential. */
  readonly denied: string;
  /** For the caller, if there is more to say than that it is not valid. */
  readonly words?: string;
  /** Nobody can tell just now: the caller had better come back. */
  readonly retryAfterMs?: number;
}

/** What a method makes of a request. Undefined: nothing in it is for this method. */
export type AuthenticationResult = AuthenticatedIdentity | Denial | undefined;

/** One way to show who one is. The methods of a node are asked in their order; the first that has an opinion decides. */
export interface AuthMethod {
  /** As the audit log has it. */
  readonly method: string;
  /** What the cards say of it, by the name of the scheme: exactly what is enforced. Any one of all schemes will do. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
  /** For `WWW-Authenticate`: the scheme, and parameters of its own. */
  readonly challenge?: { readonly scheme: string; readonly parameters?: Readonly<Record<string, string>> };
  recognise(request: HttpRequest): AuthenticationResult | Promise<AuthenticationResult>;
}

export function isDenial(found: AuthenticatedIdentity | Denial): found is Denial {
  return 'denied' in found;
}

const CREDENTIAL_CHARS_MAX = 8192;

/**
 * The credential in a request: of `Authorization: Bearer`, or, where there is no `Authorization`, of `X-API-Key`. `malformed` is one that
 * nobody could have been given; several, which some hosts join by commas, are among them.
 */
export function credentialOf(request: HttpRequest): { readonly text: string } | 'none' | 'malformed' {
  const authorization = request.header('authorization');
  const given = authorization ?? request.header('x-api-key');
  if (given === undefined) return 'none';
  if (given.length > CREDENTIAL_CHARS_MAX) return 'malformed';
  const text = authorization === undefined ? given : /^bearer (.*)$/is.exec(given)?.[1]?.trimStart();
  return text !== undefined && /^[\w.~+/=-]+$/.test(text) ? { text } : 'malformed';
}
