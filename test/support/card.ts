import type { AgentCard } from '#protocol';

export const CARD: AgentCard = {
  name: 'Echo',
  description: 'says it again',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'https://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'echo', name: 'Echo', description: 'says it again', tags: ['text'] }],
};

/** A card with non-ASCII letters, which signatures must handle. */
export const WORLDLY_CARD: AgentCard = {
  name: 'Ünïcödé 代理 🤖',
  description: 'd',
  version: '1',
  supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 's', description: 's', tags: ['t'] }],
};
