import type { CryptoKey, JWK, JWTPayload } from 'jose';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { listen } from './listen.ts';

/** A token issuer on loopback, with discovery and keys over real HTTP. It also signs invalid tokens. */
export interface Issuer {
  readonly url: string;
  readonly publicJwk: JWK;
  /** The public key as PEM, which a known attack uses as the HMAC secret. */
  readonly publicPem: string;
  /** How often its keys were fetched. */
  readonly fetched: () => number;
  token(claims?: Claims, options?: TokenOptions): Promise<string>;
  close(): Promise<void>;
}

/** Members that are undefined are left out of the token. */
type Claims = { readonly [Name in keyof JWTPayload]: JWTPayload[Name] | undefined };

export interface TokenOptions {
  readonly alg?: string;
  readonly key?: CryptoKey | Uint8Array;
  readonly header?: Readonly<Record<string, unknown>>;
}

export const AUDIENCE = 'https://agents.example.org';
export const seconds = (offset = 0): number => Math.floor(Date.now() / 1000) + offset;

export async function startIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const publicJwk: JWK = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' };
  let fetched = 0;
  const server = await listen(async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === '/.well-known/openid-configuration') return Response.json({ issuer: origin, jwks_uri: `${origin}/jwks` });
    if (pathname !== '/jwks') return new Response('', { status: 404 });
    fetched += 1;
    return Response.json({ keys: [publicJwk] });
  });
  return {
    url: server.url,
    publicJwk,
    publicPem: await exportSPKI(publicKey),
    fetched: () => fetched,
    token: (claims = {}, { alg = 'RS256', key = privateKey, header = {} } = {}) =>
      new SignJWT({
        iss: server.url,
        aud: AUDIENCE,
        sub: 'ann',
        iat: seconds(),
        exp: seconds(600),
        scope: 'tasks:read tasks:write',
        ...claims,
      } as JWTPayload)
        .setProtectedHeader({ alg, kid: 'one', ...header })
        .sign(key),
    close: server.close,
  };
}

/** Makes tokens that no library makes, such as `alg: none`. */
export function unsigned(header: object, claims: object, signature = ''): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.${signature}`;
}
