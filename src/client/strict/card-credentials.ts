import type { AgentCard, Fetch, SecurityScheme } from '#protocol';
import { bytesToBase64, kept, unreachable } from '#protocol';
import type { Authenticator, PresentedCredentials } from '../auth/credentials.ts';

/** What the caller can show. `basic` is `user:password`. `mtls`: the connection has a client certificate. */
export interface Credentials {
  /** A token for bearer, OAuth and OpenID Connect schemes. */
  readonly bearer?: string | undefined;
  /** Sent where the card's API key scheme says: a header, the query or a cookie. */
  readonly apiKey?: string | undefined;
  /** `user:password`. */
  readonly basic?: string | undefined;
  /** The connection has a client certificate. */
  readonly mtls?: boolean;
}

/** Kind of credential that a security scheme takes. `other`: a scheme that this client can't serve. */
export type CredentialKind = 'bearer' | 'apiKey' | 'basic' | 'mtls' | 'other';

/** One credential, and where in a request it goes. */
export type PlacedCredential =
  | { readonly at: 'header' | 'cookie' | 'query'; readonly name: string; readonly value: string }
  | { readonly at: 'connection' };

/** Result of `chooseCredentials`: the credentials to send, or what is missing. */
export type CredentialChoice =
  | {
      readonly ok: true;
      readonly placed: readonly PlacedCredential[];
      /** Given, but no scheme of the card takes it. It is not sent (A2ACLI_AUTH_008). */
      readonly unused: readonly CredentialKind[];
    }
  /** The card needs credentials that were not given. `wanted`: its alternatives, each with the names of its schemes. */
  | { readonly ok: false; readonly wanted: readonly (readonly string[])[] };

/** The kind of credential that a scheme takes. */
export function credentialKind(scheme: SecurityScheme): CredentialKind {
  if (scheme.apiKeySecurityScheme !== undefined) return 'apiKey';
  if (scheme.oauth2SecurityScheme !== undefined || scheme.openIdConnectSecurityScheme !== undefined) return 'bearer';
  if (scheme.mtlsSecurityScheme !== undefined) return 'mtls';
  if (scheme.httpAuthSecurityScheme !== undefined) {
    const name = scheme.httpAuthSecurityScheme.scheme.toLowerCase();
    return name === 'bearer' || name === 'basic' ? name : 'other';
  }
  return unreachable(scheme);
}

/**
 * Chooses the first requirement of the card that the given credentials satisfy. Without requirements,
 * every scheme that takes one of the credentials is used.
 */
export function chooseCredentials(card: Pick<AgentCard, 'securitySchemes' | 'securityRequirements'>, have: Credentials): CredentialChoice {
  const schemes = card.securitySchemes ?? {};
  const requirements = card.securityRequirements ?? [];
  for (const { schemes: wanted } of requirements) {
    const names = Object.keys(wanted);
    const met = names.map((name) => (schemes[name] === undefined ? undefined : placedFor(schemes[name], have)));
    if (names.length > 0 && met.every((one) => one !== undefined)) return { ok: true, placed: met, unused: unusedOf(have, met) };
  }
  const isOpen = requirements.length === 0 || requirements.some(({ schemes: wanted }) => Object.keys(wanted).length === 0);
  if (!isOpen) return { ok: false, wanted: requirements.map(({ schemes: wanted }) => Object.keys(wanted)) };
  const some = Object.values(schemes)
    .map((scheme) => placedFor(scheme, have))
    .filter((one) => one !== undefined);
  const first = some.filter((one, at) => some.findIndex((other) => slotOf(other) === slotOf(one)) === at);
  return { ok: true, placed: first, unused: unusedOf(have, first) };
}

/** The credential for a scheme, if the caller has one. */
function placedFor(scheme: SecurityScheme, have: Credentials): PlacedCredential | undefined {
  switch (credentialKind(scheme)) {
    case 'bearer':
      return have.bearer === undefined ? undefined : { at: 'header', name: 'Authorization', value: `Bearer ${have.bearer}` };
    case 'basic':
      return have.basic === undefined ? undefined : { at: 'header', name: 'Authorization', value: `Basic ${base64(have.basic)}` };
    case 'apiKey': {
      const { location, name } = scheme.apiKeySecurityScheme ?? { location: 'header', name: 'X-API-Key' };
      return have.apiKey === undefined ? undefined : { at: location, name, value: have.apiKey };
    }
    case 'mtls':
      return have.mtls === true ? { at: 'connection' } : undefined;
    case 'other':
      return undefined;
  }
}

function base64(text: string): string {
  return bytesToBase64(new TextEncoder().encode(text));
}

/** Two credentials for the same header, cookie or query member exclude each other. */
function slotOf(credential: PlacedCredential): string {
  return credential.at === 'connection' ? 'connection' : `${credential.at} ${credential.name}`;
}

/** Given credentials that are not sent. */
function unusedOf({ bearer, apiKey, basic }: Credentials, sent: readonly PlacedCredential[]): readonly CredentialKind[] {
  const isUnused = (secret: string | undefined): boolean =>
    secret !== undefined && !sent.some((one) => one.at !== 'connection' && one.value.includes(secret));
  return [
    ...(isUnused(bearer) ? (['bearer'] as const) : []),
    ...(isUnused(apiKey) ? (['apiKey'] as const) : []),
    ...(isUnused(basic === undefined ? undefined : base64(basic)) ? (['basic'] as const) : []),
  ];
}

/** The credentials as the client's `auth` option. They go out only once the card is known, so never with the request for the card. */
export function cardCredentials(placed: readonly PlacedCredential[]): Authenticator {
  return { present: (card) => (card === undefined ? {} : presented(placed)) };
}

/** The credentials as headers and query parameters. Several cookies share one header. */
function presented(placed: readonly PlacedCredential[]): PresentedCredentials {
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  for (const one of placed) {
    if (one.at === 'header') headers[one.name] = one.value;
    if (one.at === 'query') query[one.name] = one.value;
    if (one.at === 'cookie') headers['Cookie'] = [headers['Cookie'], cookie(one)].filter((part) => part !== undefined).join('; ');
  }
  return Object.keys(query).length === 0 ? { headers } : { headers, query };
}

function cookie({ name, value }: { readonly name: string; readonly value: string }): string {
  return `${name}=${encodeURIComponent(value)}`;
}

/** A fetch that adds the credentials to every request. For requests that no client makes, such as those of `parley doctor`. */
export function fetchWithCredentials(next: Fetch, placed: readonly PlacedCredential[]): Fetch {
  const { headers: added = {}, query = {} } = presented(placed);
  if (Object.keys(added).length === 0 && Object.keys(query).length === 0) return next;
  return async (request) => {
    const url = new URL(request.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = new Headers(request.headers);
    for (const [name, value] of Object.entries(added)) headers.set(name, value);
    const { method, body, signal, redirect } = request;
    const init = { method, headers, signal, redirect };
    return await next(kept(new Request(url, body === null ? init : { ...init, body: await request.text() }), signal));
  };
}
