import type { MeshContext } from '../grammar.ts';
import { getAgentRequestTopic } from './topics.ts';

/** One replica of an agent: what is about a task that it has goes to it alone. SAM, whose agents are one process each, has no such topic. */
export function getInstanceTopic({ namespace, instance }: Pick<MeshContext, 'namespace' | 'instance'>, agent: string): string {
  return `${getAgentRequestTopic(namespace, agent)}/${instance}`;
}

/** Every replica of an agent. */
export function getEveryInstanceTopic(namespace: string, agent: string): string {
  return `${getAgentRequestTopic(namespace, agent)}/_all`;
}
