import type { Grammar } from '../grammar.ts';
import { cardMessage, ownerOfCard, readCardMessage } from './cards.ts';
import { openInbox } from './inbox.ts';
import { mqttLink } from './link.ts';
import { publishMqttReply } from './reply.ts';
import { serveMqtt } from './serve.ts';
import type { MqttGrammarOptions } from './settings.ts';
import { idOf, settingsOf } from './settings.ts';
import { readNamespace } from './topics.ts';

/**
 * The grammar of A2A over MQTT 0.1. The namespace of the mesh is `{organisation}/{unit}`.
 *
 * ```ts
 * const mesh = joinMesh({ broker, namespace: 'acme/plant-1', grammar: mqttGrammar({ root: 'a2a/v1' }) });
 * ```
 */
export function mqttGrammar(options: MqttGrammarOptions = {}): Grammar {
  const mqtt = settingsOf(options);
  return {
    id: 'mqtt01',
    topicName: (name) => idOf(name, options),
    usesCardNames: false,
    checkNamespace: (namespace) => void readNamespace(namespace),
    retainsCards: true,
    // A card belongs to an agent, which responds to requests. A gateway only sends them.
    announcesGateways: false,
    serve: (agent, mesh, part) => serveMqtt(agent, mesh, { mqtt, part }),
    publishReply: (reply, mesh) => publishMqttReply(reply, mesh, mqtt),
    call: async (self, mesh) => {
      const inbox = await openInbox(self, mesh, mqtt);
      return {
        link: (linkOptions) => mqttLink({ self, mesh, mqtt, inbox, options: linkOptions, peer: { isParley: false } }),
        recognisesRepeats: () => true, // the profile requires it (A2A over MQTT 0.1 §9)
        close: inbox.close,
      };
    },
    onlineMessage: (announcement, { namespace }) => cardMessage(announcement, 'online', { mqtt, namespace }),
    offlineMessage: (announcement, { namespace }) => cardMessage(announcement, 'offline', { mqtt, namespace }),
    ownerOfCard,
    discoveryFilters: ({ namespace }) => [mqtt.topics.discoveryFilter(readNamespace(namespace))],
    readDiscovery: (message, { namespace }) => readCardMessage(message, { mqtt, namespace }),
  };
}
