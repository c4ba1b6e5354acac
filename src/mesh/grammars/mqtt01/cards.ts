import { parseJson } from '#bindings';
import type { AgentCard, AgentExtension, JsonObject } from '#protocol';
import { countedIds, DEFAULT_READ_LIMITS } from '#protocol';
import type { BrokerOptions, OutgoingMessage, ReceivedMessage } from '../../broker.ts';
import type { Announcement, DiscoveryEvent } from '../grammar.ts';
import { STATUS, STATUS_SOURCE } from './properties.ts';
import type { MqttGrammarOptions, MqttSettings } from './settings.ts';
import { idOf, SPOKEN, settingsOf } from './settings.ts';
import type { MqttIdentity } from './topics.ts';
import { clientIdOf, readNamespace } from './topics.ts';

/** The profile names no binding; this is what the Python SDK publishes (reference/mqtt §5). */
export const MQTT_BINDING = 'MQTTv5+JSONRPCv2';
/** Ours: where on the broker an agent is. */
export const MQTT_EXTENSION = 'urn:parley:a2a:mqtt:v1';
/** What EMQX takes, too. */
const CARD_BYTES_MAX = 65_536;

const ENV = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };
const encoder = new TextEncoder();

type Presence = 'online' | 'offline';

export function cardMessage(announcement: Announcement, presence: Presence, { mqtt, namespace }: Where): OutgoingMessage {
  const who = { ...readNamespace(namespace), agent: announcement.name };
  return {
    topic: mqtt.topics.discovery(who),
    payload: encoder.encode(JSON.stringify(SPOKEN.card.write(onBroker(announcement, who, mqtt)))),
    contentType: 'application/json',
    properties: { [STATUS]: presence, [STATUS_SOURCE]: 'agent' },
    retain: true,
  };
}

interface Where {
  readonly mqtt: MqttSettings;
  readonly namespace: string;
}

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

/** A card that a broker has kept is the truth here; its topic says whose it is, and nothing in it where requests go (reference/mqtt §5). */
export function hearCard({ topic, payload, properties }: ReceivedMessage, { mqtt, namespace }: Where): DiscoveryEvent | undefined {
  const who = mqtt.topics.announcerOf(topic);
  const { org, unit } = readNamespace(namespace);
  if (who === undefined || who.org !== org || who.unit !== unit) return undefined;
  if (payload.length === 0 || properties[STATUS] === 'offline') return { kind: 'gone', name: who.agent };
  if (payload.length > CARD_BYTES_MAX) return undefined;
  const card = cardIn(payload);
  if (card === undefined) return undefined;
  return { kind: 'here', announcement: { kind: ownWords(card)['role'] === 'gateway' ? 'gateway' : 'agent', name: who.agent, card } };
}

function cardIn(payload: Uint8Array): AgentCard | undefined {
  const parsed = parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  const decoded = parsed.ok ? SPOKEN.card.read(parsed.value, ENV) : undefined;
  return decoded?.ok === true ? decoded.value : undefined;
}

function ownWords({ capabilities }: AgentCard): JsonObject {
  return capabilities.extensions?.find(({ uri }) => uri === MQTT_EXTENSION)?.params ?? {};
}

/** Another process with one client id throws this one out, and not every broker says so; but the card or the will that it leaves is its own. */
export function takenBy({ payload, properties }: ReceivedMessage, { instance }: Announcement): 'other' | 'gone' | undefined {
  const card = payload.length === 0 ? undefined : cardIn(payload);
  const whose = card === undefined ? instance : ownWords(card)['instance'];
  if (whose === instance) return undefined;
  if (properties[STATUS] === 'online') return 'other';
  return whose === undefined ? undefined : 'gone';
}

/**
 * What the connection of an agent is opened with: the client id that the profile wants, and a last will that says the agent is offline. One
 * agent, one connection: two with one id would throw each other out.
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

export interface MqttPresenceOptions extends MqttGrammarOptions {
  readonly namespace: string;
  readonly name: string;
  readonly card: AgentCard;
  /** The `instance` that `joinMesh` gets: by it two processes that were given one name find out. */
  readonly process?: string;
}
