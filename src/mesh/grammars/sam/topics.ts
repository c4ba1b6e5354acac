import { withoutEndSlashes } from '#protocol';
import { isLevel } from '../../topics.ts';

// The topics of Solace Agent Mesh, `{namespace}/a2a/v1/{component}/{direction}/{target}/{task_id}` (docs/dialects/sam.md), under the names
// of SAM's own helpers. Subscriptions are in Solace's syntax: `*` for one level and `>` for the rest. `filterOf` converts them to MQTT filters.

/**
 * `{namespace}/a2a/v1`, the prefix of all versioned topics. Throws a TypeError for a namespace with
 * wildcards or empty levels.
 */
export function getA2ABaseTopic(namespace: string): string {
  const trimmed = withoutEndSlashes(namespace);
  if (trimmed === '' || !trimmed.split('/').every(isLevel))
    throw new TypeError(`${JSON.stringify(namespace)} is not a namespace: use levels separated by /, without wildcards`);
  return `${trimmed}/a2a/v1`;
}

/** Where an agent receives requests: `…/agent/request/{agent}`. */
export function getAgentRequestTopic(namespace: string, agentName: string): string {
  return join(namespace, 'agent/request', agentName);
}

/** Where a delegating agent receives the final response: `…/agent/response/{agent}/{subTask}`. */
export function getAgentResponseTopic(namespace: string, delegatingAgent: string, subTaskId: string): string {
  return join(namespace, 'agent/response', delegatingAgent, subTaskId);
}

/** All final responses to a delegating agent: `…/agent/response/{agent}/>`. */
export function getAgentResponseSubscriptionTopic(namespace: string, selfAgent: string): string {
  return `${join(namespace, 'agent/response', selfAgent)}/>`;
}

/** Where a delegating agent receives status events: `…/agent/status/{agent}/{subTask}`. */
export function getPeerAgentStatusTopic(namespace: string, delegatingAgent: string, subTaskId: string): string {
  return join(namespace, 'agent/status', delegatingAgent, subTaskId);
}

/** Where a gateway receives the final response: `…/gateway/response/{gateway}/{task}`. */
export function getGatewayResponseTopic(namespace: string, gatewayId: string, taskId: string): string {
  return join(namespace, 'gateway/response', gatewayId, taskId);
}

/** All final responses to a gateway: `…/gateway/response/{gateway}/>`. */
export function getGatewayResponseSubscriptionTopic(namespace: string, gatewayId: string): string {
  return `${join(namespace, 'gateway/response', gatewayId)}/>`;
}

/** Where a gateway receives status events: `…/gateway/status/{gateway}/{task}`. */
export function getGatewayStatusTopic(namespace: string, gatewayId: string, taskId: string): string {
  return join(namespace, 'gateway/status', gatewayId, taskId);
}

/** Where a client without a gateway receives responses: `…/client/response/{client}`. */
export function getClientResponseTopic(namespace: string, clientId: string): string {
  return join(namespace, 'client/response', clientId);
}

/** Where agents publish their cards: `…/discovery/agentcards`. */
export function getAgentDiscoveryTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/discovery/agentcards`;
}

/** Where gateways publish their cards: `…/discovery/gatewaycards`. */
export function getGatewayDiscoveryTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/discovery/gatewaycards`;
}

/** All cards: `…/discovery/>`. */
export function getDiscoverySubscriptionTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/discovery/>`;
}

/** `{namespace}/a2a/events/agent/deregistered`. It is not below the versioned topics. */
export function getAgentDeregisteredTopic(namespace: string): string {
  return `${root(namespace)}/a2a/events/agent/deregistered`;
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
