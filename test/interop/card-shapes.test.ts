import { ClientFactory, DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { describe, expect, it } from 'vitest';
import { BINDINGS } from '#bindings';
import type { AgentCard, JsonObject, SchemeShape } from '#protocol';
import { interfacesFor, negotiateCard, writeCard } from '#protocol';

/** How the official SDK for JavaScript reads the cards that Parley serves. */
const CARD: AgentCard = {
  name: 'Agent',
  description: 'An agent.',
  version: '1.0.0',
  supportedInterfaces: interfacesFor('https://a.example', BINDINGS),
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'A skill.', tags: ['t'] }],
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X' } } },
};
/** Schemes in the form of 0.3, as literals, because the test is about the reader. */
const FLAT = { type: 'apiKey', in: 'header', name: 'X' };

describe.each([false, true])('@a2a-js/sdk, compatibility with 0.3 %s', (enabled) => {
  it('sends its version, and reads the schemes that it gets', async () => {
    const versions: (string | null)[] = [];
    const fetchImpl: typeof fetch = async (input, init) => {
      const version = new Headers(init?.headers).get('A2A-Version');
      versions.push(version);
      return Response.json(served(negotiateCard({ path: new URL(String(input)).pathname, version }).schemes));
    };
    const card = await new DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled } }).resolve('https://a.example');
    expect(versions).toEqual(['1.0']);
    expect(card.securitySchemes['key']?.scheme).toMatchObject({ $case: 'apiKeySecurityScheme', value: { location: 'header', name: 'X' } });
  });

  it.each(['wrapped', 'flat', 'both'] as const)('calls the first interface of 1.0 whatever the schemes look like: %s', async (schemes) => {
    const cardResolver = new DefaultAgentCardResolver({ fetchImpl: async () => Response.json(served(schemes)), legacyCompat: { enabled } });
    const card = await cardResolver.resolve('https://a.example');
    expect(card.supportedInterfaces[0]).toMatchObject({
      url: 'https://a.example/a2a/jsonrpc',
      protocolBinding: 'JSONRPC',
      protocolVersion: '1.0',
    });
    await expect(new ClientFactory().createFromAgentCard(card)).resolves.toBeDefined();
  });
});

function served(schemes: SchemeShape): JsonObject {
  const card = writeCard(CARD, { schemes }) as JsonObject;
  const key = { ...(schemes === 'flat' ? {} : CARD.securitySchemes?.['key']), ...(schemes === 'wrapped' ? {} : FLAT) };
  return { url: 'https://a.example/a2a', protocolVersion: '0.3.0', ...card, securitySchemes: { key } } as JsonObject;
}
