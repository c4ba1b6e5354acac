import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { WORLDLY_CARD as CARD } from '../../test/support/card.ts';
import { generateSigningKey, joseSigner, publicKeys } from './adapters/jose.ts';
import { signCard, verifyCard } from './signing.ts';
import { webVerifier } from './web-verifier.ts';

describe.each(['ES256', 'RS256', 'EdDSA'] as const)('%s with WebCrypto', (alg) => {
  it('verifies what jose signed, and rejects changes', async () => {
    const key = await generateSigningKey(alg);
    const [stranger] = publicKeys([await generateSigningKey(alg)]).keys;
    const [known] = publicKeys([key]).keys;
    const card = await signCard(CARD, joseSigner({ key }));
    const by = (...keys: readonly (typeof known)[]) => webVerifier(async () => keys.flatMap((each) => each ?? []));
    expect(await verifyCard(card, by(known))).toMatchObject({ ok: true, kid: key.kid, alg });
    expect(await verifyCard(card, by(stranger, known))).toMatchObject({ ok: true });
    expect(await verifyCard({ ...card, version: '2' }, by(known))).toMatchObject({ ok: false, reason: 'mismatch' });
    expect(await verifyCard(card, by(stranger))).toMatchObject({ ok: false, reason: 'mismatch' });
    expect(await verifyCard(card, by())).toMatchObject({ ok: false, reason: 'unknown-key' });
    expect(await verifyCard(CARD, by(known))).toMatchObject({ ok: false, reason: 'unsigned' });
  });
});

it('rejects keys of another kind and short keys', async () => {
  const key = await generateSigningKey('ES256');
  const card = await signCard(CARD, joseSigner({ key }));
  const [rsa] = publicKeys([await generateSigningKey('RS256')]).keys;
  expect(
    await verifyCard(
      card,
      webVerifier(async () => [rsa ?? {}]),
    ),
  ).toMatchObject({ ok: false, reason: 'mismatch' });
  const short = await crypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
    true,
    ['sign', 'verify'],
  );
  const signed = await signCard(CARD, {
    header: { alg: 'RS256', kid: 'k' },
    sign: async (payload, header) => {
      const encoded = Buffer.from(JSON.stringify(header)).toString('base64url');
      const input = Buffer.from(`${encoded}.${Buffer.from(payload).toString('base64url')}`);
      const made = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', short.privateKey, input);
      return { protected: encoded, signature: Buffer.from(made).toString('base64url') };
    },
  });
  const jwk = await exportJWK(short.publicKey);
  expect(
    await verifyCard(
      signed,
      webVerifier(async () => [jwk]),
    ),
  ).toMatchObject({ ok: false, reason: 'mismatch' });
  const { publicKey } = await generateKeyPair('Ed25519');
  expect(
    await verifyCard(
      card,
      webVerifier(async () => [await exportJWK(publicKey)]),
    ),
  ).toMatchObject({ ok: false });
});
