import { describe, expect, it } from 'vitest';
import type { AgentCard, AgentInterface } from '#protocol';
import { createRegistry, DIALECTS, writeCard } from '#protocol';
import { countingEnv } from './support/env.ts';

/** One card of everybody, read without being told whose it is. */
const registry = createRegistry(DIALECTS);

interface Row {
  /** From where the card was taken. */
  readonly source: string;
  readonly dialect: string;
  /** Who will understand calls, where that is somebody else. */
  readonly calls?: string;
  readonly raw: unknown;
  readonly card: Partial<AgentCard>;
}

const rpc = (url: string, protocolVersion: string): AgentInterface => ({ url, protocolBinding: 'JSONRPC', protocolVersion });
const modes = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] };
const paperSkill = {
  id: 'search_papers',
  name: 'Search Papers',
  description: 'Search for academic papers on a given topic',
  tags: ['research', 'papers'],
};
const V10 = {
  name: 'One',
  description: 'A 1.0 agent',
  version: '1.0.0',
  supportedInterfaces: [rpc('https://a.example/a2a', '1.0')],
  capabilities: { streaming: true },
  ...modes,
  skills: [paperSkill],
};

const ROWS: readonly Row[] = [
  {
    source: 'reference/seeds/000: Society',
    dialect: 'society',
    raw: {
      name: 'claude',
      description: 'Claude Code agent',
      url: 'http://localhost:8003',
      skills: [{ id: 'code', name: 'Code Assistant' }],
      capabilities: { streaming: false, pushNotifications: false },
    },
    card: {
      name: 'claude',
      skills: [{ id: 'code', name: 'Code Assistant', description: '', tags: [] }],
      capabilities: { streaming: false, pushNotifications: false },
    },
  },
  {
    source: 'reference/seeds/001: coding-agent-a2a, A2A 0.3',
    dialect: 'v03',
    raw: {
      name: 'coding-agent-a2a (cursor)',
      description: 'Delegates coding tasks to the cursor agent and streams results back via the A2A protocol.',
      protocolVersion: '0.3.0',
      version: '0.1.0',
      url: 'http://localhost:41242/a2a/jsonrpc',
      capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [
        {
          id: 'code-task',
          name: 'Execute coding task',
          description: 'Runs a coding task (edit, refactor, analyse, explain, test) via a coding agent CLI.',
          tags: ['coding', 'refactor', 'edit', 'test'],
          inputModes: ['text/plain'],
          outputModes: ['text/plain', 'application/json'],
          examples: ['Refactor the auth module to use JWT'],
        },
      ],
    },
    card: {
      supportedInterfaces: [rpc('http://localhost:41242/a2a/jsonrpc', '0.3')],
      capabilities: { streaming: true, pushNotifications: false },
    },
  },
  {
    source: 'reference/seeds/002: PromptKit',
    dialect: 'promptkit',
    raw: {
      name: 'Research Agent',
      description: 'Searches academic papers on a given topic',
      version: '1.0.0',
      capabilities: { streaming: true },
      skills: [paperSkill],
      ...modes,
    },
    card: { name: 'Research Agent', supportedInterfaces: [], skills: [paperSkill] },
  },
  {
    source: 'reference/dialects §5b: CortexPrism',
    dialect: 'cortex',
    raw: {
      name: 'Cortex',
      description: 'An agent operating system',
      url: 'http://localhost:4220',
      version: '1.0',
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
      capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
      skills: [{ id: 'debugging', name: 'Debugging', description: 'Finds bugs', tags: ['code'], examples: ['Fix it'] }],
      interfaces: [{ url: 'http://localhost:4220/a2a', protocol: 'json-rpc', version: '1.0' }],
    },
    card: { supportedInterfaces: [rpc('http://localhost:4220/a2a', '1.0')], ...modes },
  },
  {
    source: 'reference/dialects §4f: Solace Agent Mesh',
    dialect: 'sam',
    raw: {
      name: 'OrderAgent',
      description: 'Handles orders',
      url: 'solace:ns/a2a/v1/agent/request/OrderAgent',
      version: '1.28.7',
      protocolVersion: '0.3.0',
      capabilities: {
        streaming: true,
        extensions: [{ uri: 'https://solace.com/a2a/extensions/display-name', params: { display_name: 'Orders' } }],
      },
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
      skills: [],
    },
    card: { supportedInterfaces: [rpc('solace:ns/a2a/v1/agent/request/OrderAgent', '0.3')] },
  },
  {
    source: 'reference/protocol §2.1.3: A2A 0.1',
    dialect: 'v01',
    raw: {
      name: 'Old',
      url: 'https://old.example/',
      version: '0.0.1',
      capabilities: { streaming: true },
      authentication: { schemes: ['Bearer'] },
      skills: [{ id: 's', name: 'S' }],
    },
    card: { description: '', ...modes, supportedInterfaces: [rpc('https://old.example/', '0.1')] },
  },
  {
    source: 'reference/protocol §2.2.4: A2A 0.2.6',
    dialect: 'v02',
    raw: { ...V10, supportedInterfaces: undefined, url: 'https://a.example/a2a', protocolVersion: '0.2.6', preferredTransport: 'JSONRPC' },
    card: { supportedInterfaces: [rpc('https://a.example/a2a', '0.2')] },
  },
  { source: 'reference/protocol §2.4.3: A2A 1.0', dialect: 'v10', raw: V10, card: V10 },
  {
    source: 'reference/protocol §2.4.3 in the spelling of protobuf',
    dialect: 'v10',
    raw: {
      name: 'One',
      supported_interfaces: [{ url: 'https://a.example', protocol_binding: 'HTTP+JSON', protocol_version: '1.0', tenant: '' }],
      default_input_modes: ['text/plain'],
    },
    card: { supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }] },
  },
  {
    source: 'reference/protocol §4.5: a hybrid as a2a-python serves it',
    dialect: 'v10',
    raw: {
      ...V10,
      url: 'https://old.example/a2a',
      protocolVersion: '0.3.0',
      preferredTransport: 'JSONRPC',
      securitySchemes: { k: { apiKeySecurityScheme: { location: 'header', name: 'X' }, type: 'apiKey', in: 'query', name: 'Y' } },
      security: [{ other: [] }],
      securityRequirements: [{ schemes: { k: {} } }],
    },
    card: {
      supportedInterfaces: V10.supportedInterfaces,
      securitySchemes: { k: { apiKeySecurityScheme: { location: 'header', name: 'X' } } },
      securityRequirements: [{ schemes: { k: {} } }],
    },
  },
  { source: 'our own superset', dialect: 'v10', raw: writeCard(V10), card: V10 },
  {
    source: 'reference/protocol §4.7: 1.0’s shape, but only interfaces of 0.3',
    dialect: 'v10',
    calls: 'v03',
    raw: { ...V10, supportedInterfaces: [rpc('https://a.example/a2a', '0.3')] },
    card: { supportedInterfaces: [rpc('https://a.example/a2a', '0.3')] },
  },
  {
    source: 'reference/protocol §3.13: 0.3 stands first, 1.0 is there too',
    dialect: 'v10',
    raw: { ...V10, supportedInterfaces: [rpc('https://a.example/old', '0.3'), rpc('https://a.example/a2a', '1.0')] },
    card: {},
  },
];

