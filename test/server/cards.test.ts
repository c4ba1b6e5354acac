import { afterAll, describe, expect, it } from 'vitest';
import { builtInAgents, defineAgent } from '#agents';
import { createLog } from '#server';
import { builtIn, handlerOf, jsonRequest } from '../support/server.ts';

const PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json', '/.well-known/a2a-agent-card.json', '/api/a2a/agent-card.json'];
const REQUIRED = [{ schemes: { key: {}, login: { list: ['read'] } } }];
const secured = defineAgent({
  name: 'Ünsere Agentin',
  description: 'has a scheme',
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    login: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://login.example' } },
  },
  securityRequirements: REQUIRED,
  skills: [{ id: 's', name: 'S', description: 'A skill.', tags: ['t'], securityRequirements: REQUIRED }],
  run: () => 'x',
});
/** With a custom `authenticate`, the card keeps the security schemes that the agent declares. */
const handler = handlerOf({ agents: [secured, builtIn('echo')], authenticate: () => ({ principal: { id: 'ann', scopes: ['*'] } }) });
const BASE = 'http://127.0.0.1:41242';
afterAll(() => handler.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  handler.fetch(new Request(`${BASE}${path}`, { headers }));

interface Card {
  readonly name: string;
  readonly url: string;
  readonly supportedInterfaces: readonly { readonly url: string }[];
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly securitySchemes: { readonly key: Readonly<Record<string, unknown>> };
}
const cardAt = async (path: string, headers?: Readonly<Record<string, string>>): Promise<Card> =>
  (await (await get(path, headers)).json()) as Card;

describe('the card', () => {
  for (const path of PATHS) {
    it(`is at ${path}, with ETag, Last-Modified and Cache-Control`, async () => {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{32}"$/);
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      expect(response.headers.get('vary')).toBe('A2A-Version');
      expect(Date.parse(response.headers.get('last-modified') ?? '')).toBeLessThanOrEqual(Date.now());
      expect((await response.json()) as Card).toMatchObject({ name: 'Ünsere Agentin' });
    });

    it(`is at /agents/{name}${path} with the URLs of that agent`, async () => {
      const { supportedInterfaces, url } = await cardAt(`/agents/echo${path}`);
      for (const { url: address } of supportedInterfaces) expect(address).toMatch(/^http:\/\/127\.0\.0\.1:41242\/agents\/echo(?:\/|$)/);
      expect(url).toBe(`${BASE}/agents/echo/`);
    });
  }

  it('has the form that the client asks for', async () => {
    const strict = await cardAt('/.well-known/agent-card.json?card=strict');
    expect(Object.keys(strict)).not.toContain('url');
    const forms = ['superset', 'strict', 'scope-lists'].map((form) => get(`/.well-known/agent-card.json?card=${form}`));
    const tags = (await Promise.all(forms)).map(({ headers }) => headers.get('etag'));
    expect(new Set(tags).size).toBe(3);
    const refused = await get('/.well-known/agent-card.json?card=other');
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('superset, strict, scope-lists')]);
  });

  it('has its scopes in lists for a2a-go 2, at the card and its skills', async () => {
    const form = (name: string): Promise<Card> => cardAt(`/.well-known/agent-card.json?card=${name}`);
    const required = { securityRequirements: [{ schemes: { key: [], login: ['read'] } }] };
    expect(await form('scope-lists')).toMatchObject({ ...required, skills: [{ ...required, security: [{ key: [], login: ['read'] }] }] });
    expect(await form('superset')).toMatchObject({ securityRequirements: [{ schemes: { key: {}, login: { list: ['read'] } } }] });
  });

  it('is not sent again to a client that has the current version', async () => {
    const first = await get('/.well-known/agent-card.json');
    const etag = first.headers.get('etag') ?? '';
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get('/.well-known/agent-card.json', { 'If-None-Match': tag });
      expect([tag, again.status, await again.text(), again.headers.get('etag')]).toEqual([tag, 304, '', etag]);
    }
    expect((await get('/.well-known/agent-card.json', { 'If-None-Match': '"other"' })).status).toBe(200);
    const date = first.headers.get('last-modified') ?? '';
    expect((await get('/.well-known/agent-card.json', { 'If-Modified-Since': date })).status).toBe(304);
    expect((await get('/.well-known/agent-card.json', { 'If-Modified-Since': 'Thu, 01 Jan 2004 00:00:00 GMT' })).status).toBe(200);
    // A tag that does not match takes precedence over a date that does (RFC 9110 §13.2.2).
    expect((await get('/.well-known/agent-card.json', { 'If-None-Match': '"other"', 'If-Modified-Since': date })).status).toBe(200);
  });

  it('shapes securitySchemes by the version, then by the path, with an ETag for each shape', async () => {
    const shapes = await Promise.all([
      get('/.well-known/agent-card.json', { 'A2A-Version': '1.0' }),
      get('/.well-known/agent-card.json', { 'A2A-Version': '0.3' }),
      get('/.well-known/agent-card.json?A2A-Version=0.3'),
      get('/.well-known/agent.json'),
      get('/.well-known/agent-card.json'),
    ]);
    const keys = await Promise.all(
      shapes.map(async (response) => Object.keys(((await response.json()) as Card).securitySchemes.key).sort()),
    );
    expect(keys[0]).toEqual(['apiKeySecurityScheme']);
    expect(keys[1]).toEqual(['in', 'name', 'type']);
    expect(keys[2]).toEqual(keys[1]);
    expect(keys[3]).toEqual(keys[1]);
    expect(keys[4]).toEqual(['apiKeySecurityScheme', 'in', 'name', 'type']);
    expect(new Set(shapes.map((response) => response.headers.get('etag'))).size).toBe(3);
  });

  it('is pure 1.0 with card: strict', async () => {
    const strict = handlerOf({ agents: secured, card: 'strict' });
    const card = (await (await strict.fetch(new Request(`${BASE}/.well-known/agent-card.json`))).json()) as Card;
    expect(card.url).toBeUndefined();
    expect(card.supportedInterfaces[0]?.url).toBe(`${BASE}/a2a/jsonrpc`);
    await strict.close();
  });

  it('contains the configured URL, whatever host the caller used', async () => {
    const own = handlerOf({ agents: secured, url: 'https://agents.example.org/base/' });
    const response = await own.fetch(new Request('http://localhost:1/.well-known/agent-card.json'));
    expect(((await response.json()) as Card).supportedInterfaces.map(({ url }) => url)).toEqual([
      'https://agents.example.org/base/a2a/jsonrpc',
      'https://agents.example.org/base',
      'https://agents.example.org/base/',
      'https://agents.example.org/base',
    ]);
    await own.close();
  });

  it('is returned by RPC in the dialect that requests it so', async () => {
    const response = await handler.fetch(jsonRequest(`${BASE}/api/a2a`, { jsonrpc: '2.0', id: 1, method: 'GetAgentCard' }));
    expect(await response.json()).toMatchObject({ result: { name: 'Ünsere Agentin' } });
  });

  it('has an extended form if the agent has one, for callers that are authenticated', async () => {
    const agent = defineAgent({
      name: 'more',
      description: 'x',
      run: () => 'x',
      extendedCard: (card, principal) => ({ ...card, description: `for ${principal.id}` }),
    });
    const open = handlerOf({ agents: [agent] });
    const seen = (await (await open.fetch(new Request(`${BASE}/.well-known/agent-card.json`))).json()) as Card;
    expect(seen.capabilities).not.toHaveProperty('extendedAgentCard');
    expect((await open.fetch(new Request(`${BASE}/extendedAgentCard`))).status).toBe(400);
    await open.close();
    const own = handlerOf({
      agents: [agent, secured],
      authenticate: async () => ({ principal: { id: 'ann', scopes: ['card:extended'] } }),
    });
    const at = (path: string): Promise<Response> => own.fetch(new Request(`${BASE}${path}`));
    const extended = (await (await at('/extendedAgentCard')).json()) as Card & { description: string };
    expect(extended.description).toBe('for ann');
    expect(extended.supportedInterfaces[0]?.url).toBe(`${BASE}/a2a/jsonrpc`);
    expect((await at('/agents/unsere-agentin/extendedAgentCard')).status).toBe(400);
    await own.close();
  });

  it('has an extended form for everybody in the profile for conformance kits, and the node warns of it', async () => {
    const agent = builtInAgents.get('conformance')?.create({ profile: 'extended-card' });
    const lines: string[] = [];
    const open = handlerOf({ agents: [agent ?? secured], log: createLog({ level: 'warn', write: (line) => void lines.push(line) }) });
    const seen = (await (await open.fetch(new Request(`${BASE}/.well-known/agent-card.json`))).json()) as Card;
    expect(seen.capabilities).toMatchObject({ extendedAgentCard: true });
    expect((await open.fetch(new Request(`${BASE}/extendedAgentCard`))).status).toBe(200);
    expect(lines.join('')).toContain('the extended card is given to callers that nobody has authenticated');
    await open.close();
  });
});

