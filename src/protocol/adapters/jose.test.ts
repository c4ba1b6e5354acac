import { exportJWK, generateKeyPair, generateSecret } from 'jose';
import { describe, expect, it } from 'vitest';
import { WORLDLY_CARD as CARD } from '../../../test/support/card.ts';
import type { AgentCard } from '../card.ts';
import { signCard, verifyCard } from '../signing.ts';
import type { JWK } from './jose.ts';
import { generateSigningKey, joseSigner, joseVerifier, publicKeys } from './jose.ts';

describe.each(['ES256', 'RS256', 'EdDSA'] as const)('%s', (alg) => {
  it('signs and verifies with a JWK', async () => {
    const key = await generateSigningKey(alg);
    const card = await signCard(CARD, joseSigner({ key }));
    expect(card.signatures).toHaveLength(1);
    expect(protectedHeader(card)).toEqual({ alg, kid: key.kid, typ: 'JOSE' });
    const verifier = joseVerifier(publicKeys([key]));
    expect(await verifyCard(JSON.parse(JSON.stringify(card)), verifier)).toEqual({
      ok: true,
      kid: key.kid,
      alg,
      form: 'spec',
      uncovered: [],
    });
    expect(await verifyCard({ ...card, version: '2' }, verifier)).toEqual({ ok: false, reason: 'mismatch', kid: key.kid });
  });

  it('signs and verifies with a CryptoKey', async () => {
    const { privateKey, publicKey } = await generateKeyPair(alg);
    const card = await signCard(CARD, joseSigner({ key: privateKey, alg, kid: 'k', jku: 'https://a.example/jwks' }));
    expect(protectedHeader(card)).toEqual({ alg, kid: 'k', typ: 'JOSE', jku: 'https://a.example/jwks' });
    expect(
      await verifyCard(
        card,
        joseVerifier(async () => [publicKey]),
      ),
    ).toMatchObject({ ok: true });
  });
});

describe('detects every change to a signed card', () => {
  it.each<[string, (card: AgentCard) => AgentCard]>([
    [
      'another address',
      (card) => ({ ...card, supportedInterfaces: [{ url: 'https://evil.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }),
    ],
    ['one more address', (card) => ({ ...card, supportedInterfaces: [...card.supportedInterfaces, ...card.supportedInterfaces] })],
    ['a flag', (card) => ({ ...card, capabilities: { streaming: true } })],
    ['a flag taken away', (card) => ({ ...card, capabilities: {} })],
    ['a scheme', (card) => ({ ...card, securitySchemes: { k: { httpAuthSecurityScheme: { scheme: 'Basic' } } } })],
    ['a skill', (card) => ({ ...card, skills: [] })],
    ['other words', (card) => ({ ...card, name: `${card.name} ` })],
  ])('%s', async (_, change) => {
    const key = await generateSigningKey();
    const card = await signCard(CARD, joseSigner({ key }));
    expect(await verifyCard(change(card), joseVerifier(publicKeys([key])))).toMatchObject({ ok: false, reason: 'mismatch' });
  });

  it.each<[string, Partial<AgentCard>, uncovered: string]>([
    ['an empty scheme', { securitySchemes: { k: { mtlsSecurityScheme: {} } } }, 'securitySchemes.k'],
    ['a requirement without scopes', { securityRequirements: [{ schemes: { k: {} } }] }, 'securityRequirements[0]'],
  ])('reports an added %s as not covered by the signature, or refuses it in strict mode', async (_, added, uncovered) => {
    const key = await generateSigningKey();
    const card = { ...(await signCard(CARD, joseSigner({ key }))), ...added };
    const verifier = joseVerifier(publicKeys([key]));
    expect(await verifyCard(card, verifier)).toMatchObject({ ok: true, form: 'sdk', uncovered: [uncovered] });
    expect(await verifyCard(card, verifier, { forms: ['spec'] })).toMatchObject({ ok: false, reason: 'mismatch' });
  });
});

describe('keys', () => {
  it('are found only by their id', async () => {
    const [mine, other] = [await generateSigningKey(), await generateSigningKey()];
    const card = await signCard(CARD, joseSigner({ key: mine }));
    expect(await verifyCard(card, joseVerifier(publicKeys([other])))).toEqual({ ok: false, reason: 'unknown-key', kid: mine.kid });
    expect(await verifyCard(card, joseVerifier(publicKeys([other, mine])))).toMatchObject({ ok: true });
  });

  it('may share an id while one replaces the other', async () => {
    const [old, fresh] = [await generateSigningKey(), await generateSigningKey()];
    const card = await signCard(CARD, joseSigner({ key: fresh, kid: 'current' }));
    const keys = publicKeys([old, fresh]).keys.map((key) => ({ ...key, kid: 'current' }));
    expect(await verifyCard(card, joseVerifier({ keys }))).toMatchObject({ ok: true, kid: 'current' });
  });

  it('can be rotated: a card signed by both is valid with either', async () => {
    const [old, fresh] = [await generateSigningKey('RS256'), await generateSigningKey('EdDSA')];
    const card = await signCard(await signCard(CARD, joseSigner({ key: old })), joseSigner({ key: fresh }));
    expect(await verifyCard(card, joseVerifier(publicKeys([old])))).toMatchObject({ ok: true, kid: old.kid });
    expect(await verifyCard(card, joseVerifier(publicKeys([fresh])))).toMatchObject({ ok: true, kid: fresh.kid });
  });

  it('must fit the algorithm, and may not be a shared secret', async () => {
    const card = await signCard(CARD, joseSigner({ key: await generateSigningKey(), kid: 'k' }));
    const rsa = publicKeys([await generateSigningKey('RS256')]).keys.map((key) => ({ ...key, kid: 'k' }));
    expect(await verifyCard(card, joseVerifier({ keys: rsa }))).toMatchObject({ ok: false, reason: 'mismatch' });
    const secret: JWK = { ...(await exportJWK(await generateSecret('HS256', { extractable: true }))), kid: 'k' };
    expect(await verifyCard(card, joseVerifier({ keys: [secret] }))).toMatchObject({ ok: false, reason: 'mismatch' });
  });

  it('need an alg and a kid to sign with', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    expect(() => joseSigner({ key: privateKey })).toThrow('alg and a kid');
    expect(() => joseSigner({ key: privateKey, alg: 'ES256' })).toThrow('alg and a kid');
  });

  it.each(['ES256', 'RS256', 'EdDSA'] as const)('are published without their private half (%s)', async (alg) => {
    const key = await generateSigningKey(alg);
    const [published] = publicKeys([{ ...key, oth: [{ d: 'x' }] } as JWK]).keys;
    const secret = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
    expect(Object.keys(published ?? {}).filter((name) => secret.includes(name))).toEqual([]);
    expect(published).toMatchObject({ alg, use: 'sig', kid: key.kid });
  });
});

function protectedHeader(card: AgentCard): unknown {
  return JSON.parse(Buffer.from(card.signatures?.[0]?.protected ?? '', 'base64url').toString());
}
