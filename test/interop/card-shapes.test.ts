import { ClientFactory, DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { describe, expect, it } from 'vitest';
import { BINDINGS } from '#bindings';
import type { AgentCard, JsonObject, SchemeShape } from '#protocol';
import { interfacesFor, negotiateCard, writeCard } from '#protocol';

/** What the official SDK for JavaScript makes of the cards that we serve, fetched as it fetches them. */
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
/** As 0.3's writer puts them; written out, since this is about the reader. */
const FLAT = { type: 'apiKey', in: 'header', name: 'X' };

describe.each([false, true])('@a2a-js/sdk, compatibility with 0.3 %s', (enabled) => {
  it('names its version, and reads the schemes that it is served then', async () => {
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
    expect(card.supportedInterfaces[0]).toMatchObject({ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
    await expect(new ClientFactory().createFromAgentCard(card)).resolves.toBeDefined();
  });
});

function served(schemes: SchemeShape): JsonObject {
  const card = writeCard(CARD, { schemes }) as JsonObject;
  const key = { ...(schemes === 'flat' ? {} : CARD.securitySchemes?.['key']), ...(schemes === 'wrapped' ? {} : FLAT) };
  return { url: 'https://a.example/a2a', protocolVersion: '0.3.0', ...card, securitySchemes: { key } } as JsonObject;
}
