import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '#protocol';
import { openKeys, rotateKeys } from '../../src/server/adapters/node-keys-file.ts';
import { createVault } from '../../src/server/push/credential-vault.ts';
import { createSigner } from '../../src/server/push/signing-keys.ts';
import { scratchFolder } from '../support/scratch.ts';

const folder = scratchFolder();
const path = join(folder, 'keys.json');
const message = () => ({ id: 'msg_1', timestamp: Math.floor(Date.now() / 1000), body: '{}' });

async function checked(signer: ReturnType<typeof createSigner>, keys: Awaited<ReturnType<typeof signer.jwks>>): Promise<string> {
  const sent = message();
  const headers = { 'webhook-id': sent.id, 'webhook-timestamp': `${sent.timestamp}`, 'webhook-signature': await signer.sign(sent) };
  return (await verifyWebhook({ headers, body: sent.body }, { keys })).id;
}

describe('the keys of a node', () => {
  it('are created once, readable by their owner only, and a rotation keeps the previous ones', async () => {
    const first = await openKeys(folder);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await openKeys(folder)).toEqual(first);
    const known = await createSigner(first.signing).jwks();
    expect(JSON.stringify(known)).not.toContain(String(first.signing[0]?.d));
    const sealed = await createVault(first.sealing).seal('s3cret', 'x');

    const second = await rotateKeys(folder);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(second.signing).toHaveLength(2);
    expect(second.signing[1]).toEqual(first.signing[0]);
    const signer = createSigner(second.signing);
    expect((await signer.jwks()).keys).toHaveLength(2);
    expect(await checked(signer, known)).toBe('msg_1');
    expect(await checked(createSigner(first.signing), await signer.jwks())).toBe('msg_1');
    expect(await createVault(second.sealing).open(sealed, 'x')).toBe('s3cret');

    const third = await rotateKeys(folder);
    expect(third.signing).toHaveLength(2);
    await expect(checked(createSigner(third.signing), known)).rejects.toMatchObject({ fault: 'forged' });
    expect(await createVault(third.sealing).open(sealed, 'x')).toBe('s3cret');
  });

  it('stop the start with a remedy if other users can read them or they are invalid', async () => {
    chmodSync(path, 0o644);
    await expect(openKeys(folder)).rejects.toThrow(`chmod 600 ${path}`);
    chmodSync(path, 0o600);
    const good = readFileSync(path, 'utf8');
    for (const bad of ['', '{}', '{"signing":[],"sealing":[]}', good.slice(0, -20)]) {
      writeFileSync(path, bad);
      await expect(openKeys(folder)).rejects.toThrow(path);
      expect(readFileSync(path, 'utf8')).toBe(bad);
    }
    await expect(rotateKeys(join(folder, 'nowhere'))).rejects.toThrow('is this the data folder of a node?');
  });
});

describe('the credential vault', () => {
  const key = () => crypto.getRandomValues(new Uint8Array(32));

  it('decrypts only what it encrypted, with the same context', async () => {
    const vault = createVault([key()]);
    const sealed = await vault.seal('s3cret', 'a\nhttps://e.org');
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9+/]+=*$/);
    expect(await vault.seal('s3cret', 'a\nhttps://e.org')).not.toBe(sealed);
    expect(await vault.open(sealed, 'a\nhttps://e.org')).toBe('s3cret');
    await expect(vault.open(sealed, 'a\nhttps://evil.org')).rejects.toThrow();
    const flipped = `${sealed.slice(0, -6)}${sealed.at(-6) === 'A' ? 'B' : 'A'}${sealed.slice(-5)}`;
    await expect(vault.open(flipped, 'a\nhttps://e.org')).rejects.toThrow();
    await expect(createVault([key()]).open(sealed, 'a\nhttps://e.org')).rejects.toThrow(/is missing/);
    await expect(createVault([]).seal('x', 'y')).rejects.toThrow();
  });
});
