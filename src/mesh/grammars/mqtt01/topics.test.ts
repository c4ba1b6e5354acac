import { expect, it } from 'vitest';
import { clientIdOf, mqttId, mqttTopics, poolGroup, readNamespace } from './topics.ts';

const who = { org: 'acme', unit: 'plant-1', agent: 'scheduler' };

it.each(['$a2a/v1', 'a2a/v1', 'a2a/v1/'])('has every topic of the profile under %s', (root) => {
  const topics = mqttTopics(root);
  const at = root.replace(/\/$/, '');
  expect(topics.discovery(who)).toBe(`${at}/discovery/acme/plant-1/scheduler`);
  expect(topics.discoveryFilter(who)).toBe(`${at}/discovery/acme/plant-1/+`);
  expect(topics.request(who)).toBe(`${at}/request/acme/plant-1/scheduler`);
  expect(topics.pool(who, 'solvers')).toBe(`${at}/request/acme/plant-1/pool/solvers`);
  expect(topics.reply({ ...who, agent: 'desk-7' }, '9f3ac1d20b')).toBe(`${at}/reply/acme/plant-1/desk-7/9f3ac1d20b`);
  expect(topics.event(who)).toBe(`${at}/event/acme/plant-1/scheduler`);
  expect(topics.requesterOf(`${at}/reply/acme/plant-1/desk-7/9f3ac1d20b`)).toEqual({ ...who, agent: 'desk-7' });
});

it.each([
  '$a2a/v1/reply/acme/plant-1/desk-7',
  '$a2a/v1/request/acme/plant-1/scheduler/x',
  '$a2a/v1/discovery/acme/plant-1/scheduler/x',
  'a2a/v1/reply/acme/plant-1/desk-7/x',
  '$SYS/broker/x/y/z',
  '$a2a/v1/reply/acme/+/desk-7/x',
  '$a2a/v1/reply/acme//desk-7/x',
  '$a2a/v1/reply/acme/plant-1/desk-7/#',
  '',
])('does not accept %s as a reply topic', (topic) => {
  expect(mqttTopics().requesterOf(topic)).toBeUndefined();
});

it('refuses ids that would change the topic', () => {
  for (const agent of ['', 'a/b', '+', '#', 'a b', 'ä', 'a\0', '$share'])
    expect(() => mqttTopics().request({ ...who, agent })).toThrow(TypeError);
  for (const root of ['', '/', 'a//b', 'a/+', '#']) expect(() => mqttTopics(root)).toThrow(TypeError);
  for (const namespace of ['acme', 'acme/plant/1', 'acme/', 'a b/c']) expect(() => readNamespace(namespace)).toThrow('acme/plant-1');
  expect(mqttId('Täsk Planner/2')).toBe('Task_Planner_2');
});

it('limits the length of a pool’s group and keeps groups apart', () => {
  expect(poolGroup(who, 'solvers')).toBe('a2a.acme.plant_1.solvers');
  const [one, two] = ['a', 'b'].map((end) => poolGroup(who, 'p'.repeat(100) + end));
  expect(one).toHaveLength(64);
  expect(one).not.toBe(two);
  expect(clientIdOf(who)).toBe('acme/plant-1/scheduler');
});
