import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '#protocol';
import { readWorkflow } from './read.ts';

const agent = (id: string, more: JsonObject = {}): JsonObject => ({ id, type: 'agent', agent_name: 'x', ...more });
const flow = (nodes: readonly Json[], more: JsonObject = {}): JsonObject => ({ description: 'd', nodes, output_mapping: {}, ...more });

describe('reading a workflow', () => {
  test('reads an app’s configuration in snake_case', () => {
    const read = readWorkflow({
      name: 'Orders',
      workflow: flow([agent('a', { timeout: '5m', retry_strategy: { limit: 2, backoff: { duration: '2s', max_duration: '1m' } } })], {
        fail_fast: false,
        on_exit: { on_failure: 'a' },
      }),
    });
    expect(read).toMatchObject({ name: 'Orders', failFast: false, onExit: { onFailure: 'a' } });
    expect(read.nodes.get('a')).toMatchObject({
      timeoutMs: 300_000,
      retry: { limit: 2, policy: 'OnFailure', backoffMs: 2000, factor: 2, backoffMsMax: 60_000 },
    });
  });
  test('reads Argo’s names and camelCase', () => {
    const nodes = [
      agent('a'),
      agent('b'),
      { id: 's', type: 'switch', dependencies: ['a'], cases: [JSON.parse('{"when":"true","then":"b"}')] },
      { id: 'm', type: 'map', withItems: [1], node: 'inner', concurrencyLimit: 2 },
      agent('inner'),
    ];
    const read = readWorkflow({ description: 'd', nodes, outputMapping: { x: 1 }, onExit: 'a', failFast: true });
    expect(read.nodes.get('s')).toMatchObject({ dependsOn: ['a'], cases: [{ when: 'true', node: 'b' }] });
    expect(read.nodes.get('b')?.dependsOn).toEqual(['s']);
    expect(read.nodes.get('m')).toMatchObject({ items: [1], concurrency: 2, itemsMax: 100 });
    expect(read.onExit).toEqual({ always: 'a' });
  });
  test.each<[string, Json, RegExp]>([
    ['nothing', null, /must be an object/],
    ['no description', { nodes: [agent('a')], output_mapping: {} }, /description: must be a non-empty string/],
    ['no nodes', flow([]), /nodes: must be 1 to/],
    ['a bad id', flow([agent('a b')]), /nodes\[0\]\.id: must consist of letters/],
    ['two of one name', flow([agent('a'), agent('a')]), /two nodes a/],
    ['an unknown type', flow([{ id: 'a', type: 'shell' }]), /nodes\[0\]\.type: must be agent/],
    ['a missing node', flow([agent('a', { depends_on: ['b'] })]), /node a: there is no node b/],
    ['a cycle', flow([agent('a', { depends_on: ['b'] }), agent('b', { depends_on: ['a'] })]), /a → b → a/],
    ['a loop over itself', flow([{ id: 'l', type: 'loop', node: 'l', condition: 'true' }]), /can’t repeat itself/],
    ['a bad condition', flow([agent('a', { when: '1 +' })]), /node a: the condition/],
    ['a bad duration', flow([agent('a', { timeout: 'soon' })]), /timeout: must be a duration/],
    ['a bad policy', flow([agent('a')], { retry_strategy: { retry_policy: 'Never' } }), /must be Always, OnFailure or OnError/],
    ['an unknown exit node', flow([agent('a')], { on_exit: 'z' }), /on_exit: there is no node z/],
  ])('reports the problem: %s', (_, raw, problem) => expect(() => readWorkflow(raw)).toThrow(problem));
});
