import { parseJson } from '#bindings';
import type { AgentCard, AgentExtension, JsonObject } from '#protocol';
import { countedIds, DEFAULT_READ_LIMITS } from '#protocol';
import type { OutgoingMessage, ReceivedMessage } from '../../broker.ts';
import type { Announcement, DiscoveryEvent, MeshContext } from '../grammar.ts';
import { WIRE } from './dialects.ts';
import {
  filterOf,
  getAgentDeregisteredTopic,
  getAgentDiscoveryTopic,
  getAgentRequestTopic,
  getDiscoverySubscriptionTopic,
  getGatewayDiscoveryTopic,
} from './topics.ts';

type SamExtension = 'agentType' | 'peers' | 'displayName' | 'tools' | 'schemas' | 'deployment' | 'gatewayRole';
const EXTENSIONS = 'https://solace.com/a2a/extensions';
/** What SAM adds to a card (reference/dialects §4f). */
export const SAM_EXTENSIONS: Readonly<Record<SamExtension, string>> = {
  agentType: `${EXTENSIONS}/agent-type`,
  peers: `${EXTENSIONS}/peer-agent-topology`,
  displayName: `${EXTENSIONS}/display-name`,
  tools: `${EXTENSIONS}/sam/tools`,
  schemas: `${EXTENSIONS}/sam/schemas`,
  deployment: `${EXTENSIONS}/sam/deployment`,
  gatewayRole: `${EXTENSIONS}/sam/gateway-role`,
};

const ENV = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };
const encoder = new TextEncoder();

/** Names are reduced to what stands in topics, in URIs and in names of tools (reference/dialects §4f). */
export function samName(name: string): string {
  return (
    name
      .normalize('NFKD')
      .replaceAll(/\p{Mark}/gu, '')
      .replaceAll(/[^A-Za-z0-9_]/g, '_')
      .slice(0, 128) || 'agent'
  );
}

export function samAnnouncing({ kind, name, card, instance }: Announcement, { namespace }: MeshContext): OutgoingMessage {
  const isAgent = kind === 'agent';
  const added: AgentExtension[] = [
    extension(SAM_EXTENSIONS.displayName, { display_name: card.name }),
    ...(isAgent ? [extension(SAM_EXTENSIONS.agentType, { type: 'standard' })] : []),
    ...(isAgent ? [] : [extension(SAM_EXTENSIONS.gatewayRole, { gateway_id: name, gateway_type: 'parley', namespace })]),
    ...(instance === undefined ? [] : [extension(SAM_EXTENSIONS.deployment, { id: instance })]),
  ];
  const said: AgentCard = {
    ...card,
    name,
    supportedInterfaces: [{ url: `solace:${getAgentRequestTopic(namespace, name)}`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
    capabilities: {
      ...card.capabilities,
      extensions: [...(card.capabilities.extensions ?? []).filter(({ uri }) => !isAdded(uri)), ...added],
    },
  };
  return {
    topic: isAgent ? getAgentDiscoveryTopic(namespace) : getGatewayDiscoveryTopic(namespace),
    payload: encoder.encode(JSON.stringify(WIRE.card.write(said))),
    contentType: 'application/json',
  };
}

function extension(uri: string, params: JsonObject): AgentExtension {
  return { uri, params };
}

function isAdded(uri: string): boolean {
  return Object.values(SAM_EXTENSIONS).includes(uri);
}

export function samLeaving({ name, instance }: Announcement, { namespace }: MeshContext): OutgoingMessage {
  const metadata = {
    timestamp: new Date().toISOString(),
    deregistered_by: name,
    ...(instance === undefined ? {} : { deployment_id: instance }),
  };
  const event = { event_type: 'agent.deregistered', agent_name: name, reason: 'shutdown', metadata };
  return { topic: getAgentDeregisteredTopic(namespace), payload: encoder.encode(JSON.stringify(event)), contentType: 'application/json' };
}

export function samDiscovery({ namespace }: MeshContext): readonly string[] {
  return [filterOf(getDiscoverySubscriptionTopic(namespace)), getAgentDeregisteredTopic(namespace)];
}

/** Cards come all the time and are not kept: one that a broker has kept was put there to be believed for ever (reference/faults B8). */
export function samHear(message: ReceivedMessage, { namespace }: MeshContext): DiscoveryEvent | undefined {
  if (message.isRetained) return undefined;
  const parsed = parseJson(message.payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  if (!parsed.ok) return undefined;
  if (message.topic === getAgentDeregisteredTopic(namespace)) return goneIn(parsed.value);
  const decoded = WIRE.card.read(parsed.value, ENV);
  if (!decoded.ok) return undefined;
  const card = decoded.value;
  const instance = paramIn(card, SAM_EXTENSIONS.deployment, 'id');
  const shared = { card, ...(instance === undefined ? {} : { instance }) };
  if (message.topic === getGatewayDiscoveryTopic(namespace)) {
    const name = paramIn(card, SAM_EXTENSIONS.gatewayRole, 'gateway_id') ?? card.name;
    return { kind: 'here', announcement: { kind: 'gateway', name, ...shared } };
  }
  if (message.topic !== getAgentDiscoveryTopic(namespace) || !isAtHome(card, namespace)) return undefined;
  return { kind: 'here', announcement: { kind: 'agent', name: card.name, ...shared } };
}

/** It is asked on its own topic in this namespace, and nowhere else. */
function isAtHome({ name, supportedInterfaces }: AgentCard, namespace: string): boolean {
  if (samName(name) !== name) return false;
  return supportedInterfaces.some(({ url }) => url === `solace:${getAgentRequestTopic(namespace, name)}`);
}

function paramIn({ capabilities }: AgentCard, uri: string, name: string): string | undefined {
  const value = capabilities.extensions?.find((each) => each.uri === uri)?.params?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function goneIn(raw: unknown): DiscoveryEvent | undefined {
  if (typeof raw !== 'object' || raw === null || !('agent_name' in raw) || typeof raw.agent_name !== 'string') return undefined;
  const metadata: unknown = 'metadata' in raw ? raw.metadata : undefined;
  const id: unknown = typeof metadata === 'object' && metadata !== null && 'deployment_id' in metadata ? metadata.deployment_id : undefined;
  return { kind: 'gone', name: raw.agent_name, ...(typeof id === 'string' ? { instance: id } : {}) };
}
