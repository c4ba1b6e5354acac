import type { CryptoKey, JSONWebKeySet, JWK } from 'jose';
import { base64url, calculateJwkThumbprint, exportJWK, FlattenedSign, flattenedVerify, generateKeyPair } from 'jose';
import { A2AError } from '../errors.ts';
import { withoutUndefined } from '../members.ts';
import type { CardSigner, CardVerifier, SignedPayload } from '../signing.ts';

export type { CryptoKey, JSONWebKeySet, JWK } from 'jose';

/** A private key, and what verifiers need to know of it. A JWK brings its own `alg` and `kid`; a CryptoKey has neither. */
export interface SigningKey {
  readonly key: CryptoKey | JWK;
  readonly alg?: string;
  readonly kid?: string;
  /** Where the public half is published, `https://…/.well-known/jwks.json`. */
  readonly jku?: string;
}

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

/** Finds the keys for a signature: none, one, or several under one id. `jku` is there only if the policy allowed it. */
export type KeyFinder = (header: SignedPayload['header']) => Promise<readonly (CryptoKey | JWK)[]>;

/** Verifies against a key set that is trusted already, or against whatever `keys` finds. */
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

/** jose throws for a wrong signature and for a key that does not fit the algorithm alike: neither verifies. */
async function isSignedBy(key: CryptoKey | JWK, { payload, header, protected: encoded, signature }: SignedPayload): Promise<boolean> {
  try {
    await flattenedVerify({ payload: base64url.encode(payload), protected: encoded, signature }, key, { algorithms: [header.alg] });
    return true;
  } catch {
    return false;
  }
}

/** A new private key as a JWK, named by its RFC 7638 thumbprint. Keep it secret; publish `publicKeys([key])`. */
export async function generateSigningKey(alg: 'ES256' | 'RS256' | 'EdDSA' = 'ES256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}

/** The public halves, as `/.well-known/jwks.json` holds them. Names what may go out: a new private member never slips through. */
export function publicKeys(keys: readonly JWK[]): JSONWebKeySet {
  return {
    keys: keys.map(({ kty, crv, x, y, n, e, alg, use, kid }) => withoutUndefined({ kty, crv, x, y, n, e, alg, use, kid })),
  };
}

function isJwk(key: CryptoKey | JWK): key is JWK {
  return 'kty' in key;
}
