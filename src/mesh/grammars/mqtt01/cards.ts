import { parseJson } from '#bindings';
import type { AgentCard, AgentExtension, JsonObject } from '#protocol';
import { countedIds, DEFAULT_READ_LIMITS } from '#protocol';
import type { BrokerOptions, OutgoingMessage, ReceivedMessage } from '../../broker.ts';
import type { Announcement, DiscoveryEvent } from '../grammar.ts';
import { STATUS, STATUS_SOURCE } from './properties.ts';
import type { MqttGrammarOptions, MqttSettings } from './settings.ts';
import { DIALECT, idOf, settingsOf } from './settings.ts';
import type { MqttIdentity } from './topics.ts';
import { clientIdOf, readNamespace } from './topics.ts';

/** The profile names no binding. This is what its Python SDK publishes (A2A over MQTT 0.1 §5). */
const MQTT_BINDING = 'MQTTv5+JSONRPCv2';
/** Parley's own card extension: the agent's identity on the broker. */
const MQTT_EXTENSION = 'urn:parley:a2a:mqtt:v1';
/** EMQX's limit. */
const CARD_BYTES_MAX = 65_536;

const ENV = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };
const encoder = new TextEncoder();

type Presence = 'online' | 'offline';

/** The retained message with an agent's card and its presence. */
export function cardMessage(announcement: Announcement, presence: Presence, { mqtt, namespace }: Where): OutgoingMessage {
  const who = { ...readNamespace(namespace), agent: announcement.name };
  return {
    topic: mqtt.topics.discovery(who),
    payload: encoder.encode(JSON.stringify(DIALECT.card.write(onBroker(announcement, who, mqtt)))),
    contentType: 'application/json',
    properties: { [STATUS]: presence, [STATUS_SOURCE]: 'agent' },
    retain: true,
  };
}

interface Where {
  readonly mqtt: MqttSettings;
  readonly namespace: string;
}

/** The card with the address on the broker and the extension that describes it. */
function onBroker({ kind, card, instance }: Announcement, who: MqttIdentity, { topics, options }: MqttSettings): AgentCard {
  const others = (card.capabilities.extensions ?? []).filter(({ uri }) => uri !== MQTT_EXTENSION);
  const here: AgentExtension = {
    uri: MQTT_EXTENSION,
    params: { root: topics.root, ...who, role: kind, ...(instance === undefined ? {} : { instance }) },
  };
  const url = options.url ?? `mqtt:${topics.request(who)}`;
  return {
    ...card,
    supportedInterfaces: [
      { url, protocolBinding: MQTT_BINDING, protocolVersion: '1.0' },
      ...card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding !== MQTT_BINDING),
    ],
    capabilities: { ...card.capabilities, streaming: true, extensions: [...others, here] },
  };
}

/**
 * A retained card is authoritative. Its topic names the agent and where requests go; the card's own
 * fields do not (A2A over MQTT 0.1 §5).
 */
export function readCardMessage({ topic, payload, properties }: ReceivedMessage, { mqtt, namespace }: Where): DiscoveryEvent | undefined {
  const who = mqtt.topics.announcerOf(topic);
  const { org, unit } = readNamespace(namespace);
  if (who === undefined || who.org !== org || who.unit !== unit) return undefined;
  if (payload.length === 0 || properties[STATUS] === 'offline') return { kind: 'offline', name: who.agent };
  if (payload.length > CARD_BYTES_MAX) return undefined;
  const card = cardIn(payload);
  if (card === undefined) return undefined;
  return { kind: 'online', announcement: { kind: extensionOf(card)['role'] === 'gateway' ? 'gateway' : 'agent', name: who.agent, card } };
}

function cardIn(payload: Uint8Array): AgentCard | undefined {
  const parsed = parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  const decoded = parsed.ok ? DIALECT.card.read(parsed.value, ENV) : undefined;
  return decoded?.ok === true ? decoded.value : undefined;
}

function extensionOf({ capabilities }: AgentCard): JsonObject {
  return capabilities.extensions?.find(({ uri }) => uri === MQTT_EXTENSION)?.params ?? {};
}

/**
 * A second process with the same client id disconnects this one, and not every broker says why. But it
 * leaves its own card, or its own last will, with its instance id.
 */
export function ownerOfCard({ payload, properties }: ReceivedMessage, { instance }: Announcement): 'other' | 'gone' | undefined {
  const card = payload.length === 0 ? undefined : cardIn(payload);
  const owner = card === undefined ? instance : extensionOf(card)['instance'];
  if (owner === instance) return undefined;
  if (properties[STATUS] === 'online') return 'other';
  return owner === undefined ? undefined : 'gone';
}

/**
 * The broker options for the connection of one agent: the client id that A2A over MQTT requires, and a
 * last will that says the agent is offline. Each agent needs a connection of its own: a broker
 * disconnects the older of two clients with one id.
 *
 * ```ts
 * const broker = await connectMqtt({ url, ...mqttPresence({ namespace, name: 'scheduler', card: agent.card }) });
 * ```
 */
export function mqttPresence(options: MqttPresenceOptions): Required<Pick<BrokerOptions, 'clientId' | 'lastWill'>> {
  const { namespace, name, card, process } = options;
  const agent = idOf(name, options);
  const { topic, payload } = cardMessage(
    { kind: 'agent', name: agent, card, ...(process === undefined ? {} : { instance: process }) },
    'offline',
    { mqtt: settingsOf(options), namespace },
  );
  return {
    clientId: clientIdOf({ ...readNamespace(namespace), agent }),
    lastWill: { topic, payload, retain: true, properties: { [STATUS]: 'offline', [STATUS_SOURCE]: 'lwt' } },
  };
}

/** Options of `mqttPresence`. */
export interface MqttPresenceOptions extends MqttGrammarOptions {
  readonly namespace: string;
  /** Name of the agent in topics. */
  readonly name: string;
  readonly card: AgentCard;
  /** The `instance` that `joinMesh` gets. By it a process notices another one with the same name. */
  readonly process?: string;
}
