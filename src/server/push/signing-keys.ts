import type { WebhookMessage } from '#protocol';
import { signWebhook } from '#protocol';

/** What a node keeps to itself. The first of each is the one in use; those behind it are for what was made before. */
export interface NodeKeys {
  /** Ed25519, private. All of them sign, so that a receiver that knows any one of them can check. */
  readonly signing: readonly JsonWebKey[];
  /** 32 bytes each, for the credentials of webhooks. */
  readonly sealing: readonly Uint8Array<ArrayBuffer>[];
}

export interface WebhookSigner {
  sign(message: WebhookMessage): Promise<string>;
  /** The public halves. */
  jwks(): Promise<{ readonly keys: readonly JsonWebKey[] }>;
}

const ALGORITHM = 'Ed25519';

/** Without keys one is made that ends with the process. */
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

export async function generateSigningKey(): Promise<JsonWebKey> {
  const pair = (await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair;
  return crypto.subtle.exportKey('jwk', pair.privateKey);
}

function imported(key: JsonWebKey): Promise<CryptoKey> {
  const { kty = '', crv = '', x = '', d = '' } = key;
  return crypto.subtle.importKey('jwk', { kty, crv, x, d }, ALGORITHM, false, ['sign']);
}

/** RFC 8037 and RFC 7638: the key's id is the hash of what it is. */
async function published({ x = '' }: JsonWebKey): Promise<JsonWebKey & { readonly kid: string }> {
  const named = new TextEncoder().encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', named));
  const kid = btoa(String.fromCharCode(...hash))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  return { kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', use: 'sig', kid };
}
