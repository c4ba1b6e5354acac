import type { Json } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshContext, Stop } from '../grammar.ts';
import type { MqttGrammarOptions } from './settings.ts';
import { settingsOf } from './settings.ts';
import { mqttId, readNamespace } from './topics.ts';

/** What an agent tells everybody (reference/mqtt §2, event). It may be lost on the way, and nobody answers. */
export async function publishMqttEvent(event: Json, { place, agent, ...options }: Telling): Promise<void> {
  await place.broker.publish({
    topic: settingsOf(options).topics.event({ ...readNamespace(place.namespace), agent: mqttId(agent) }),
    payload: new TextEncoder().encode(JSON.stringify(event)),
    contentType: 'application/json',
    qos: 0,
  });
}

interface Telling extends MqttGrammarOptions {
  readonly place: Pick<MeshContext, 'broker' | 'namespace'>;
  readonly agent: string;
}

/** Hears what the agents of a unit tell everybody. */
export async function onMqttEvents(
  { place, ...options }: Omit<Telling, 'agent'>,
  listener: (agent: string, message: ReceivedMessage) => void,
): Promise<Stop> {
  const { topics } = settingsOf(options);
  return place.broker.subscribe({
    filter: topics.eventFilter(readNamespace(place.namespace)),
    handle: (message) => listener(message.topic.slice(message.topic.lastIndexOf('/') + 1), message),
  });
}
