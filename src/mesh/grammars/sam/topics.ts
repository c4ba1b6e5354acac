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

/** All status events for a delegating agent: `…/agent/status/{agent}/>`. */
export function getAgentStatusSubscriptionTopic(namespace: string, selfAgent: string): string {
  return `${join(namespace, 'agent/status', selfAgent)}/>`;
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

/** All status events for a gateway: `…/gateway/status/{gateway}/>`. */
export function getGatewayStatusSubscriptionTopic(namespace: string, gatewayId: string): string {
  return `${join(namespace, 'gateway/status', gatewayId)}/>`;
}

/** Where a client without a gateway receives responses: `…/client/response/{client}`. */
export function getClientResponseTopic(namespace: string, clientId: string): string {
  return join(namespace, 'client/response', clientId);
}

/** Where such a client receives status events: `…/client/status/{client}/{task}`. */
export function getClientStatusTopic(namespace: string, clientId: string, taskId: string): string {
  return join(namespace, 'client/status', clientId, taskId);
}

/** All status events for such a client: `…/client/status/{client}/>`. */
export function getClientStatusSubscriptionTopic(namespace: string, clientId: string): string {
  return `${join(namespace, 'client/status', clientId)}/>`;
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

/** Where a component publishes its trust card: `…/trust/{type}/{id}`. */
export function getTrustCardTopic(namespace: string, componentType: string, componentId: string): string {
  return join(namespace, 'trust', componentType, componentId);
}

/** All trust cards, of every type and id. */
export function getTrustCardSubscriptionTopic(namespace: string): string {
  return `${getA2ABaseTopic(namespace)}/trust/*/*`;
}

/** `{namespace}/a2a/events/agent/deregistered`. It is not below the versioned topics. */
export function getAgentDeregisteredTopic(namespace: string): string {
  return `${root(namespace)}/a2a/events/agent/deregistered`;
}

/** Events of SAM itself: `{namespace}/sam/events/{category}/{action}`. */
export function getSamEventsTopic(namespace: string, category: string, action: string): string {
  return `${root(namespace)}/sam/events/${[category, action].map(level).join('/')}`;
}

/** All events of one category: `{namespace}/sam/events/{category}/>`. */
export function getSamEventsSubscriptionTopic(namespace: string, category: string): string {
  return `${root(namespace)}/sam/events/${level(category)}/>`;
}

/** Where users' feedback is published: `{namespace}/sam/v1/feedback/submit`. */
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
