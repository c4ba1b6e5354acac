import { afterEach, expect, it } from 'vitest';
import type { Broker, Mesh, PeerChange, RegistryOptions } from '#mesh';
import { joinMesh, samTopics } from '#mesh';
import { CARD } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { NAMESPACE, onEveryBroker, type TestBroker } from './support.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
const text = (value: unknown): Uint8Array => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const cardOf = (name: string, more: object = {}) => ({
  ...{
    name,
    description: 'd',
    version: '1',
    protocolVersion: '0.3.0',
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  },
  url: `solace:${NAMESPACE}/a2a/v1/agent/request/${name}`,
  ...more,
});

onEveryBroker('discovery', (start) => {
  const openedRegistry = async (options: RegistryOptions = {}) => {
    const ground: TestBroker = await start();
    open.push(() => ground.stop());
    const member = async (): Promise<{ mesh: Mesh; broker: Broker }> => {
      const broker = await ground.connect();
      const mesh = joinMesh({ broker, namespace: NAMESPACE, announceMs: 200 });
      open.push(() => mesh.close());
      return { mesh, broker };
    };
    const { mesh, broker } = await member();
    const registry = await mesh.discover(options);
    const changes: PeerChange[] = [];
    registry.onChange((change) => changes.push(change));
    return { registry, changes, member, broker, mesh, told: () => changes.map(({ kind, peer }) => `${kind} ${peer.name}`) };
  };

  it('reports who joins, changes and leaves', async () => {
    const { registry, member, told } = await openedRegistry();
    const { mesh } = await member();
    const stop = await mesh.announce({ kind: 'agent', name: 'a', card: CARD, instance: 'one' });
    await eventually(() => expect(registry.agent('a')).toMatchObject({ name: 'a', replicas: 1, card: { description: CARD.description } }));
    await stop();
    await eventually(() => expect(registry.agent('a')).toBeUndefined());
    expect(told()).toEqual(['joined a', 'left a']);
  });

  it('lists an agent as long as one of its replicas is online', async () => {
    const { registry, member } = await openedRegistry();
    const [one, two] = [await member(), await member()];
    const stop = await one.mesh.announce({ kind: 'agent', name: 'a', card: CARD, instance: 'one' });
    await two.mesh.announce({ kind: 'agent', name: 'a', card: CARD, instance: 'two' });
    await eventually(() => expect(registry.agent('a')?.replicas).toBe(2));
    await stop();
    await eventually(() => expect(registry.agent('a')?.replicas).toBe(1));
  });

  it('drops silent participants: agents sooner than gateways', async () => {
    const { registry, broker } = await openedRegistry({ agentMsMax: 300, gatewayMsMax: 3000, sweepMs: 50 });
    const topic = samTopics.getAgentDiscoveryTopic(NAMESPACE);
    // On a busy machine the agent may be dropped before the gateway is heard. Then both announce themselves again.
    await eventually(async () => {
      await broker.publish({ topic, payload: text(cardOf('a')) });
      await broker.publish({ topic: topic.replace('agentcards', 'gatewaycards'), payload: text(cardOf('g')) });
      await eventually(() => expect(registry.peers().map(({ kind, name }) => `${kind} ${name}`)).toEqual(['agent a', 'gateway g']), 250);
    });
    await eventually(() => expect(registry.peers().map(({ name }) => name)).toEqual(['g']));
    await eventually(() => expect(registry.peers()).toEqual([]));
  });

  it('lists only agents that allow and deny let through', async () => {
    const { registry, broker } = await openedRegistry({ allow: ['Order*'], deny: ['*Test'] });
    for (const name of ['OrderOne', 'OrderTest', 'Other'])
      await broker.publish({ topic: samTopics.getAgentDiscoveryTopic(NAMESPACE), payload: text(cardOf(name)) });
    await eventually(() => expect(registry.peers().map(({ name }) => name)).toEqual(['OrderOne']));
  });

  it('B8: ignores retained cards, cards of other namespaces and malformed ones', async () => {
    const { member } = await openedRegistry();
    const { broker } = await member();
    const topic = samTopics.getAgentDiscoveryTopic(NAMESPACE);
    await broker.publish({ topic, payload: text(cardOf('poison')), retain: true });
    const late = await member();
    const registry = await late.mesh.discover();
    const bad = [
      '{',
      '[]',
      'null',
      '{"url":1}',
      cardOf('x', { url: 'solace:other/a2a/v1/agent/request/x' }),
      cardOf('a/b'),
      cardOf('y', { url: 'https://evil.example' }),
    ];
    for (const payload of bad) await broker.publish({ topic, payload: text(payload) });
    await broker.publish({ topic: samTopics.getAgentDeregisteredTopic(NAMESPACE), payload: text('{"agent_name":7}') });
    await broker.publish({ topic, payload: text(cardOf('good')) });
    await eventually(() => expect(registry.agent('good')).toBeDefined());
    expect(registry.peers().map(({ name }) => name)).toEqual(['good']);
    expect(late.mesh.counts.ignored).toBeGreaterThanOrEqual(bad.length);
    await broker.publish({ topic, payload: new Uint8Array(0), retain: true });
  });

  it('finds 1,000 agents', async () => {
    const { registry, member } = await openedRegistry();
    const { broker } = await member();
    await Promise.all(
      Array.from({ length: 1000 }, (_, at) =>
        broker.publish({ topic: samTopics.getAgentDiscoveryTopic(NAMESPACE), payload: text(cardOf(`agent_${at}`)) }),
      ),
    );
    await eventually(() => expect(registry.peers().length).toBe(1000));
  });
});
