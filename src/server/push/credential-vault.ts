import type { Vault } from '#engine';
import { base64ToBytes, bytesToBase64 } from '#protocol';

type Bytes = Uint8Array<ArrayBuffer>;

const IV_BYTES = 12;
const VERSION = 'v1';

interface Opener {
  readonly name: string;
  readonly key: CryptoKey;
}

/**
 * Encrypts webhook credentials with AES-256-GCM. The first key encrypts; every key decrypts. `about` is
 * authenticated with the text.
 */
export function createVault(keys: readonly Bytes[]): Vault {
  let made: Promise<readonly Opener[]> | undefined;
  const openers = (): Promise<readonly Opener[]> => {
    made ??= Promise.all(keys.map(openerOf));
    return made;
  };
  return {
    seal: async (text, about) => {
      const [opener] = await openers();
      if (opener === undefined) throw new Error('there is no key to encrypt with');
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const algorithm = { name: 'AES-GCM', iv, additionalData: bytesOf(about) };
      const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm, opener.key, bytesOf(text)));
      const all = new Uint8Array(iv.length + sealed.length);
      all.set(iv);
      all.set(sealed, iv.length);
      return [VERSION, opener.name, bytesToBase64(all)].join('.');
    },
    open: async (sealed, about) => {
      const [version, name, content = ''] = sealed.split('.');
      const opener = (await openers()).find((each) => each.name === name);
      if (version !== VERSION || opener === undefined) throw new Error(`the encryption key ${name} is missing`);
      const all = new Uint8Array(base64ToBytes(content));
      const algorithm = { name: 'AES-GCM', iv: all.subarray(0, IV_BYTES), additionalData: bytesOf(about) };
      return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, opener.key, all.subarray(IV_BYTES)));
    },
  };
}

/** The name identifies the key without revealing it. */
async function openerOf(bytes: Bytes): Promise<Opener> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const name = Array.from(hash.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { name, key: await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']) };
}

function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text);
}
