import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { AgentCard } from '../../card.ts';
import { createRegistry } from '../create-registry.ts';
import { DIALECTS } from '../registry.ts';
import { society } from '../society/dialect.ts';
import { v01 } from './dialect.ts';

const raw = { name: 'A', url: 'https://a.example', version: '1', capabilities: {}, skills: [] };
const auth = { schemes: ['Bearer'] };
const owner = (document: unknown) => createRegistry(DIALECTS).readCard(document, countingEnv())?.dialect.id;
const card = (more: Partial<AgentCard>): AgentCard => ({
  name: 'A',
  description: '',
  version: '1',
  supportedInterfaces: [],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  ...more,
});
const at = (url: string, protocolBinding: string, protocolVersion: string) => ({ url, protocolBinding, protocolVersion });

describe('detection of cards', () => {
  it("0.1's by authentication and a version", () => {
    expect(v01.card.detect({ ...raw, authentication: auth })).toBe('shape');
    expect(owner({ ...raw, authentication: auth })).toBe('v01');
  });

  it("Society's by its transport, or by having no version", () => {
    const { version: _, ...unversioned } = raw;
    expect(society.card.detect({ ...raw, transport: { type: 'http' } })).toBe('path');
    expect([v01.card.detect(unversioned), society.card.detect(unversioned)]).toEqual(['grammar', 'shape']);
    expect([{ ...raw, transport: { type: 'http' } }, unversioned, { ...unversioned, authentication: auth }].map(owner)).toEqual([
      'society',
      'society',
      'society',
    ]);
  });

  it.each([
    { ...raw, supportedInterfaces: [{}] },
    { ...raw, protocolVersion: '0.3.0' },
    { ...raw, securitySchemes: {} },
    { ...raw, security: [] },
    { ...raw, preferredTransport: 'JSONRPC' },
    { ...raw, interfaces: [] },
    { ...raw, url: 7 },
    { name: 'A' },
    'card',
    null,
  ])('nobody’s of the two: %j', (document) => {
    expect([v01.card.detect(document), society.card.detect(document)]).toEqual(['no', 'no']);
  });
});

describe('a bad card is refused with its path', () => {
  it.each([
    [{ ...raw, name: undefined }, 'name'],
    [{ ...raw, url: '' }, 'url'],
    [{ ...raw, capabilities: { streaming: 'yes' } }, 'capabilities.streaming'],
    [{ ...raw, skills: [{}] }, 'skills[0].id'],
    [{ ...raw, skills: [{ id: 's', name: 'S', tags: 'x' }] }, 'skills[0].tags'],
    [{ ...raw, provider: {} }, 'provider.organization'],
    [{ ...raw, authentication: { schemes: [1] } }, 'authentication.schemes[0]'],
    [[], ''],
  ])('%j', (document, path) => {
    expect(v01.card.read(document, countingEnv())).toMatchObject({ ok: false, reason: 'invalid', path });
    expect(society.card.read(document, countingEnv())).toMatchObject({ ok: false, reason: 'invalid', path });
  });
});

describe('writing a card', () => {
  const url = (...interfaces: AgentCard['supportedInterfaces'][number][]) =>
    (v01.card.write(card({ supportedInterfaces: interfaces })) as { url: string }).url;

  it('writes the url that a 0.1 caller can use', () => {
    const [grpc, rest, v10, v01Url] = [
      at('g', 'GRPC', '1.0'),
      at('r', 'HTTP+JSON', '1.0'),
      at('j', 'JSONRPC', '1.0'),
      at('o', 'JSONRPC', '0.1'),
    ];
    expect(url(grpc, v10, v01Url)).toBe('o');
    expect(url(grpc, rest, v10)).toBe('j');
    expect(url(grpc, rest)).toBe('g');
  });

  it('has the members that 0.1 requires, even if empty', () => {
    expect(v01.card.write(card({}))).toEqual({
      name: 'A',
      url: '',
      version: '1',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
  });

  it("has nothing that Society's client can't read", () => {
    const written = society.card.write(
      card({
        supportedInterfaces: [at('j', 'JSONRPC', '1.0')],
        capabilities: { streaming: true, extendedAgentCard: true, extensions: [{ uri: 'urn:x' }] },
        provider: { organization: 'O', url: '' },
        securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'K' } } },
        iconUrl: 'i',
        signatures: [{ protected: 'p', signature: 's' }],
        defaultInputModes: ['text/plain'],
        defaultOutputModes: ['text/plain'],
      }),
    );
    expect(written).toEqual({
      name: 'A',
      url: 'j',
      version: '1',
      provider: { organization: 'O' },
      capabilities: { streaming: true },
      authentication: { schemes: ['ApiKey'], credentials: '{"in":"header","name":"K"}' },
    });
  });
});
