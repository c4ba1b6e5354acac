import { readFile, writeFile } from 'node:fs/promises';
import type { CardSigner } from '#protocol';
import type { JWK } from '../../protocol/adapters/jose.ts';
import { generateSigningKey, joseSigner, publicKeys } from '../../protocol/adapters/jose.ts';
import { CliError } from '../command.ts';

/** The key that signs cards. Creates the file if there is none, and the public key beside it for `--trust-keys`. */
export async function cardSigner(path: string): Promise<CardSigner> {
  try {
    return joseSigner({ key: (await known(path)) ?? (await made(path)) });
  } catch (thrown) {
    throw new CliError(`--card-key ${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { exit: 2 });
  }
}

/** The private key of an earlier start. Undefined: there is none. */
async function known(path: string): Promise<JWK | undefined> {
  try {
    const key: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof key === 'object' && key !== null && 'kty' in key && 'd' in key) return key as JWK;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
  throw new TypeError('this is not a private JWK');
}

async function made(path: string): Promise<JWK> {
  const key = await generateSigningKey();
  await writeFile(path, `${JSON.stringify(key)}\n`, { mode: 0o600, flag: 'wx' });
  await writeFile(`${path}.pub`, `${JSON.stringify(publicKeys([key]))}\n`);
  return key;
}
