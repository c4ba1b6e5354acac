import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../card.ts';
import { A2AError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Dialect } from './dialect.ts';
import { negotiateCard, writeCard } from './superset.ts';
import { v10 } from './v10/dialect.ts';

const CARD: AgentCard = {
  name: 'A',
  description: 'd',
  version: '1',
  supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    { id: 'one', name: 'One', description: '', tags: [] },
    { id: 'two', name: 'Two', description: '', tags: [] },
  ],
  securitySchemes: { k: { apiKeySecurityScheme: { location: 'header', name: 'X' } }, m: { mtlsSecurityScheme: {} } },
};

describe('the superset', () => {
  it('starts with 1.0’s members and adds those of other dialects; the first dialect wins', () => {
    const written = superset([
      { url: 'first', protocolVersion: '0.3.0' },
      { url: 'second', interfaces: [{ protocol: 'json-rpc' }] },
    ]);
    expect(Object.entries(written).slice(-3)).toEqual([
      ['url', 'first'],
      ['protocolVersion', '0.3.0'],
      ['interfaces', [{ protocol: 'json-rpc' }]],
    ]);
    expect(Object.keys(written).slice(0, -3)).toEqual(Object.keys(writeCard(CARD, { form: 'strict' }) as object));
  });

  it('lists no interface of 1.0 for 0.3, whose clients could not tell it from their own', () => {
    const rest = { url: 'https://a.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };
    const old = { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' };
    const written = writeCard({ ...CARD, supportedInterfaces: [...CARD.supportedInterfaces, rest, old] });
    expect(written).toMatchObject({ url: old.url, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' });
    expect(written).not.toHaveProperty('additionalInterfaces');
  });

  it('adds and changes no member that 1.0 knows', () => {
    const written = superset([
      {
        name: 'Other',
        iconUrl: 'https://a.example/icon',
        defaultInputModes: ['text'],
        capabilities: { streaming: false, pushNotifications: false, extensions: [{ uri: 'u' }], stateTransitionHistory: false },
        supportedInterfaces: [{ url: 'elsewhere', transport: 'JSONRPC' }],
      },
    ]);
    expect(written).toEqual({
      ...(writeCard(CARD, { form: 'strict' }) as object),
      capabilities: { streaming: true, stateTransitionHistory: false },
    });
  });

  it('adds to a skill only members of the same skill', () => {
    const written = superset([{ skills: [{ id: 'one', security: [] }, { id: 'other', security: [] }, { id: 'three' }] }]);
    expect(written['skills']).toEqual([{ ...CARD.skills[0], security: [] }, CARD.skills[1]]);
  });

  it.each<[string, Json]>([
    ['text where 1.0 has a list', { skills: 'none', supportedInterfaces: {} }],
    ['a list where 1.0 has an object', { capabilities: [], securitySchemes: [] }],
    ['no object at all', 'card'],
  ])('is not disturbed by %s', (_, other) => {
    expect(superset([other])).toEqual(writeCard(CARD, { form: 'strict' }));
  });

  it('leaves out a dialect that can’t express the card, and only that one', () => {
    const unable = dialect('unable', () => {
      throw new A2AError('VERSION_NOT_SUPPORTED');
    });
    expect(writeCard(CARD, { dialects: [v10, unable, dialect('able', () => ({ url: 'u' }))] })).toMatchObject({ url: 'u' });
    const broken = dialect('broken', () => {
      throw new TypeError('a defect');
    });
    expect(() => writeCard(CARD, { dialects: [v10, broken] })).toThrow('a defect');
  });
});

describe('security schemes', () => {
  const flat = { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X' }, m: { type: 'mutualTLS' }, ours: { type: 'http' } } };

  it('have both forms by default', () => {
    expect(superset([flat])['securitySchemes']).toEqual({
      k: { apiKeySecurityScheme: { location: 'header', name: 'X' }, type: 'apiKey', in: 'header', name: 'X' },
      m: { mtlsSecurityScheme: {}, type: 'mutualTLS' },
    });
  });

  it('can be wrapped as in 1.0', () => {
    expect(superset([flat], 'wrapped')['securitySchemes']).toEqual(CARD.securitySchemes);
  });

  it('can be flat as in 0.x; a scheme without a flat form stays', () => {
    expect(superset([flat], 'flat')['securitySchemes']).toEqual({
      k: { type: 'apiKey', in: 'header', name: 'X' },
      m: { type: 'mutualTLS' },
    });
    expect(superset([], 'flat')['securitySchemes']).toEqual(CARD.securitySchemes);
  });
});

describe('other forms', () => {
  it('strict: pure 1.0, without a program’s own members', () => {
    const card = { ...CARD, url: 'x', capabilities: { ...CARD.capabilities, x: 1 }, skills: [{ ...CARD.skills[0], x: 1 }] } as never;
    expect(writeCard(card, { form: 'strict' })).toEqual({ ...CARD, skills: [CARD.skills[0]] });
  });

  it('one dialect alone', () => {
    const dialects = [v10, dialect('old', () => ({ url: 'u' }))];
    expect(writeCard(CARD, { dialects, form: 'old' })).toEqual({ url: 'u' });
    expect(() => writeCard(CARD, { dialects, form: 'older' })).toThrow('unknown dialect older');
  });
});

describe('negotiateCard', () => {
  it.each<[path: string, version: string | null | undefined, schemes: string]>([
    ['/.well-known/agent-card.json', undefined, 'both'],
    ['/.well-known/agent-card.json', null, 'both'],
    ['/.well-known/agent-card.json', '', 'both'],
    ['/.well-known/agent-card.json', 'latest', 'both'],
    ['/.well-known/agent-card.json', '1.0', 'wrapped'],
    ['/.well-known/agent-card.json', '1.0.1', 'wrapped'],
    ['/.well-known/agent-card.json', '2.0', 'wrapped'],
    ['/.well-known/agent-card.json', '0.3', 'flat'],
    ['/.well-known/agent-card.json', ' 0.3.0', 'flat'],
    ['/.well-known/agent.json', undefined, 'flat'],
    ['/agents/demo/.well-known/agent.json', '', 'flat'],
    ['/.well-known/agent.json', '1.0', 'wrapped'],
    ['/.well-known/a2a-agent-card.json', undefined, 'both'],
    ['/api/a2a/agent-card.json', undefined, 'both'],
  ])('%s with A2A-Version %s: %s', (path, version, schemes) => {
    const request = version === undefined ? { path } : { path, version };
    expect(negotiateCard(request)).toEqual({ schemes, headers: { Vary: 'A2A-Version' } });
  });
});

/** Only its cards matter here; the real ones are in test/card-clients.test.ts. */
function dialect(id: string, write: () => Json): Dialect {
  return { id, card: { write } } as unknown as Dialect;
}

function superset(written: readonly Json[], schemes: 'wrapped' | 'flat' | 'both' = 'both'): Record<string, Json> {
  const dialects = [v10, ...written.map((json, at) => dialect(`other-${at}`, () => json))];
  return writeCard(CARD, { dialects, schemes }) as Record<string, Json>;
}
