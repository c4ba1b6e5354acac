import type { createRemoteJWKSet, JWTVerifyGetKey } from 'jose';
import type { Fetch } from '#protocol';
import { kept } from '#protocol';

/** Where an issuer's keys are. */
export interface JwksOptions {
  readonly issuer: string;
  /** Default: read from the issuer's `/.well-known/openid-configuration`. */
  readonly jwksUrl?: string | undefined;
  readonly fetch: Fetch;
  /** Called after each attempt to fetch them, with the cause if it failed. */
  readonly onFetched?: ((cause: unknown) => void) | undefined;
}

/** The keys of an issuer. */
export interface RemoteKeys {
  /** Finds the key of a token. */
  readonly find: JWTVerifyGetKey;
  /** Fetches the keys now. Rejects if that fails. */
  fetchNow(): Promise<void>;
}

/** The issuer's keys could not be fetched, so the token could not be checked. */
export class KeysUnavailable extends Error {
  override readonly name: string = 'KeysUnavailable';
}

const DOCUMENT_BYTES_MAX = 1_048_576;
const TIMEOUT_MS = 5000;
/** After a failed fetch, requests within this time fail without another fetch. */
const PAUSE_MS = 5000;

/**
 * The issuer's public keys: fetched on first use, cached for ten minutes, and fetched again for an
 * unknown `kid` at most twice a minute (docs/faults.md, S1). Their address comes from the
 * configuration, never from a token.
 */
export function remoteKeys({ issuer, jwksUrl, fetch, onFetched }: JwksOptions): RemoteKeys {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const fail = (cause: unknown): never => {
    if (cause instanceof KeysUnavailable) throw cause; // no fetch was tried
    failedAt = performance.now();
    onFetched?.(cause);
    throw new KeysUnavailable(`the keys of ${issuer} could not be fetched`, { cause });
  };
  const limitedFetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (performance.now() - failedAt < PAUSE_MS)
      throw new KeysUnavailable(`the keys of ${issuer} could not be fetched; the next attempt is in a few seconds`);
    const response = await fetch(kept(new Request(url, init))).catch(fail);
    if (!response.ok) return fail(new Error(`${url} responded with status ${response.status}`));
    return new Response(await textOf(response).catch(fail), { status: 200 });
  };
  const load = async (): Promise<ReturnType<typeof createRemoteJWKSet>> => {
    const url = jwksUrl ?? (await discovered(issuer, limitedFetch).catch(fail));
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const fetchKeys = async (from: string, init: RequestInit): Promise<Response> => {
      const response = await limitedFetch(from, init);
      onFetched?.(undefined);
      return response;
    };
    return createRemoteJWKSet(new URL(url), { [customFetch]: fetchKeys, timeoutDuration: TIMEOUT_MS });
  };
  const withKeys = async <T>(use: (keys: Awaited<ReturnType<typeof load>>) => Promise<T>): Promise<T> => {
    keys ??= load();
    try {
      return await use(await keys);
    } catch (thrown) {
      if (thrown instanceof KeysUnavailable) keys = undefined;
      throw thrown;
    }
  };
  return {
    find: (header, token) => withKeys((loaded) => loaded(header, token)),
    fetchNow: () => withKeys((loaded) => loaded.reload()),
  };
}

/** The address of the issuer's keys, from its discovery document. */
async function discovered(issuer: string, get: (url: string, init: RequestInit) => Promise<Response>): Promise<string> {
  const response = await get(configurationUrl(issuer), {
    redirect: 'manual',
    headers: { Accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const document = (await response.json()) as { readonly issuer?: unknown; readonly jwks_uri?: unknown } | null;
  // OpenID Connect Discovery §4.3: the document must name the issuer that it was requested for.
  if (document?.issuer !== issuer || typeof document.jwks_uri !== 'string')
    throw new Error('the configuration document names another issuer');
  if (!isSafe(document.jwks_uri)) throw new Error('jwks_uri must use https');
  return document.jwks_uri;
}

/** Reads a document up to the maximum size. Throws for bytes that are not UTF-8. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, bytes] = ['', 0];
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > DOCUMENT_BYTES_MAX) throw new Error(`the document is larger than ${DOCUMENT_BYTES_MAX} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** The address of an issuer's OpenID Connect discovery document. */
export function configurationUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/**
 * Keys must come over https, or from this machine: anyone between the node and a plain http server
 * could replace them.
 */
export function isSafe(url: string): boolean {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'https:') return true;
  return parsed?.protocol === 'http:' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(parsed.hostname);
}
