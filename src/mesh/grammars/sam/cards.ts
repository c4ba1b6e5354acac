import { parseJson } from '#bindings';
import type { AgentCard, AgentExtension, JsonObject } from '#protocol';
import { countedIds, DEFAULT_READ_LIMITS, isObject } from '#protocol';
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
/** The card extensions of SAM (docs/dialects/sam.md). */
const SAM_EXTENSIONS: Readonly<Record<SamExtension, string>> = {
  agentType: `${EXTENSIONS}/agent-type`,
  peers: `${EXTENSIONS}/peer-agent-topology`,
  displayName: `${EXTENSIONS}/display-name`,
  tools: `${EXTENSIONS}/sam/tools`,
  schemas: `${EXTENSIONS}/sam/schemas`,
  deployment: `${EXTENSIONS}/sam/deployment`,
  gatewayRole: `${EXTENSIONS}/sam/gateway-role`,
};

/** Parley's own card extension: the agent recognises a repeated request by its ids and runs it once. */
const REPEATS = 'urn:parley:a2a:recognises-repeats:v1';

/** Whether a request to this agent may be published again. */
export function recognisesRepeats(card: AgentCard | undefined): boolean {
  return card?.capabilities.extensions?.some(({ uri }) => uri === REPEATS) === true;
}

const ENV = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };
const encoder = new TextEncoder();

/** Reduces a name to characters that topics, URIs and tool names allow (docs/dialects/sam.md). */
export function samName(name: string): string {
  return (
    name
      .normalize('NFKD')
      .replaceAll(/\p{Mark}/gu, '')
      .replaceAll(/[^A-Za-z0-9_]/g, '_')
      .slice(0, 128) || 'agent'
  );
}

/** The card of a participant as SAM expects it, with its topic as the address. */
export function samOnlineMessage({ kind, name, card, instance }: Announcement, { namespace }: MeshContext): OutgoingMessage {
  const isAgent = kind === 'agent';
  const added: AgentExtension[] = [
    extension(SAM_EXTENSIONS.displayName, { display_name: card.name }),
    ...(isAgent ? [extension(SAM_EXTENSIONS.agentType, { type: 'standard' }), { uri: REPEATS }] : []),
    ...(isAgent ? [] : [extension(SAM_EXTENSIONS.gatewayRole, { gateway_id: name, gateway_type: 'parley', namespace })]),
    ...(instance === undefined ? [] : [extension(SAM_EXTENSIONS.deployment, { id: instance })]),
  ];
  const announced: AgentCard = {
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
    payload: encoder.encode(JSON.stringify(WIRE.card.write(announced))),
    contentType: 'application/json',
  };
}

function extension(uri: string, params: JsonObject): AgentExtension {
  return { uri, params };
}

/**
 * The card as others see it: with the name that people chose, and without the id of the process, which
 * differs between replicas.
 */
function displayedCard(card: AgentCard): AgentCard {
  const name = paramIn(card, SAM_EXTENSIONS.displayName, 'display_name') ?? card.name;
  const extensions = (card.capabilities.extensions ?? []).filter(({ uri }) => uri !== SAM_EXTENSIONS.deployment);
  return { ...card, name, capabilities: { ...card.capabilities, extensions } };
}

function isAdded(uri: string): boolean {
  return uri === REPEATS || Object.values(SAM_EXTENSIONS).includes(uri);
}

/** The message by which SAM's participants learn that an agent leaves. */
export function samOfflineMessage({ name, instance }: Announcement, { namespace }: MeshContext): OutgoingMessage {
  const metadata = {
    timestamp: new Date().toISOString(),
    deregistered_by: name,
    ...(instance === undefined ? {} : { deployment_id: instance }),
  };
  const event = { event_type: 'agent.deregistered', agent_name: name, reason: 'shutdown', metadata };
  return { topic: getAgentDeregisteredTopic(namespace), payload: encoder.encode(JSON.stringify(event)), contentType: 'application/json' };
}

/** Cards of agents and gateways, and messages of leaving agents. */
export function samDiscoveryFilters({ namespace }: MeshContext): readonly string[] {
  return [filterOf(getDiscoverySubscriptionTopic(namespace)), getAgentDeregisteredTopic(namespace)];
}

/**
 * Cards are repeated and never retained. A retained card was put there by an attacker, to be believed
 * for ever (docs/faults.md, B8).
 */
export function readSamDiscovery(message: ReceivedMessage, { namespace }: MeshContext): DiscoveryEvent | undefined {
  if (message.isRetained) return undefined;
  const parsed = parseJson(message.payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  if (!parsed.ok) return undefined;
  if (message.topic === getAgentDeregisteredTopic(namespace)) return readDeregistered(parsed.value);
  const decoded = WIRE.card.read(parsed.value, ENV);
  if (!decoded.ok) return undefined;
  const card = decoded.value;
  const instance = paramIn(card, SAM_EXTENSIONS.deployment, 'id');
  const shared = { card: displayedCard(card), ...(instance === undefined ? {} : { instance }) };
  if (message.topic === getGatewayDiscoveryTopic(namespace)) {
    const name = paramIn(card, SAM_EXTENSIONS.gatewayRole, 'gateway_id') ?? card.name;
    return { kind: 'online', announcement: { kind: 'gateway', name, ...shared } };
  }
  if (message.topic !== getAgentDiscoveryTopic(namespace) || !isOwnTopic(card, namespace)) return undefined;
  return { kind: 'online', announcement: { kind: 'agent', name: card.name, ...shared } };
}

/** The card's address is the agent's own request topic in this namespace. */
function isOwnTopic({ name, supportedInterfaces }: AgentCard, namespace: string): boolean {
  if (samName(name) !== name) return false;
  return supportedInterfaces.some(({ url }) => url === `solace:${getAgentRequestTopic(namespace, name)}`);
}

function paramIn({ capabilities }: AgentCard, uri: string, name: string): string | undefined {
  const value = capabilities.extensions?.find((each) => each.uri === uri)?.params?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readDeregistered(raw: unknown): DiscoveryEvent | undefined {
  const { agent_name: name, metadata } = isObject(raw) ? raw : {};
  if (typeof name !== 'string') return undefined;
  const id = isObject(metadata) ? metadata['deployment_id'] : undefined;
  return { kind: 'offline', name, ...(typeof id === 'string' ? { instance: id } : {}) };
}
