import { base64ToBytes, bytesToBase64 } from './parts.ts';
import type { CardVerifier, SignedPayload } from './signing.ts';

/** Looks up the public keys for a signature by its header. Several keys may share one id. */
export type WebKeyFinder = (header: SignedPayload['header']) => Promise<readonly JsonWebKey[]>;

interface Scheme {
  readonly key: AlgorithmIdentifier | EcKeyImportParams | RsaHashedImportParams;
  readonly signature: AlgorithmIdentifier | EcdsaParams;
}

/** WebCrypto's names for `CARD_ALGORITHMS` (RFC 7518 §3.1, RFC 8037, RFC 9864). */
const SCHEMES: Readonly<Record<string, Scheme>> = {
  ES256: { key: { name: 'ECDSA', namedCurve: 'P-256' }, signature: { name: 'ECDSA', hash: 'SHA-256' } },
  RS256: { key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, signature: { name: 'RSASSA-PKCS1-v1_5' } },
  EdDSA: { key: { name: 'Ed25519' }, signature: { name: 'Ed25519' } },
  Ed25519: { key: { name: 'Ed25519' }, signature: { name: 'Ed25519' } },
};

/**
 * Verifies card signatures with WebCrypto, for browsers and workers. `joseVerifier` does the same with
 * the `jose` package.
 */
export function webVerifier(find: WebKeyFinder): CardVerifier {
  return {
    verify: async (signed) => {
      const found = await find(signed.header);
      if (found.length === 0) return 'unknown-key';
      for (const key of found) if (await isSignedBy(key, signed)) return 'valid';
      return 'invalid';
    },
  };
}

/** Base64url length of a 2048-bit modulus, the minimum of RFC 7518 §3.3. */
const RSA_CHARS_MIN = 342;

/**
 * Whether a key made the signature. A key that does not fit the algorithm verifies nothing. The
 * signature covers header and payload as they were encoded (RFC 7515 §5.2).
 */
async function isSignedBy({ kty, crv, x, y, n, e }: JsonWebKey, signed: SignedPayload): Promise<boolean> {
  const { payload, header, protected: encoded, signature } = signed;
  const scheme = SCHEMES[header.alg];
  const value = fromBase64url(signature);
  if (scheme === undefined || value === undefined || (n !== undefined && n.length < RSA_CHARS_MIN)) return false;
  try {
    // Only the key material: WebCrypto rejects keys whose `use`, `key_ops` or `alg` do not match.
    const numbers = Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, member]) => member !== undefined));
    const key = await crypto.subtle.importKey('jwk', numbers, scheme.key, false, ['verify']);
    return await crypto.subtle.verify(scheme.signature, key, value, new TextEncoder().encode(`${encoded}.${toBase64url(payload)}`));
  } catch {
    return false;
  }
}

function toBase64url(bytes: Uint8Array): string {
  return bytesToBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(base64ToBytes(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
}
