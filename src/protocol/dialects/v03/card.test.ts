import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { AgentCard, AgentInterface } from '../../card.ts';
import { createRegistry } from '../create-registry.ts';
import { DIALECTS } from '../registry.ts';
import { v03, v03Rest } from './dialect.ts';

const env = countingEnv();
const wire = {
  name: 'Echo',
  description: 'd',
  url: 'https://h.example/a2a',
  protocolVersion: '0.3.0',
  version: '1',
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};
const flow = { tokenUrl: 'https://auth.example/t', scopes: {} };
const twoFlows = { type: 'oauth2', flows: { clientCredentials: flow, password: flow } };

function read(more: object): AgentCard {
  const card = v03.card.read({ ...wire, ...more }, env);
  if (!card.ok) throw new Error(JSON.stringify(card));
  return card.value;
}

function written(supportedInterfaces: readonly AgentInterface[]): unknown {
  const { url, preferredTransport, additionalInterfaces } = v03.card.write({ ...read({}), supportedInterfaces }) as Record<string, unknown>;
  return { url, preferredTransport, additionalInterfaces };
}

const at = (url: string, protocolBinding: string, protocolVersion: string): AgentInterface => ({ url, protocolBinding, protocolVersion });

describe('interfaces of a 0.3 card', () => {
  it('are the main one, then each of the others once, with the card’s version', () => {
    const additionalInterfaces = [
      { url: 'https://h.example/grpc', transport: 'GRPC' },
      { url: wire.url, transport: 'JSONRPC' },
      { url: 'https://h.example/grpc', transport: 'GRPC' },
    ];
    expect(read({ additionalInterfaces }).supportedInterfaces).toEqual([
      at(wire.url, 'JSONRPC', '0.3'),
      at('https://h.example/grpc', 'GRPC', '0.3'),
    ]);
    expect(read({ preferredTransport: 'HTTP+JSON', protocolVersion: '1.0.2' }).supportedInterfaces).toEqual([
      at(wire.url, 'HTTP+JSON', '1.0'),
    ]);
    expect(read({ protocolVersion: undefined }).supportedInterfaces[0]?.protocolVersion).toBe('0.3');
    expect(read({ protocolVersion: 'dev' }).supportedInterfaces[0]?.protocolVersion).toBe('dev');
  });

  it('are written with the first of 0.3 as the main one, without those of 1.0', () => {
    expect(written([at('a', 'HTTP+JSON', '0.3'), at('b', 'JSONRPC', '1.0'), at('c', 'JSONRPC', '0.3')])).toEqual({
      url: 'a',
      preferredTransport: 'HTTP+JSON',
      additionalInterfaces: [
        { url: 'a', transport: 'HTTP+JSON' },
        { url: 'c', transport: 'JSONRPC' },
      ],
    });
  });

  it('are written with JSON-RPC of 1.0 if there is none of 0.3, or else with any interface', () => {
    expect(written([at('a', 'HTTP+JSON', '1.0'), at('b', 'JSONRPC', '1.0')])).toMatchObject({ url: 'b', preferredTransport: 'JSONRPC' });
    expect(written([at('g', 'GRPC', '1.0'), at('a', 'HTTP+JSON', '0.3')])).toMatchObject({ url: 'a', preferredTransport: 'HTTP+JSON' });
    expect(written([at('g', 'GRPC', '1.0')])).toEqual({ url: 'g', preferredTransport: 'GRPC', additionalInterfaces: undefined });
    expect(written([])).toMatchObject({ url: '' });
  });
});

describe('security of a 0.3 card', () => {
  it('turns a scheme with several flows into several, any of which is enough', () => {
    const card = read({
      securitySchemes: { o: twoFlows, key: { type: 'apiKey', in: 'header', name: 'K' } },
      security: [{ o: ['s'], key: [] }, { key: [] }],
      skills: [{ id: 'e', name: 'E', description: '', tags: [], security: [{ o: [] }] }],
    });
    expect(Object.keys(card.securitySchemes ?? {})).toEqual(['o.clientCredentials', 'o.password', 'key']);
    expect(card.securityRequirements).toEqual([
      { schemes: { 'o.clientCredentials': { list: ['s'] }, key: {} } },
      { schemes: { 'o.password': { list: ['s'] }, key: {} } },
      { schemes: { key: {} } },
    ]);
    expect(card.skills[0]?.securityRequirements).toEqual([{ schemes: { 'o.clientCredentials': {} } }, { schemes: { 'o.password': {} } }]);
  });

  it('does not mistake a separate scheme for a part of another', () => {
    const card = read({ securitySchemes: { o: twoFlows, 'o.x': { type: 'http', scheme: 'Bearer' } }, security: [{ o: [] }] });
    expect(card.securityRequirements).toHaveLength(2);
  });

  it('limits the number of alternatives', () => {
    const names = Array.from({ length: 40 }, (_, n) => `o${n}`);
    const card = read({
      securitySchemes: Object.fromEntries(names.map((name) => [name, twoFlows])),
      security: [Object.fromEntries(names.map((name) => [name, []]))],
    });
    expect(card.securityRequirements).toHaveLength(64);
    for (const { schemes } of card.securityRequirements ?? []) expect(Object.keys(schemes)).toHaveLength(40);
  });

  it('is written in both forms over REST, where readers differ', () => {
    const card = read({ securitySchemes: { b: { type: 'http', scheme: 'Bearer' } }, security: [{ b: [] }] });
    expect(v03Rest.encode('extendedCard.result', card)).toMatchObject({
      securitySchemes: { b: { type: 'http', scheme: 'Bearer', httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      security: [{ b: [] }],
    });
    const back = v03Rest.decode('extendedCard.result', JSON.parse(JSON.stringify(v03Rest.encode('extendedCard.result', card))), env);
    expect(back).toEqual({ ok: true, value: card });
  });
});

describe('detection of cards', () => {
  const registry = createRegistry(DIALECTS);
  const { protocolVersion: _, ...unversioned } = wire;
  const whose = (card: object) => registry.readCard(card, env)?.dialect.id;

  it('is by its version, or by members that came with 0.2', () => {
    expect(whose(wire)).toBe('v03');
    expect(whose({ ...wire, protocolVersion: '0.3' })).toBe('v03');
    expect(whose({ ...unversioned, preferredTransport: 'JSONRPC' })).toBe('v03');
    expect(whose({ ...unversioned, security: [] })).toBe('v03');
    expect(whose({ ...unversioned, supportsAuthenticatedExtendedCard: false })).toBe('v03');
    expect(whose({ ...wire, protocolVersion: '0.2.6' })).toBe('v02');
  });

  it('finds 1.0 if it has interfaces of that shape, and not 0.3 without an address', () => {
    const supportedInterfaces = [{ url: wire.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    expect(whose({ ...wire, supportedInterfaces })).toBe('v10');
    expect(whose({ ...wire, supportedInterfaces: [] })).toBe('v03');
    expect(v03.card.detect({ ...wire, url: undefined })).toBe('no');
    expect(v03.card.detect(null)).toBe('no');
    expect(v03Rest.card.detect(wire)).toBe('no');
  });
});
