import * as oauth from 'oauth4webapi';
import type { AgentCard, Fetch } from '#protocol';
import { kept } from '#protocol';
import type { Env, Secret } from '../../auth/credentials.ts';
import { secretValue } from '../../auth/credentials.ts';
import { ClientError } from '../../errors/client-error.ts';

/** The authorization server: an issuer with metadata, or its endpoints. */
export type TokenSource =
  | { readonly issuer: string }
  | { readonly tokenUrl: string; readonly authorizationUrl?: string; readonly deviceAuthorizationUrl?: string };

/** A registered OAuth client and its authorization server. */
export interface OAuthClient {
  /** Where tokens come from. */
  readonly source: TokenSource;
  /** The id under which the client is registered. */
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: Secret;
  /** Where the secret is sent: in the header (the default) or in the body. */
  readonly secretIn?: 'header' | 'body';
  /** Scopes to request. Default: none. */
  readonly scopes?: readonly string[];
  /**
   * Further parameters of the token request, for example `resource` (RFC 8707) or a vendor's
   * `audience`.
   */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Sends the requests to the authorization server. Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** Environment for a secret of the form `{ env: 'NAME' }`. Default: that of the process. */
  readonly env?: Env;
}

/** An authorization server and how to call it. */
export interface Server {
  readonly as: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly options: oauth.HttpRequestOptions<'POST', URLSearchParams>;
}

/** Reads the metadata of the authorization server, and prepares the client authentication. */
export async function openServer(given: OAuthClient): Promise<Server> {
  const as = 'issuer' in given.source ? await discovered(given.source.issuer, given) : declared(given.source);
  const { clientSecret, secretIn = 'header' } = given;
  const secret = clientSecret === undefined ? undefined : await secretValue(clientSecret, given.env);
  const shown = secretIn === 'header' ? oauth.ClientSecretBasic : oauth.ClientSecretPost;
  return {
    as,
    client: { client_id: given.clientId },
    auth: secret === undefined ? oauth.None() : shown(secret),
    options: requestOptions(as.token_endpoint ?? as.issuer, given),
  };
}

/** The server's metadata, made from the endpoints that the caller gave. */
function declared(source: Exclude<TokenSource, { readonly issuer: string }>): oauth.AuthorizationServer {
  return {
    issuer: new URL(source.tokenUrl).origin,
    token_endpoint: source.tokenUrl,
    ...(source.authorizationUrl === undefined ? {} : { authorization_endpoint: source.authorizationUrl }),
    ...(source.deviceAuthorizationUrl === undefined ? {} : { device_authorization_endpoint: source.deviceAuthorizationUrl }),
  };
}

/** Tries the metadata of OAuth first, then of OpenID Connect. */
async function discovered(issuer: string, given: OAuthClient): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  const options = requestOptions(issuer, given);
  let last: unknown;
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    try {
      return await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { ...options, algorithm } as never));
    } catch (cause) {
      last = cause;
    }
  }
  throw new ClientError('auth-failed', `${issuer} does not say where its tokens come from`, {
    cause: last,
    why: last instanceof Error ? last.message : String(last),
    hint: 'set tokenUrl (and authorizationUrl or deviceAuthorizationUrl) instead of issuer',
  });
}

/** Secrets are sent over http only on loopback. */
function requestOptions(url: string, { fetch }: OAuthClient): Server['options'] {
  const { protocol, hostname } = new URL(url);
  const isLocal = protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return {
    [oauth.allowInsecureRequests]: isLocal,
    ...(fetch === undefined
      ? {}
      : { [oauth.customFetch]: (at: string, init: object) => fetch(kept(new Request(at, init as RequestInit))) }),
  };
}

/** The OAuth endpoints that a card names. */
export interface CardEndpoints {
  /** The name of the scheme in the card. */
  readonly scheme: string;
  /** Which flow the card offers at these endpoints. */
  readonly flow: 'authorizationCode' | 'clientCredentials' | 'deviceCode';
  /** The endpoints, ready to be used as `source` of a flow. */
  readonly source: TokenSource;
  /** Scopes that the card lists. */
  readonly scopes: readonly string[];
}

/**
 * The OAuth endpoints of a card. Check them before use: the author of the card chose them, and your
 * secret is sent there.
 */
export function oauthEndpoints(card: AgentCard): readonly CardEndpoints[] {
  return Object.entries(card.securitySchemes ?? {}).flatMap(([scheme, { oauth2SecurityScheme }]): readonly CardEndpoints[] => {
    const { authorizationCode, clientCredentials, deviceCode } = oauth2SecurityScheme?.flows ?? {};
    if (authorizationCode !== undefined) {
      const { authorizationUrl, tokenUrl, scopes } = authorizationCode;
      return [{ scheme, flow: 'authorizationCode', source: { tokenUrl, authorizationUrl }, scopes: Object.keys(scopes) }];
    }
    if (clientCredentials !== undefined) {
      const { tokenUrl, scopes } = clientCredentials;
      return [{ scheme, flow: 'clientCredentials', source: { tokenUrl }, scopes: Object.keys(scopes) }];
    }
    if (deviceCode === undefined) return [];
    const { deviceAuthorizationUrl, tokenUrl, scopes } = deviceCode;
    return [{ scheme, flow: 'deviceCode', source: { tokenUrl, deviceAuthorizationUrl }, scopes: Object.keys(scopes) }];
  });
}
