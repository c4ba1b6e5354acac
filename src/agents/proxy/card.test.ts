import { describe, expect, it } from 'vitest';
import type { AgentCard } from '#protocol';
import { createCard } from '../card.ts';
import { PROXIED_CARD, proxyCard } from './card.ts';

const origin: AgentCard = {
  ...createCard({ name: 'remote', description: 'Does things.', provider: { organization: 'ACME', url: 'https://acme.example' } }),
  supportedInterfaces: [{ url: 'https://remote.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
  capabilities: { streaming: false, extensions: [{ uri: 'urn:x', required: true }] },
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
  securityRequirements: [{ schemes: { key: {} } }],
  signatures: [{ protected: 'eyJ', signature: 'abc' }],
};

describe('the card of a proxied agent', () => {
  const card = proxyCard(origin, {
    url: 'https://remote.example',
    verdict: { ok: true, kid: 'k1', alg: 'ES256', form: 'spec', uncovered: [] },
  });

  it('keeps the description of the agent', () => {
    expect(card).toMatchObject({ name: 'remote', description: 'Does things.', provider: { organization: 'ACME' }, skills: origin.skills });
  });

  it('drops interfaces, security and signatures, which belong to another address', () => {
    expect(card.supportedInterfaces).toEqual([]);
    expect([card.securitySchemes, card.securityRequirements, card.signatures]).toEqual([undefined, undefined, undefined]);
  });

  it('declares the capabilities of this node, and requires no extension that the proxy activates itself', () => {
    expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: true });
    expect(card.capabilities.extensions?.[0]).toEqual({ uri: 'urn:x' });
  });

  it('names the origin and the result of checking its signature', () => {
    const said = card.capabilities.extensions?.find(({ uri }) => uri === PROXIED_CARD);
    expect(said?.params).toEqual({ origin: 'https://remote.example', signature: { verified: true, kid: 'k1', alg: 'ES256' } });
  });

  it('may have another name', () => expect(proxyCard(origin, { name: 'mine' }).name).toBe('mine'));
});
