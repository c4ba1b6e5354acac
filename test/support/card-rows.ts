import type { AgentCard, AgentInterface, AgentSkill } from '#protocol';
import { writeCard } from '#protocol';

/** A card of each dialect, and what it means. Each dialect needs a row. */
export interface CardRow {
  /** Where the card comes from, by the short names of docs/sources.md. */
  readonly source: string;
  readonly dialect: string;
  /** The dialect in which to call the agent, if it differs from the card's. */
  readonly calls?: string;
  readonly raw: unknown;
  readonly card: Partial<AgentCard>;
}

export const rpc = (url: string, protocolVersion: string): AgentInterface => ({ url, protocolBinding: 'JSONRPC', protocolVersion });
const modes = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] };
export const paperSkill: AgentSkill = {
  id: 'search_papers',
  name: 'Search Papers',
  description: 'Search for academic papers on a given topic',
  tags: ['research', 'papers'],
};
export const V10: AgentCard = {
  name: 'One',
  description: 'A 1.0 agent',
  version: '1.0.0',
  supportedInterfaces: [rpc('https://a.example/a2a', '1.0')],
  capabilities: { streaming: true },
  ...modes,
  skills: [paperSkill],
};

export const CARD_ROWS: readonly CardRow[] = [
  {
    source: 'Society, GET /.well-known/agent.json',
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
    source: 'coding-agent-a2a, Agent Card (A2A 0.3)',
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
    source: 'PromptKit, Agent Cards',
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
    source: 'docs/dialects/cortex.md, Card',
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
    source: 'docs/dialects/sam.md, Card',
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
    source: 'A2A 0.1.0 AgentCard',
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
    source: 'A2A 0.2.6 AgentCard',
    dialect: 'v02',
    raw: { ...V10, supportedInterfaces: undefined, url: 'https://a.example/a2a', protocolVersion: '0.2.6', preferredTransport: 'JSONRPC' },
    card: { supportedInterfaces: [rpc('https://a.example/a2a', '0.2')] },
  },
  { source: 'A2A 1.0.1 AgentCard', dialect: 'v10', raw: V10, card: V10 },
  {
    source: 'A2A 1.0.1 AgentCard in the snake_case of the proto',
    dialect: 'v10',
    raw: {
      name: 'One',
      supported_interfaces: [{ url: 'https://a.example', protocol_binding: 'HTTP+JSON', protocol_version: '1.0', tenant: '' }],
      default_input_modes: ['text/plain'],
    },
    card: { supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }] },
  },
  {
    source: 'a hybrid of 0.3 and 1.0 as a2a-python serves it',
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
    source: 'the shape of 1.0 with interfaces of 0.3 only',
    dialect: 'v10',
    calls: 'v03',
    raw: { ...V10, supportedInterfaces: [rpc('https://a.example/a2a', '0.3')] },
    card: { supportedInterfaces: [rpc('https://a.example/a2a', '0.3')] },
  },
  {
    source: 'interfaces of 0.3 before those of 1.0',
    dialect: 'v10',
    raw: { ...V10, supportedInterfaces: [rpc('https://a.example/old', '0.3'), rpc('https://a.example/a2a', '1.0')] },
    card: {},
  },
];
