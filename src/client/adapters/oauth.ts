import * as oauth from 'oauth4webapi';
import type { Authenticator } from '../auth/credentials.ts';
import { ClientError } from '../errors/client-error.ts';
import type { OAuthClient, Server } from './oauth/server.ts';
import type { TokenStore } from './oauth/session.ts';
import { tokenSession } from './oauth/session.ts';

export type { CardEndpoints, OAuthClient, TokenSource } from './oauth/server.ts';
export { oauthEndpoints } from './oauth/server.ts';
export type { TokenStore, Tokens } from './oauth/session.ts';

/** Options of all three OAuth flows. */
export interface OAuthOptions extends OAuthClient {
  /** Keeps tokens between runs of the program. Default: only in memory. */
  readonly tokens?: TokenStore;
}

/**
 * Client credentials: a program uses its own id and secret (RFC 6749 §4.4).
 *
 * ```ts
 * const auth = clientCredentials({ source: { issuer: 'https://id.example' }, clientId: 'me', clientSecret: { env: 'SECRET' } });
 * ```
 */
export function clientCredentials(options: OAuthOptions): Authenticator {
  return tokenSession({
    ...session(options),
    isInteractive: false,
    grant: async ({ as, client, auth, options: http }) => {
      const answer = await oauth.clientCredentialsGrantRequest(as, client, auth, parametersOf(options), http);
      return await oauth.processClientCredentialsResponse(as, client, answer);
    },
  });
}

/** What to show to a person: the address to open and the code to enter. */
export interface DevicePrompt {
  /** The code that the person enters. */
  readonly userCode: string;
  /** The page to open. */
  readonly verificationUri: string;
  /** The address with the code, if the server offers one. */
  readonly verificationUriComplete: string | undefined;
  /** How long the code is valid, in milliseconds. */
  readonly expiresInMs: number;
}

/** Options of `deviceCode`. */
export interface DeviceOptions extends OAuthOptions {
  /** Shows the address and the code to a person. Called once for each login. */
  readonly prompt: (prompt: DevicePrompt) => void | Promise<void>;
  /** Stops waiting for the person. */
  readonly signal?: AbortSignal;
}

/**
 * Device code: a person approves on another device (RFC 8628). For terminals.
 *
 * ```ts
 * const auth = deviceCode({ source, clientId: 'me', prompt: ({ verificationUri, userCode }) => console.log(verificationUri, userCode) });
 * ```
 */
export function deviceCode(options: DeviceOptions): Authenticator {
  return tokenSession({ ...session(options), isInteractive: true, grant: (server) => byDevice(server, options) });
}

/**
 * Polls until the person has approved, at the interval that the server asks for, or until the code
 * expires.
 */
async function byDevice({ as, client, auth, options: http }: Server, options: DeviceOptions): Promise<oauth.TokenEndpointResponse> {
  const asked = await oauth.deviceAuthorizationRequest(as, client, auth, parametersOf(options), http);
  const device = await oauth.processDeviceAuthorizationResponse(as, client, asked);
  await options.prompt({
    userCode: device.user_code,
    verificationUri: device.verification_uri,
    verificationUriComplete: device.verification_uri_complete,
    expiresInMs: device.expires_in * 1000,
  });
  const endMs = Date.now() + device.expires_in * 1000;
  let pauseMs = (device.interval ?? 5) * 1000;
  while (Date.now() < endMs) {
    await pause(pauseMs, options.signal);
    try {
      const answer = await oauth.deviceCodeGrantRequest(as, client, auth, device.device_code, http);
      return await oauth.processDeviceCodeResponse(as, client, answer);
    } catch (thrown) {
      if (!(thrown instanceof oauth.ResponseBodyError)) throw thrown;
      if (thrown.error === 'slow_down') pauseMs += 5000;
      else if (thrown.error !== 'authorization_pending') throw thrown;
    }
  }
  throw new ClientError('auth-failed', 'the login was not approved in time', { hint: 'start again, and enter the code while it is valid' });
}

/** Options of `authorizationCode`. */
export interface AuthorizationCodeOptions extends OAuthOptions {
  /** Address that the authorization server redirects to; it must be registered there. */
  readonly redirectUri: string;
  /** Opens this address for a person, and returns the address that they were redirected to. */
  readonly authorize: (url: URL) => Promise<URL | string>;
}

/**
 * Authorization code with PKCE: a person approves in a browser (RFC 6749 §4.1, RFC 7636).
 *
 * ```ts
 * const auth = authorizationCode({
 *   source: { issuer: 'https://login.example' },
 *   clientId: 'my-app',
 *   redirectUri: 'http://127.0.0.1:8000/callback',
 *   authorize: async (url) => await openBrowserAndWait(url), // resolves to the address that the browser returned to
 * });
 * ```
 */
export function authorizationCode(options: AuthorizationCodeOptions): Authenticator {
  return tokenSession({ ...session(options), isInteractive: true, grant: (server) => byCode(server, options) });
}

/**
 * Sends the person to the authorization endpoint and exchanges the code. State and PKCE protect the
 * exchange.
 */
async function byCode(
  { as, client, auth, options: http }: Server,
  options: AuthorizationCodeOptions,
): Promise<oauth.TokenEndpointResponse> {
  if (as.authorization_endpoint === undefined)
    throw new ClientError('auth-failed', 'the server has no authorization endpoint', { hint: 'set authorizationUrl' });
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(as.authorization_endpoint);
  const asked = {
    ...parametersOf(options),
    client_id: client.client_id,
    redirect_uri: options.redirectUri,
    response_type: 'code',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  const back = new URL(await options.authorize(url));
  const issued = 'issuer' in options.source ? as : { ...as, issuer: issuerIn(back, as) };
  const found = oauth.validateAuthResponse(issued, client, back, state);
  const answer = await oauth.authorizationCodeGrantRequest(issued, client, auth, found, options.redirectUri, verifier, http);
  return await oauth.processAuthorizationCodeResponse(issued, client, answer);
}

/**
 * A server that is known by its endpoints has no known issuer, and its responses name one (RFC 9207), such as `https://id.example/realms/a`. It
 * must be on the origin of the token endpoint.
 */
function issuerIn(back: URL, { issuer, token_endpoint: at }: oauth.AuthorizationServer): string {
  const named = back.searchParams.get('iss') ?? '';
  return at !== undefined && URL.canParse(named) && new URL(named).origin === new URL(at).origin ? named : issuer;
}

function session({ tokens, ...client }: OAuthOptions): { readonly client: OAuthClient; readonly tokens?: TokenStore } {
  return tokens === undefined ? { client } : { client, tokens };
}

function parametersOf({ scopes = [], parameters = {} }: OAuthClient): Record<string, string> {
  return { ...parameters, ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }) };
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (signal?.aborted === true) throw new ClientError('aborted', 'waiting for the person was aborted');
}
