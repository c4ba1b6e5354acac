import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BINDINGS } from '#bindings';
import type { AgentCard, JsonObject, SchemeShape } from '#protocol';
import { createRegistry, DIALECTS, interfacesFor, negotiateCard, signingPayload, writeCard } from '#protocol';
import { card as anyCard } from './support/arbitrary-cards.ts';
import { countingEnv } from './support/env.ts';

const BASE = 'https://a.example';
const CARD: AgentCard = {
  name: 'Agent',
  description: 'An agent.',
  version: '1.2.3',
  supportedInterfaces: interfacesFor(BASE, BINDINGS),
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true, extensions: [{ uri: 'urn:x' }] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'A skill.', tags: ['t'], securityRequirements: [{ schemes: { key: {} } }] }],
  provider: { organization: 'Example', url: 'https://example.org' },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  },
  securityRequirements: [{ schemes: { bearer: {} } }],
};
const FLAT = { key: { type: 'apiKey', in: 'header', name: 'X-Key' }, bearer: { type: 'http', scheme: 'Bearer' } };
const CARD_PATH = '/.well-known/agent-card.json';

/**
 * How each client fetches the card, and the members that it needs (docs/dialects/; the SDKs' own code for the schemes). Each dialect needs
 * a row.
 */
const CLIENTS: readonly {
  readonly client: string;
  readonly dialect: string;
  readonly path: string;
  readonly version?: string;
  readonly needs: object;
  /** Members that would break it. */
  readonly without?: readonly string[];
}[] = [
  {
    client: 'A2A 1.0 (a2a-js 1.3, which names its version)',
    dialect: 'v10',
    path: CARD_PATH,
    version: '1.0',
    needs: { ...CARD, capabilities: CARD.capabilities },
  },
  { client: 'A2A 1.0 (a2a-go 2.3 and a2a-python 1.3, which do not)', dialect: 'v10', path: CARD_PATH, needs: CARD },
  {
    client: 'A2A 0.3 (a2a-js 0.3, a2a-python 0.3)',
    dialect: 'v03',
    path: CARD_PATH,
    needs: {
      protocolVersion: '0.3.0',
      url: `${BASE}/`,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: `${BASE}/`, transport: 'JSONRPC' },
        { url: BASE, transport: 'HTTP+JSON' },
      ],
      version: '1.2.3',
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 's', name: 'S', description: 'A skill.', tags: ['t'], security: [{ key: [] }] }],
      supportsAuthenticatedExtendedCard: true,
      securitySchemes: FLAT,
      security: [{ bearer: [] }],
    },
  },
  {
    client: 'A2A 0.2',
    dialect: 'v02',
    path: '/.well-known/agent.json',
    needs: { url: `${BASE}/`, protocolVersion: expect.any(String), securitySchemes: FLAT },
  },
  {
    client: 'A2A 0.1',
    dialect: 'v01',
    path: '/.well-known/agent.json',
    needs: { name: 'Agent', url: `${BASE}/`, version: '1.2.3', authentication: { schemes: expect.any(Array) } },
  },
  {
    client: 'Society',
    dialect: 'society',
    path: CARD_PATH,
    needs: {
      name: 'Agent',
      url: `${BASE}/`,
      capabilities: { streaming: true, pushNotifications: false },
      provider: { organization: 'Example' },
      authentication: { schemes: expect.any(Array) },
    },
    without: ['transport'],
  },
  {
    client: 'PromptKit',
    dialect: 'promptkit',
    path: '/.well-known/agent.json',
    needs: { name: 'Agent', supportedInterfaces: CARD.supportedInterfaces, capabilities: { extensions: [{ uri: 'urn:x' }] } },
  },
  {
    client: 'CortexPrism',
    dialect: 'cortex',
    path: CARD_PATH,
    version: '1.0',
    needs: { interfaces: expect.arrayContaining([{ url: `${BASE}/api/a2a`, protocol: 'json-rpc', version: '1.0' }]) },
  },
  {
    client: 'Solace Agent Mesh’s proxy (a2a-python 0.3)',
    dialect: 'sam',
    path: CARD_PATH,
    needs: {
      name: 'Agent',
      description: 'An agent.',
      url: `${BASE}/`,
      version: '1.2.3',
      skills: [{ id: 's' }],
      capabilities: { streaming: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      securitySchemes: FLAT,
    },
  },
];

const registry = createRegistry(DIALECTS);

describe('one card', () => {
  for (const { client, dialect, path, version, needs, without = [] } of CLIENTS.filter((row) => registry.byId(row.dialect) !== undefined)) {
    it(`has what ${client} needs`, () => {
      const { schemes } = negotiateCard({ path, ...(version === undefined ? {} : { version }) });
      const served = writeCard(CARD, { schemes }) as JsonObject;
      expect(served, dialect).toMatchObject(needs);
      expect(Object.keys(served).filter((name) => without.includes(name))).toEqual([]);
    });
  }

  it('has a row in CLIENTS for every family of dialects', () => {
    const families = new Set(DIALECTS.map((dialect) => dialect.id.split('.')[0]));
    expect([...families].filter((family) => !CLIENTS.some((row) => row.dialect === family))).toEqual([]);
  });

  it.each(['wrapped', 'flat', 'both'] as const)(
    'is still the 1.0 card to its readers and to its signatures, with schemes %s',
    (schemes) => {
      fc.assert(fc.property(anyCard, (card) => expectUnchanged(card, schemes)));
    },
  );
});

function expectUnchanged(card: AgentCard, schemes: SchemeShape): void {
  const strict = throughWire(writeCard(card, { form: 'strict' }));
  const served = throughWire(writeCard(card, { schemes }));
  const found = registry.readCard(served, countingEnv());
  expect(found?.dialect.id).toBe('v10');
  expect(found?.card).toEqual(registry.readCard(strict, countingEnv())?.card);
  for (const form of ['spec', 'sdk'] as const) expect(text(signingPayload(served, form))).toBe(text(signingPayload(strict, form)));
}

function throughWire(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