describe('a card of', () => {
  it.each(ROWS)('$source', ({ raw, dialect, calls, card }) => {
    const found = registry.readCard(plain(raw), countingEnv());
    // A dialect that is not registered can't be found; every row counts once it is.
    if (registry.byId(dialect) === undefined) return expect(found?.dialect.id).not.toBe('v10');
    expect(found?.dialect.id).toBe(dialect);
    expect(found?.card).toMatchObject({ ok: true, value: card });
    expect(found?.calls.id).toBe(registry.byId(calls ?? dialect) === undefined ? dialect : (calls ?? dialect));
  });

  it('every registered family is among them', () => {
    const families = new Set(DIALECTS.map((dialect) => dialect.id.split('.')[0]));
    expect([...families].filter((family) => !ROWS.some((row) => row.dialect === family))).toEqual([]);
  });
});

describe('the dialect of an interface', () => {
  it.each([
    ['1.0', 'v10'],
    ['1.0.1', 'v10'],
    ['1.7', 'v10'],
    ['0.3', 'v03'],
    ['0.3.0', 'v03'],
    ['0.2.6', 'v02'],
    ['0.1', 'v01'],
    ['2.0', undefined],
    ['10.0', undefined],
    ['', undefined],
    ['latest', undefined],
  ])('of version %s', (protocolVersion, dialect) => {
    expect(registry.speaks({ protocolVersion })).toBe(registry.byId(dialect ?? ''));
  });
});

describe('a scheme that nobody knows', () => {
  const unknown = { securitySchemes: { k: { type: 'magicLink' } } };
  const old = { ...V10, supportedInterfaces: undefined, url: 'https://a.example', ...unknown, security: [{ k: [] }] };
  it.each([
    ['1.0', { ...V10, ...unknown, securityRequirements: [{ schemes: { k: {} } }] }],
    ['0.3', { ...old, protocolVersion: '0.3.0' }],
    ['0.2', { ...old, protocolVersion: '0.2.6' }],
    ['SAM', { ...old, url: 'solace:ns/a2a/v1/agent/request/A', protocolVersion: '0.3.0' }],
    ['Cortex', { ...old, interfaces: [{ url: 'https://a.example/a2a', protocol: 'json-rpc', version: '1.0' }] }],
  ])('is still required, on a card of %s', (_, raw) => {
    const found = registry.readCard(plain(raw), countingEnv());
    expect(found?.card).toMatchObject({ ok: true, value: { securitySchemes: {}, securityRequirements: [{ schemes: { k: {} } }] } });
  });
});

