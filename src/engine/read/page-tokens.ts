import { A2AError } from '#protocol';
import type { Core } from '../tasks/core.ts';

/**
 * Page tokens: a place in an order, bound by a MAC to the owner and the filter of the list that gave it. It is of no use to another,
 * nor in another list, and nobody can make one up.
 */
export async function sealToken(core: Core, place: readonly number[], scope: unknown): Promise<string> {
  const text = place.join('.');
  return `${text}.${await mac(core, text, scope)}`;
}

export async function openToken(core: Core, token: string, scope: unknown): Promise<readonly number[]> {
  const at = token.lastIndexOf('.');
  const text = token.slice(0, Math.max(at, 0));
  if (!isSame(token.slice(at + 1), await mac(core, text, scope))) {
    throw new A2AError('INVALID_PARAMS', 'pageToken is not one that this list has given', { field: 'pageToken' });
  }
  return text.split('.').map(Number);
}

const keys = new WeakMap<Uint8Array, Promise<CryptoKey>>();

async function mac({ secret }: Core, text: string, scope: unknown): Promise<string> {
  let key = keys.get(secret);
  if (key === undefined) {
    key = crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    keys.set(secret, key);
  }
  const sum = await crypto.subtle.sign('HMAC', await key, new TextEncoder().encode(`${text}\n${JSON.stringify(scope)}`));
  const half = String.fromCharCode(...new Uint8Array(sum).subarray(0, 18));
  return btoa(half).replaceAll('+', '-').replaceAll('/', '_');
}

/** Takes as long whatever the difference is. */
function isSame(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < right.length; at += 1) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}
