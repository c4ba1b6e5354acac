import { A2AError } from '#protocol';

/** The key that signs page tokens. Engines over the same store need the same key. */
export interface TokenKey {
  readonly secret: Uint8Array<ArrayBuffer>;
}

/**
 * A page token is a position in a list, with a MAC over that, the owner and the filter. Another caller
 * or another list rejects it, and nobody can make one up.
 */
export async function sealToken(key: TokenKey, position: readonly number[], scope: unknown): Promise<string> {
  const text = position.join('.');
  return `${text}.${await mac(key, text, scope)}`;
}

/**
 * The position in a token. Throws INVALID_PARAMS if the token belongs to another list or was changed.
 */
export async function openToken(key: TokenKey, token: string, scope: unknown): Promise<readonly number[]> {
  const at = token.lastIndexOf('.');
  const text = token.slice(0, Math.max(at, 0));
  if (!isSame(token.slice(at + 1), await mac(key, text, scope))) {
    throw new A2AError('INVALID_PARAMS', 'pageToken was not returned by this list', { field: 'pageToken' });
  }
  return text.split('.').map(Number);
}

const keys = new WeakMap<Uint8Array, Promise<CryptoKey>>();

/** HMAC-SHA-256, cut to 144 bits, in base64url. */
async function mac({ secret }: TokenKey, text: string, scope: unknown): Promise<string> {
  let key = keys.get(secret);
  if (key === undefined) {
    key = crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    keys.set(secret, key);
  }
  const sum = await crypto.subtle.sign('HMAC', await key, new TextEncoder().encode(`${text}\n${JSON.stringify(scope)}`));
  const half = String.fromCharCode(...new Uint8Array(sum).subarray(0, 18));
  return btoa(half).replaceAll('+', '-').replaceAll('/', '_');
}

/** Compares in constant time. */
function isSame(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < right.length; at += 1) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}
