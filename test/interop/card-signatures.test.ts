import { readdirSync, readFileSync } from 'node:fs';
import { canonicalizeAgentCard, generateAgentCardSignature, AgentCard as SdkCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AgentCard, JsonObject } from '#protocol';
import { signCard, signingPayload, verifyCard, writeCard } from '#protocol';
import type { JSONWebKeySet, JWK } from '../../src/protocol/adapters/jose.ts';
import { generateSigningKey, joseSigner, joseVerifier, publicKeys } from '../../src/protocol/adapters/jose.ts';

/** Signatures of other implementations: the official SDK for JavaScript runs here; corpus-signing has cards that the Python SDK signed. */
const BASE: AgentCard = {
  name: 'Agent',
  description: 'An agent.',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'A skill.', tags: ['t'] }],
};
const EXTENSION = {
  uri: 'https://x.example/v1',
  params: { '\u{1f600}': 1, '\ufb33': [1e21, 1e-7, -0, 0.1], deep: { list: ['', {}, null, 'x'], off: false } },
};
const CARDS: Readonly<Record<string, AgentCard>> = {
  plain: BASE,
  'non-ASCII text and keys': { ...BASE, name: 'Ünïcödé 代理 🤖', capabilities: { extensions: [EXTENSION] } },
  'empty required members': { ...BASE, description: '', capabilities: {}, skills: [], defaultOutputModes: [] },
  'optional members set to their defaults': {
    ...BASE,
    documentationUrl: '',
    iconUrl: '',
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  },
  'requirements with and without scopes': {
    ...BASE,
    securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }, { schemes: { key: {} } }],
  },
};
const SECURED: AgentCard = {
  ...BASE,
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X' } }, mtls: { mtlsSecurityScheme: {} } },
};

let key: JWK;
beforeAll(async () => {
  key = await generateSigningKey();
  vi.spyOn(console, 'debug').mockImplementation(() => {}); // the SDK logs every signature that does not verify
});
afterAll(() => vi.restoreAllMocks());

describe('@a2a-js/sdk', () => {
  it.each(Object.entries({ ...CARDS, secured: SECURED }))('canonicalises as our sdk form: %s', (_, card) => {
    expect(new TextDecoder().decode(signingPayload(card, 'sdk'))).toBe(canonicalizeAgentCard(wire(card)));
  });

  it.each(Object.entries({ ...CARDS, secured: SECURED }))('verifies what we signed: %s', async (_, card) => {
    const signed = await signCard(card, joseSigner({ key }));
    const served = wire(signed);
    await expect(verifyWithSdk(served)).resolves.toBeUndefined();
    expect(await verifyCard(served, joseVerifier(publicKeys([key])))).toMatchObject({ ok: true, form: 'spec' });
    await expect(verifyWithSdk({ ...served, version: '9' })).rejects.toThrow('No valid signatures');
  });

  it.each(Object.entries(CARDS))('signs what we verify: %s', async (_, card) => {
    const signer = generateAgentCardSignature(key, { alg: 'ES256', kid: key.kid as string, typ: 'JOSE' });
    const served = SdkCard.toJSON(await signer(SdkCard.fromJSON(card))) as JsonObject;
    expect(await verifyCard(served, joseVerifier(publicKeys([key])))).toMatchObject({ ok: true, kid: key.kid });
    expect(await verifyCard({ ...served, name: 'Other' }, joseVerifier(publicKeys([key])))).toMatchObject({
      ok: false,
      reason: 'mismatch',
    });
  });

  it('verifies the superset in which we serve a signed card', async () => {
    const signed = await signCard(SECURED, joseSigner({ key }));
    for (const schemes of ['wrapped', 'both'] as const) {
      await expect(verifyWithSdk(writeCard(signed, { schemes }) as never)).resolves.toBeUndefined();
    }
  });

  // 1.3.0 passes a card through fromJSON twice, which loses the schemes of a parsed card. If this test fails, the SDK has been fixed.
  it('signs parsed cards without their security schemes, which we refuse', async () => {
    const signer = generateAgentCardSignature(key, { alg: 'ES256', kid: key.kid as string, typ: 'JOSE' });
    const served = SdkCard.toJSON(await signer(SdkCard.fromJSON(SECURED))) as JsonObject;
    expect(served['securitySchemes']).toBeDefined();
    expect(await verifyCard(served, joseVerifier(publicKeys([key])))).toMatchObject({ ok: false, reason: 'mismatch' });
    const { securitySchemes: _, ...bare } = served;
    expect(await verifyCard(bare, joseVerifier(publicKeys([key])))).toMatchObject({ ok: true });
  });
});

describe('a card of the server of @a2a-js/sdk, with unions in their in-memory form', () => {
  it('is verified, and the schemes that its signature leaves out are named', async () => {
    const signer = generateAgentCardSignature(key, { alg: 'ES256', kid: key.kid as string, typ: 'JOSE' });
    const sent = JSON.parse(JSON.stringify(await signer(SdkCard.fromJSON(SECURED)))) as JsonObject;
    expect(await verifyCard(sent, joseVerifier(publicKeys([key])))).toMatchObject({
      ok: true,
      form: 'sdk',
      uncovered: ['securitySchemes.key', 'securitySchemes.mtls'],
    });
  });
});

interface Vector {
  readonly source: string;
  readonly keys: JSONWebKeySet;
  readonly payload: string;
  readonly card: JsonObject;
}
const FOLDER = new URL('../corpus-signing/', import.meta.url);
const VECTORS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Vector] as const);

describe('a2a-python', () => {
  it('has test vectors', () => expect(VECTORS.length).toBeGreaterThanOrEqual(6));

  it.each(VECTORS)('%s: we compute its payload and verify its signature', async (_, vector) => {
    expect(vector.source).toMatch(/^a2a-sdk \d/);
    expect(new TextDecoder().decode(signingPayload(vector.card, 'sdk'))).toBe(vector.payload);
    expect(await verifyCard(vector.card, joseVerifier(vector.keys))).toMatchObject({ ok: true });
    expect(await verifyCard({ ...vector.card, version: '9' }, joseVerifier(vector.keys))).toMatchObject({ ok: false, reason: 'mismatch' });
  });
});

/** The value as the other side receives it. */
function wire(card: AgentCard): SdkCard {
  return JSON.parse(JSON.stringify(card)) as SdkCard;
}

function verifyWithSdk(card: SdkCard): Promise<void> {
  return verifyAgentCardSignature(async (kid) => publicKeys([key]).keys.find((known) => known.kid === kid) as JWK)(card);
}
