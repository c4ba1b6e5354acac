import type { Json } from '#protocol';
import type { Incoming } from '../../broker.ts';
import type { MeshPlace, Stop } from '../grammar.ts';
import type { MqttOptions } from './settings.ts';
import { settingsOf } from './settings.ts';
import { mqttId, placeIn } from './topics.ts';

/** What an agent tells everybody (reference/mqtt §2, event). It may be lost on the way, and nobody answers. */
export async function publishMqttEvent(event: Json, { place, agent, ...options }: Telling): Promise<void> {
  await place.broker.publish({
    topic: settingsOf(options).topics.event({ ...placeIn(place.namespace), agent: mqttId(agent) }),
    payload: new TextEncoder().encode(JSON.stringify(event)),
    contentType: 'application/json',
    assured: false,
  });
}

interface Telling extends MqttOptions {
  readonly place: Pick<MeshPlace, 'broker' | 'namespace'>;
  readonly agent: string;
}

/** Hears what the agents of a unit tell everybody. */
export async function onMqttEvents(
  { place, ...options }: Omit<Telling, 'agent'>,
  listener: (agent: string, message: Incoming) => void,
): Promise<Stop> {
  const { topics } = settingsOf(options);
  return place.broker.subscribe({
    filter: topics.eventFilter(placeIn(place.namespace)),
    take: (message) => listener(message.topic.slice(message.topic.lastIndexOf('/') + 1), message),
  });
}
