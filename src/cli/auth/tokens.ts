import type { AuthorizationServer, Client, ClientAuth, TokenEndpointResponse } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import type { Fetch } from '#protocol';
import { CliError } from '../command.ts';
import type { StoredToken, TokenStore } from '../settings/tokens.ts';

/** Whom a token is got from, and in whose name. */
export interface Grantor {
  readonly server: AuthorizationServer;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly scope?: string | undefined;
  /** The scheme of the card that the token answers. */
  readonly scheme: string;
}

export interface Getting {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
}

type Parts = readonly [AuthorizationServer, Client, ClientAuth];

function partsOf({ server, clientId, clientSecret }: Pick<Grantor, 'server' | 'clientId' | 'clientSecret'>): Parts {
  const auth = clientSecret === undefined ? oauth.None() : oauth.ClientSecretBasic(clientSecret);
  return [server, { client_id: clientId }, auth];
}

/** Over our own wire, so that --debug, --ca and --insecure hold here too. Only loopback may be without TLS. */
export function requestOptions(url: string | undefined, { fetch, signal }: Getting): object {
  const isLoopback = url !== undefined && URL.canParse(url) && /^(localhost|127\.|\[::1\])/.test(new URL(url).hostname);
  return {
    [oauth.customFetch]: (at: string, init: RequestInit) => fetch(new Request(at, init)),
    [oauth.allowInsecureRequests]: isLoopback,
    signal,
  };
}

/** OAuth 2.1 client credentials: the program itself is who calls. */
export async function clientCredentials(grantor: Grantor, getting: Getting): Promise<TokenEndpointResponse> {
  const [server, client, auth] = partsOf(grantor);
  const params = new URLSearchParams(grantor.scope === undefined ? {} : { scope: grantor.scope });
  const options = requestOptions(server.token_endpoint, getting);
  return await told(async () => {
    const response = await oauth.clientCredentialsGrantRequest(server, client, auth, params, options);
    return await oauth.processClientCredentialsResponse(server, client, response);
  });
}

export interface DeviceNotice {
  readonly userCode: string;
  readonly url: string;
  readonly completeUrl: string | undefined;
}

/** RFC 8628: the person approves in a browser, on whatever device; we ask for the token until it is there. */
export async function deviceCode(grantor: Grantor, getting: Getting, tell: (notice: DeviceNotice) => void): Promise<TokenEndpointResponse> {
  const [server, client, auth] = partsOf(grantor);
  const options = requestOptions(server.token_endpoint, getting);
  return await told(async () => {
    const params = new URLSearchParams(grantor.scope === undefined ? {} : { scope: grantor.scope });
    const asked = await oauth.deviceAuthorizationRequest(server, client, auth, params, options);
    const device = await oauth.processDeviceAuthorizationResponse(server, client, asked);
    tell({ userCode: device.user_code, url: device.verification_uri, completeUrl: device.verification_uri_complete });
    return await approved(device, { parts: [server, client, auth], options, signal: getting.signal });
  });
}

interface Asking {
  readonly parts: Parts;
  readonly options: object;
  readonly signal: AbortSignal;
}

/** Asks for the token, no oftener than the server wants, until somebody has approved or the code has run out. */
async function approved(device: oauth.DeviceAuthorizationResponse, { parts, options, signal }: Asking): Promise<TokenEndpointResponse> {
  const [server, client, auth] = parts;
  let pauseMs = (device.interval ?? 5) * 1000;
  const until = Date.now() + device.expires_in * 1000;
  while (Date.now() < until) {
    await pause(pauseMs, signal);
    const response = await oauth.deviceCodeGrantRequest(server, client, auth, device.device_code, options);
    try {
      return await oauth.processDeviceCodeResponse(server, client, response);
    } catch (thrown) {
      const code = thrown instanceof oauth.ResponseBodyError ? thrown.error : undefined;
      if (code !== 'authorization_pending' && code !== 'slow_down') throw thrown;
      if (code === 'slow_down') pauseMs += 5000;
    }
  }
  throw new CliError('the code ran out before anybody approved', {
    code: 'A2ACLI_ERR_TIMEOUT',
    hint: 'try again, and approve in time',
    exit: 5,
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** What a server refuses, in the contract's words. */
async function told<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof CliError) throw thrown;
    if (thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.WWWAuthenticateChallengeError) {
      const said = thrown instanceof oauth.ResponseBodyError ? (thrown.error_description ?? thrown.error) : 'the client is not known';
      throw new CliError(`the authorization server refuses: ${said}`, {
        code: 'A2ACLI_ERR_AUTH_FAILED',
        hint: 'check --client-id, A2ACLI_CLIENT_SECRET and --scope',
        exit: 4,
        cause: thrown,
      });
    }
    throw thrown;
  }
}

export function stored(origin: string, grantor: Grantor, got: TokenEndpointResponse): StoredToken {
  const { clientId, clientSecret, scope, scheme, server } = grantor;
  return {
    origin,
    scheme,
    clientId,
    accessToken: got.access_token,
    tokenUrl: server.token_endpoint ?? '',
    ...(got.refresh_token === undefined ? {} : { refreshToken: got.refresh_token }),
    ...(got.expires_in === undefined ? {} : { expiresAt: Date.now() + got.expires_in * 1000 }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scope === undefined ? {} : { scope }),
  };
}

const EARLY_MS = 30_000;

/** The token itself while it lasts; then a new one: by its refresh token, or as a program by asking again. */
export async function freshToken(
  token: StoredToken,
  { store, ...getting }: Getting & { readonly store: TokenStore },
): Promise<StoredToken> {
  if (token.expiresAt === undefined || token.expiresAt - EARLY_MS > Date.now()) return token;
  const server: AuthorizationServer = { issuer: new URL(token.tokenUrl).origin, token_endpoint: token.tokenUrl };
  const grantor: Grantor = { ...token, server };
  const got = token.refreshToken === undefined ? await again(grantor, getting) : await refreshed(grantor, token.refreshToken, getting);
  if (got === undefined) {
    throw new CliError(`the token for ${token.origin} has run out`, {
      code: 'A2ACLI_ERR_AUTH_FAILED',
      hint: `get a new one: parley auth login -a ${token.origin}`,
      exit: 4,
    });
  }
  const fresh = stored(token.origin, grantor, got);
  const kept =
    fresh.refreshToken === undefined && token.refreshToken !== undefined ? { ...fresh, refreshToken: token.refreshToken } : fresh;
  store.save(kept);
  return kept;
}

async function again(grantor: Grantor, getting: Getting): Promise<TokenEndpointResponse | undefined> {
  return grantor.clientSecret === undefined ? undefined : await clientCredentials(grantor, getting);
}

async function refreshed(grantor: Grantor, refreshToken: string, getting: Getting): Promise<TokenEndpointResponse> {
  const [server, client, auth] = partsOf(grantor);
  return await told(async () => {
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      auth,
      refreshToken,
      requestOptions(server.token_endpoint, getting),
    );
    return await oauth.processRefreshTokenResponse(server, client, response);
  });
}