describe('several OAuth flows in one scheme', () => {
  const flows = { implicit: { authorizationUrl: 'a', scopes: {} }, password: { tokenUrl: 't', scopes: {} } };
  const both = { securitySchemes: { o: { type: 'oauth2', flows } } };
  const old = { ...V10, supportedInterfaces: undefined, url: 'https://a.example', ...both, security: [{ o: ['r'] }] };
  it.each([
    ['1.0', { ...V10, ...both, securityRequirements: [{ schemes: { o: { list: ['r'] } } }] }],
    ['0.3', { ...old, protocolVersion: '0.3.0' }],
    ['SAM', { ...old, url: 'solace:ns/a2a/v1/agent/request/A', protocolVersion: '0.3.0' }],
    ['Cortex', { ...old, interfaces: [{ url: 'https://a.example/a2a', protocol: 'json-rpc', version: '1.0' }] }],
  ])('are a choice, on a card of %s', (_, raw) => {
    const list = ['r'];
    const requirements = [{ schemes: { 'o.implicit': { list } } }, { schemes: { 'o.password': { list } } }];
    expect(registry.readCard(plain(raw), countingEnv())?.card).toMatchObject({ ok: true, value: { securityRequirements: requirements } });
  });
});

describe('hostile cards', () => {
  it.each([undefined, null, 7, 'card', true, [], [V10], {}, { hello: 'world' }])('%j is nobody’s', (raw) => {
    expect(registry.readCard(raw, countingEnv())).toBeUndefined();
  });

  it.each<[string, object, path: string]>([
    ['a name that is a number', { name: 7 }, 'name'],
    ['no name', { name: undefined }, 'name'],
    ['interfaces that are an object', { supportedInterfaces: {} }, 'supportedInterfaces'],
    ['an interface that is text', { supportedInterfaces: ['https://a.example'] }, 'supportedInterfaces[0]'],
    [
      'an interface without a url',
      { supportedInterfaces: [...V10.supportedInterfaces, { protocolBinding: 'GRPC' }] },
      'supportedInterfaces[1].url',
    ],
    [
      'a tenant that is too long',
      { supportedInterfaces: [{ ...rpc('u', '1.0'), tenant: 'x'.repeat(129) }] },
      'supportedInterfaces[0].tenant',
    ],
    ['capabilities that are a list', { capabilities: [] }, 'capabilities'],
    ['a flag that is text', { capabilities: { streaming: 'yes' } }, 'capabilities.streaming'],
    ['an extension without a URI', { capabilities: { extensions: [{}] } }, 'capabilities.extensions[0].uri'],
    [
      'params with a prototype',
      { capabilities: { extensions: [{ uri: 'u', params: JSON.parse('{"__proto__":{}}') }] } },
      'capabilities.extensions[0].params',
    ],
    ['params without an end', { capabilities: { extensions: [{ uri: 'u', params: deep(100_000) }] } }, 'capabilities.extensions[0].params'],
    ['skills that are an object', { skills: {} }, 'skills'],
    ['a skill without id and name', { skills: [{ description: 'd' }] }, 'skills[0].id'],
    ['a tag that is null', { skills: [{ id: 's', tags: ['a', null] }] }, 'skills[0].tags[1]'],
    ['modes that are text', { defaultInputModes: 'text/plain' }, 'defaultInputModes'],
    ['a provider that is text', { provider: 'Example' }, 'provider'],
    ['a scheme of two kinds', { securitySchemes: { k: { mtlsSecurityScheme: {}, apiKeySecurityScheme: {} } } }, 'securitySchemes.k'],
    ['a scheme named __proto__', { securitySchemes: JSON.parse('{"__proto__":{}}') }, 'securitySchemes'],
    ['a requirement that is text', { securityRequirements: ['k'] }, 'securityRequirements[0]'],
    ['a signature without a header', { signatures: [{ signature: 's' }] }, 'signatures[0].protected'],
  ])('%s is refused by its path', (_, members, path) => {
    const found = registry.readCard({ ...V10, ...members }, countingEnv());
    expect(found?.dialect.id).toBe('v10');
    expect(found?.card).toMatchObject({ ok: false, reason: 'invalid', path });
  });

  it('a huge one is read in no time', () => {
    const skills = Array.from({ length: 20_000 }, (_, at) => ({ ...paperSkill, id: `s${at}`, security: [{ k: [] }] }));
    const raw = plain({ ...V10, skills, description: 'x'.repeat(5_000_000) });
    const start = performance.now();
    expect(registry.readCard(raw, countingEnv())?.card.ok).toBe(true);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

function plain(raw: unknown): unknown {
  return JSON.parse(JSON.stringify(raw));
}

function deep(depth: number): object {
  let value = {};
  for (let at = 0; at < depth; at += 1) value = { value };
  return value;
}
