import type { MeshContext } from '../grammar.ts';
import { getAgentRequestTopic } from './topics.ts';

/**
 * The topic of one replica, for requests about a task that it has. SAM, whose agents are one process
 * each, has no such topic.
 */
export function getInstanceTopic({ namespace, instance }: Pick<MeshContext, 'namespace' | 'instance'>, agent: string): string {
  return `${getAgentRequestTopic(namespace, agent)}/${instance}`;
}

/** The topic that every replica of an agent subscribes to. */
export function getEveryInstanceTopic(namespace: string, agent: string): string {
  return `${getAgentRequestTopic(namespace, agent)}/_all`;
}
