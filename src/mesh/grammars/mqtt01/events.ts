import type { Json } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshContext, Stop } from '../grammar.ts';
import type { MqttGrammarOptions } from './settings.ts';
import { settingsOf } from './settings.ts';
import { mqttId, readNamespace } from './topics.ts';

/**
 * Publishes an event of an agent to all subscribers (A2A over MQTT 0.1 §2). It may be lost, and there
 * is no response.
 */
export async function publishMqttEvent(event: Json, { mesh, agent, ...options }: AgentEvents): Promise<void> {
  await mesh.broker.publish({
    topic: settingsOf(options).topics.event({ ...readNamespace(mesh.namespace), agent: mqttId(agent) }),
    payload: new TextEncoder().encode(JSON.stringify(event)),
    contentType: 'application/json',
    qos: 0,
  });
}

interface AgentEvents extends MqttGrammarOptions {
  readonly mesh: Pick<MeshContext, 'broker' | 'namespace'>;
  readonly agent: string;
}

/** Subscribes to the events of all agents of a unit. */
export async function onMqttEvents(
  { mesh, ...options }: Omit<AgentEvents, 'agent'>,
  listener: (agent: string, message: ReceivedMessage) => void,
): Promise<Stop> {
  const { topics } = settingsOf(options);
  return mesh.broker.subscribe({
    filter: topics.eventFilter(readNamespace(mesh.namespace)),
    handle: (message) => listener(message.topic.slice(message.topic.lastIndexOf('/') + 1), message),
  });
}