describe('the catalog', () => {
  it('lists every agent, with the same content at both paths', async () => {
    const [catalog, ard] = await Promise.all([get('/.well-known/ai-catalog.json'), get('/.well-known/ard.json')]);
    expect(catalog.headers.get('content-type')).toBe('application/ai-catalog+json');
    expect(catalog.headers.get('access-control-allow-origin')).toBe('*');
    const text = await catalog.text();
    expect(await ard.text()).toBe(text);
    const { specVersion, entries } = JSON.parse(text) as { specVersion: string; entries: Record<string, unknown>[] };
    expect(specVersion).toBe('1.0');
    expect(entries.map(({ identifier }) => identifier)).toEqual([
      'urn:air:agent.localhost:a2a:unsere-agentin',
      'urn:air:agent.localhost:a2a:echo',
    ]);
    for (const { identifier, url, type, mediaType } of entries) {
      expect(identifier).toMatch(/^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/);
      expect(type).toBe('application/a2a-agent-card+json');
      expect(mediaType).toBe(type);
      const card = await handler.fetch(new Request(String(url)));
      expect(card.status).toBe(200);
    }
  });

  it('names the configured publisher, never one from a request', async () => {
    const own = handlerOf({ publisher: 'agents.example.org' });
    const text = await (await own.fetch(new Request('http://localhost/.well-known/ai-catalog.json'))).text();
    expect(text).toContain('urn:air:agents.example.org:a2a:script');
    await own.close();
  });
});
