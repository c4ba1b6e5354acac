import type { Grammar } from '../grammar.ts';
import { cardMessage, hearCard, takenBy } from './cards.ts';
import { openInbox } from './inbox.ts';
import { mqttLink } from './link.ts';
import { carryMqtt } from './reply.ts';
import { serveMqtt } from './serve.ts';
import type { MqttGrammarOptions } from './settings.ts';
import { idOf, settingsOf } from './settings.ts';
import { readNamespace } from './topics.ts';

/** A2A over MQTT, profile 0.1 (reference/mqtt). The namespace of the mesh is `{organisation}/{unit}`. */
export function mqttGrammar(options: MqttGrammarOptions = {}): Grammar {
  const mqtt = settingsOf(options);
  return {
    id: 'mqtt01',
    nameOf: (name) => idOf(name, options),
    retainsCards: true,
    check: (namespace) => void readNamespace(namespace),
    serve: (agent, place) => serveMqtt(agent, place, mqtt),
    carry: (reply, place) => carryMqtt(reply, place, mqtt),
    call: async (self, place) => {
      const inbox = await openInbox(self, place, mqtt);
      return {
        link: (linkOptions) => mqttLink({ self, place, mqtt, inbox, options: linkOptions, learned: { isOurs: false } }),
        close: inbox.close,
      };
    },
    announcing: (announcement, { namespace }) => cardMessage(announcement, 'online', { mqtt, namespace }),
    takenBy,
    leaving: (announcement, { namespace }) => cardMessage(announcement, 'offline', { mqtt, namespace }),
    discovery: ({ namespace }) => [mqtt.topics.discoveryFilter(readNamespace(namespace))],
    hear: (message, { namespace }) => hearCard(message, { mqtt, namespace }),
  };
}
