import type { CryptoKey, JSONWebKeySet, JWK } from 'jose';
import { base64url, calculateJwkThumbprint, exportJWK, FlattenedSign, flattenedVerify, generateKeyPair } from 'jose';
import { A2AError } from '../errors.ts';
import { withoutUndefined } from '../members.ts';
import type { CardSigner, CardVerifier, SignedPayload } from '../signing.ts';

export type { CryptoKey, JSONWebKeySet, JWK } from 'jose';

/**
 * A private key with what verifiers need to know. A JWK contains `alg` and `kid`; for a CryptoKey, give
 * both.
 */
export interface SigningKey {
  /** The private key. It stays in this process. */
  readonly key: CryptoKey | JWK;
  /** Signature algorithm, for example `ES256`. Default: that of the JWK. */
  readonly alg?: string;
  /** Id under which verifiers find the public key. Default: that of the JWK. */
  readonly kid?: string;
  /** URL of the published public keys, for example `https://…/.well-known/jwks.json`. */
  readonly jku?: string;
}

/**
 * A signer for `signCard` that uses the `jose` package. Throws when `alg` or `kid` is unknown.
 *
 * ```ts
 * const key = await generateSigningKey();
 * const signed = await signCard(card, joseSigner({ key }));
 * ```
 */
export function joseSigner(signing: SigningKey): CardSigner {
  const { key, jku } = signing;
  const alg = signing.alg ?? (isJwk(key) ? key.alg : undefined);
  const kid = signing.kid ?? (isJwk(key) ? key.kid : undefined);
  if (alg === undefined || kid === undefined) throw new A2AError('INVALID_PARAMS', 'a signing key needs an alg and a kid');
  return {
    header: { alg, kid, ...(jku === undefined ? {} : { jku }) },
    sign: async (payload, header) => {
      const jws = await new FlattenedSign(payload).setProtectedHeader({ ...header }).sign(key);
      return { protected: jws.protected ?? '', signature: jws.signature };
    },
  };
}

/**
 * Looks up the public keys for a signature. Several keys may share one id. The header contains `jku`
 * only if the policy allowed it.
 */
export type KeyFinder = (header: SignedPayload['header']) => Promise<readonly (CryptoKey | JWK)[]>;

/**
 * A verifier for `verifyCard`, with a trusted key set or a function that finds trusted keys.
 *
 * ```ts
 * const keys = await (await fetch('https://agent.example/.well-known/jwks.json')).json();
 * const verdict = await verifyCard(rawCard, joseVerifier(keys));
 * ```
 */
export function joseVerifier(keys: JSONWebKeySet | KeyFinder): CardVerifier {
  const find: KeyFinder = typeof keys === 'function' ? keys : async ({ kid }) => keys.keys.filter((key) => key.kid === kid);
  return {
    verify: async (signed) => {
      const found = await find(signed.header);
      if (found.length === 0) return 'unknown-key';
      for (const key of found) if (await isSignedBy(key, signed)) return 'valid';
      return 'invalid';
    },
  };
}

/**
 * jose throws both for a wrong signature and for a key that does not fit the algorithm. Neither is
 * valid.
 */
async function isSignedBy(key: CryptoKey | JWK, { payload, header, protected: encoded, signature }: SignedPayload): Promise<boolean> {
  try {
    await flattenedVerify({ payload: base64url.encode(payload), protected: encoded, signature }, key, { algorithms: [header.alg] });
    return true;
  } catch {
    return false;
  }
}

/**
 * A new private key as a JWK, with its RFC 7638 thumbprint as `kid`. Keep it secret, and publish
 * `publicKeys([key])`.
 *
 * ```ts
 * const key = await generateSigningKey();
 * const signer = joseSigner({ key });
 * const jwks = publicKeys([key]); // publish these
 * ```
 */
export async function generateSigningKey(alg: 'ES256' | 'RS256' | 'EdDSA' = 'ES256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}

/**
 * The public halves, for `/.well-known/jwks.json`. Copies an explicit list of members, so that no
 * private member can leak.
 */
export function publicKeys(keys: readonly JWK[]): JSONWebKeySet {
  return {
    keys: keys.map(({ kty, crv, x, y, n, e, alg, use, kid }) => withoutUndefined({ kty, crv, x, y, n, e, alg, use, kid })),
  };
}

function isJwk(key: CryptoKey | JWK): key is JWK {
  return 'kty' in key;
}
