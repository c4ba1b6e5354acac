import type { WebhookMessage } from '#protocol';
import { signWebhook } from '#protocol';

/**
 * The private keys of a node. The first of each kind is the current one; the others are previous ones.
 */
export interface NodeKeys {
  /** Private Ed25519 keys. All of them sign, so a receiver can verify with any one that it knows. */
  readonly signing: readonly JsonWebKey[];
  /** Encryption keys of 32 bytes each, for webhook credentials. */
  readonly sealing: readonly Uint8Array<ArrayBuffer>[];
}

/** Signs webhook deliveries. */
export interface WebhookSigner {
  /** The value of the header `webhook-signature`. */
  sign(message: WebhookMessage): Promise<string>;
  /** The public keys. */
  jwks(): Promise<{ readonly keys: readonly JsonWebKey[] }>;
}

const ALGORITHM = 'Ed25519';

/** Without keys, creates one for this process. */
export function createSigner(given?: readonly JsonWebKey[]): WebhookSigner {
  let made: Promise<readonly CryptoKey[]> | undefined;
  let known: Promise<readonly JsonWebKey[]> | undefined;
  const own = (): Promise<readonly JsonWebKey[]> => {
    known ??= given === undefined ? generateSigningKey().then((key) => [key]) : Promise.resolve(given);
    return known;
  };
  return {
    sign: async (message) => {
      made ??= own().then((keys) => Promise.all(keys.map(imported)));
      return signWebhook(message, await made);
    },
    jwks: async () => ({ keys: await Promise.all((await own()).map(published)) }),
  };
}

/** A new private Ed25519 key. */
export async function generateSigningKey(): Promise<JsonWebKey> {
  const pair = (await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair;
  return crypto.subtle.exportKey('jwk', pair.privateKey);
}

function imported(key: JsonWebKey): Promise<CryptoKey> {
  const { kty = '', crv = '', x = '', d = '' } = key;
  return crypto.subtle.importKey('jwk', { kty, crv, x, d }, ALGORITHM, false, ['sign']);
}

/** The public key with its RFC 7638 thumbprint as `kid` (RFC 8037). */
async function published({ x = '' }: JsonWebKey): Promise<JsonWebKey & { readonly kid: string }> {
  const named = new TextEncoder().encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', named));
  const kid = btoa(String.fromCharCode(...hash))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  return { kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', use: 'sig', kid };
}
