import * as oauth from 'oauth4webapi';
import type { Authenticator, PresentedCredentials } from '../../auth/credentials.ts';
import { ClientError, isClientError } from '../../errors/client-error.ts';
import type { OAuthClient, Server } from './server.ts';
import { openServer } from './server.ts';

/** Tokens of an authorization server. Without `expiresAtMs` a token is used until it is rejected. */
export interface Tokens {
  /** Sent as `Authorization: Bearer …`. */
  readonly accessToken: string;
  /** Unix time in milliseconds. */
  readonly expiresAtMs?: number;
  /** Gets a new access token without a person. */
  readonly refreshToken?: string;
}

/** Stores tokens between runs. */
export interface TokenStore {
  /** The stored tokens, if there are any. */
  load(): Promise<Tokens | undefined> | Tokens | undefined;
  /** Stores new tokens. Undefined: the tokens were rejected, delete them. */
  save(tokens: Tokens | undefined): Promise<void> | void;
}

/** Gets new tokens by one of the flows. */
export type Grant = (server: Server) => Promise<oauth.TokenEndpointResponse>;

/** Options of `tokenSession`. */
export interface SessionOptions {
  readonly client: OAuthClient;
  readonly tokens?: TokenStore;
  readonly grant: Grant;
  /** The grant needs a person, so it does not start by itself after a token was rejected. */
  readonly isInteractive: boolean;
  readonly now?: () => number;
}

/** Tokens are renewed a little before they expire, because requests take time and clocks differ. */
const EARLY_MS = 30_000;

/** Gets a token when a call needs one, and renews it. Concurrent calls share one request. */
export function tokenSession(options: SessionOptions): Authenticator {
  const { client, grant, isInteractive, now = Date.now } = options;
  let tokens: Tokens | undefined;
  let server: Promise<Server> | undefined;
  let pending: Promise<Tokens> | undefined;
  let hasLoaded = false;

  const open = (): Promise<Server> => {
    server ??= openServer(client).catch((thrown: unknown) => {
      server = undefined;
      throw thrown;
    });
    return server;
  };
  const keep = async (answer: oauth.TokenEndpointResponse): Promise<Tokens> => {
    const { access_token: accessToken, expires_in: seconds, refresh_token: refreshToken = tokens?.refreshToken } = answer;
    tokens = {
      accessToken,
      ...(seconds === undefined ? {} : { expiresAtMs: now() + seconds * 1000 }),
      ...(refreshToken === undefined ? {} : { refreshToken }),
    };
    await options.tokens?.save(tokens);
    return tokens;
  };
  const renewed = async (refreshToken: string): Promise<Tokens | undefined> => {
    const { as, client: us, auth, options: http } = await open();
    try {
      const answer = await oauth.refreshTokenGrantRequest(as, us, auth, refreshToken, http);
      return await keep(await oauth.processRefreshTokenResponse(as, us, answer));
    } catch (thrown) {
      if (!(thrown instanceof oauth.ResponseBodyError)) throw thrown;
      tokens = undefined; // expired or revoked: only a new grant helps
      await options.tokens?.save(undefined);
      return undefined;
    }
  };
  const obtain = async (): Promise<Tokens> => {
    const known = tokens?.refreshToken === undefined ? undefined : await renewed(tokens.refreshToken);
    return known ?? (await keep(await grant(await open())));
  };
  const once = (get: () => Promise<Tokens>): Promise<Tokens> => {
    pending ??= told(get).finally(() => {
      pending = undefined;
    });
    return pending;
  };
  return {
    present: async (): Promise<PresentedCredentials> => {
      if (!hasLoaded) {
        tokens ??= await options.tokens?.load();
        hasLoaded = true;
      }
      const isGood = tokens !== undefined && (tokens.expiresAtMs ?? Number.POSITIVE_INFINITY) - EARLY_MS > now();
      const { accessToken } = isGood && tokens !== undefined ? tokens : await once(obtain);
      return { headers: { Authorization: `Bearer ${accessToken}` } };
    },
    refresh: async () => {
      if (pending === undefined && isInteractive && tokens?.refreshToken === undefined) return false;
      await once(obtain);
      return true;
    },
  };
}

/** Turns every failure into a `ClientError` with the server's reason. */
async function told<T>(get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (thrown) {
    if (isClientError(thrown)) throw thrown;
    throw new ClientError('auth-failed', 'the authorization server gives no token', {
      cause: thrown,
      why: reasonOf(thrown),
      hint: 'check the client’s id, its secret and the scopes that it may ask for',
    });
  }
}

/** The server's own error message. */
function reasonOf(thrown: unknown): string {
  const said: { error?: string | undefined; error_description?: string | undefined } | undefined =
    thrown instanceof oauth.WWWAuthenticateChallengeError
      ? thrown.cause[0]?.parameters
      : thrown instanceof oauth.ResponseBodyError
        ? thrown
        : undefined;
  const words = [said?.error, said?.error_description].filter((word) => word !== undefined);
  if (words.length > 0) return words.join(': ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}
