import { withoutEndSlashes } from '#protocol';
import { isLevel } from '../../topics.ts';

/**
 * The topics of Solace Agent Mesh, `{namespace}/a2a/v1/{component}/{direction}/{target}/{task_id}` (docs/dialects/sam.md), under the names of
 * SAM's own helpers. Subscriptions are in Solace's syntax: `*` for one level and `>` for the rest. `filterOf` converts them to MQTT filters.
 */

export function getA2ABaseTopic(namespace: string): string {
  const trimmed = withoutEndSlashes(namespace);
  if (trimmed === '' || !trimmed.split('/').every(isLevel))
    throw new TypeError(`${JSON.stringify(namespace)} is not a namespace: use levels separated by /, without wildcards`);
  return `${trimmed}/a2a/v1`;
}

export function getAgentRequestTopic(namespace: string, agentName: string): string {
  return join(namespace, 'agent/request', agentName);
}

export function getAgentResponseTopic(namespace: string, delegatingAgent: string, subTaskId: string): string {
  return join(namespace, 'agent/response', delegatingAgent, subTaskId);
}

export function getAgentResponseSubscriptionTopic(namespace: string, selfAgent: string): string {
  return `${join(namespace, 'agent/response', selfAgent)}/>`;
}

export function getPeerAgentStatusTopic(namespace: string, delegatingAgent: string, subTaskId: string): string {
  return join(namespace, 'agent/status', delegatingAgent, subTaskId);
}

export function getAgentStatusSubscriptionTopic(namespace: string, selfAgent: string): string {
  return `${join(namespace, 'agent/status', selfAgent)}/>`;
}

export function getGatewayResponseTopic(namespace: string, gatewayId: string, taskId: string): string {
  return join(namespace, 'gateway/response', gatewayId, taskId);
}

export function getGatewayResponseSubscriptionTopic(namespace: string, gatewayId: string): string {
  return `${join(namespace, 'gateway/response', gatewayId)}/>`;
}

export function getGatewayStatusTopic(namespace: string, gatewayId: string, taskId: string): string {
  return join(namespace, 'gateway/status', gatewayId, taskId);
}

export function getGatewayStatusSubscriptionTopic(namespace: string, gatewayId: string): string {
  return `${join(namespace, 'gateway/status', gatewayId)}/>`;
}

export function getClientResponseTopic(namespace: string, clientId: string): string {
  return join(namespace, 'client/response', clientId);
}

export function getClientStatusTopic(namespace: string, clientId: string, taskId: string): string {
  return join(namespace, 'client/status', clientId, taskId);
}

export function getClientStatusSubscriptionTopic(namespace: string, clientId: string): string {
  return `${join(namespace, 'client/status', clientId)}/>`;
}

export function getAgentDiscoveryTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/discovery/agentcards`;
}

export function getGatewayDiscoveryTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/discovery/gatewaycards`;
}

export function getDiscoverySubscriptionTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/discovery/>`;
}

export function getTrustCardTopic(namespace: string, componentType: string, componentId: string): string {
  return join(namespace, 'trust', componentType, componentId);
}

export function getTrustCardSubscriptionTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/trust/*/*`;
}

/** `{namespace}/a2a/events/agent/deregistered`. It is not below the versioned topics. */
export function getAgentDeregisteredTopic(namespace: string): string {
  return `${root(namespace)}/a2a/events/agent/deregistered`;
}

export function getSamEventsTopic(namespace: string, category: string, action: string): string {
  return `${root(namespace)}/sam/events/${[category, action].map(level).join('/')}`;
}

export function getSamEventsSubscriptionTopic(namespace: string, category: string): string {
  return `${root(namespace)}/sam/events/${level(category)}/>`;
}

export function getFeedbackTopic(namespace: string): string {
  return `${root(namespace)}/sam/v1/feedback/submit`;
}

/** Converts a Solace subscription to an MQTT filter. */
export function filterOf(subscription: string): string {
  const levels = subscription.split('/');
  return levels.map((one, at) => (one === '>' && at === levels.length - 1 ? '#' : one === '*' ? '+' : one)).join('/');
}

/** The task id of a response or status topic, which is its last level. */
export function taskIdIn(topic: string): string | undefined {
  const last = topic.slice(topic.lastIndexOf('/') + 1);
  return last === '' ? undefined : last;
}

function root(namespace: string): string {
  return getA2ABaseTopic(namespace).slice(0, -'/a2a/v1'.length);
}

function join(namespace: string, direction: string, ...targets: readonly string[]): string {
  return [getA2ABaseTopic(namespace), direction, ...targets.map(level)].join('/');
}

/** A name in a topic stays one level of it (docs/faults.md, S6 and B8). */
function level(name: string): string {
  if (!isLevel(name)) throw new TypeError(`${JSON.stringify(name).slice(0, 100)} can't be a level of a topic`);
  return name;
}
