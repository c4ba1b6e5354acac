import { describe, expect, test } from 'vitest';
import { matches } from '../../topics.ts';
import * as topics from './topics.ts';

describe('topics of Solace Agent Mesh', () => {
  test('match the examples of SAM’s documentation', () => {
    expect(topics.getAgentRequestTopic('production', 'OrderValidator')).toBe('production/a2a/v1/agent/request/OrderValidator');
    expect(topics.getGatewayResponseTopic('production', 'gw_123', 'task_abc')).toBe('production/a2a/v1/gateway/response/gw_123/task_abc');
    expect(topics.getPeerAgentStatusTopic('production', 'WorkflowOrchestrator', 'task_xyz')).toBe(
      'production/a2a/v1/agent/status/WorkflowOrchestrator/task_xyz',
    );
    expect(topics.getAgentDiscoveryTopic('production')).toBe('production/a2a/v1/discovery/agentcards');
    expect(topics.getDiscoverySubscriptionTopic('production')).toBe('production/a2a/v1/discovery/>');
  });
  test('accept a namespace with levels and a trailing slash', () => {
    expect(topics.getA2ABaseTopic('acme/ai/')).toBe('acme/ai/a2a/v1');
    expect(topics.getAgentDeregisteredTopic('acme/ai')).toBe('acme/ai/a2a/events/agent/deregistered');
  });
  test('each subscription matches its topic', () => {
    const pairs = [
      [topics.getAgentResponseSubscriptionTopic('n', 'A'), topics.getAgentResponseTopic('n', 'A', 't')],
      [topics.getGatewayResponseSubscriptionTopic('n', 'g'), topics.getGatewayResponseTopic('n', 'g', 't')],
      [topics.getDiscoverySubscriptionTopic('n'), topics.getGatewayDiscoveryTopic('n')],
    ] as const;
    for (const [subscription, topic] of pairs) expect(matches(topics.filterOf(subscription), topic), `${subscription} ${topic}`).toBe(true);
  });
  test.each(['', 'a/b', '#', '+', '>', '*', 'a\u0000b', 'a\nb'])('reject a name that is topic syntax: %j', (name) => {
    expect(() => topics.getAgentRequestTopic('n', name)).toThrow("can't be a level");
  });
  test.each(['', '/', 'a//b', 'a/#', '+', '*/b'])('reject a namespace with wildcards or empty levels: %j', (namespace) => {
    expect(() => topics.getA2ABaseTopic(namespace)).toThrow('is not a namespace');
  });
  test('the last level is the task id', () => {
    expect(topics.taskIdIn('n/a2a/v1/gateway/response/gw/task_abc')).toBe('task_abc');
    expect(topics.taskIdIn('n/')).toBeUndefined();
  });
});
