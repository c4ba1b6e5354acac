import { readFile, writeFile } from 'node:fs/promises';
import type { CardSigner } from '#protocol';
import type { JWK } from '../../protocol/adapters/jose.ts';
import { generateSigningKey, joseSigner, publicKeys } from '../../protocol/adapters/jose.ts';
import { CliError } from '../command.ts';

/** The key that signs cards, from its file; a new one, if there is none. The public half lies beside it, as `--trust-keys` reads it. */
export async function cardSigner(path: string): Promise<CardSigner> {
  try {
    return joseSigner({ key: (await known(path)) ?? (await made(path)) });
  } catch (thrown) {
    throw new CliError(`--card-key ${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { exit: 2 });
  }
}

async function known(path: string): Promise<JWK | undefined> {
  try {
    const key: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof key === 'object' && key !== null && 'kty' in key && 'd' in key) return key as JWK;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
  throw new TypeError('this is no private JWK');
}

async function made(path: string): Promise<JWK> {
  const key = await generateSigningKey();
  await writeFile(path, `${JSON.stringify(key)}\n`, { mode: 0o600, flag: 'wx' });
  await writeFile(`${path}.pub`, `${JSON.stringify(publicKeys([key]))}\n`);
  return key;
}
