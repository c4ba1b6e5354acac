import type { MeshContext } from '../grammar.ts';
import { relayTopics } from '../shared/relay.ts';
import { getAgentRequestTopic } from './topics.ts';

/**
 * The topic of one replica, for requests about a task that it has. SAM, whose agents are one process
 * each, has no such topic.
 */
export function getInstanceTopic({ namespace, instance }: Pick<MeshContext, 'namespace' | 'instance'>, agent: string): string {
  return relayTopics(getAgentRequestTopic(namespace, agent), { instance }).own;
}
