import { expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import type { Mesh } from '#mesh';
import { joinMesh, mqttGrammar, onMqttEvents, publishMqttEvent } from '#mesh';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { startMosquitto } from '../support/brokers.ts';
import { jsonOf, onMosquitto, PLACE, serveAgent } from './mqtt01-support.ts';

onMosquitto('discovery with A2A over MQTT 0.1', (suite) => {
  const { open } = suite;

  async function joined(url: string): Promise<Mesh> {
    const mesh = joinMesh({ broker: await connectMqtt({ url, sessionSeconds: 0 }), namespace: PLACE, grammar: mqttGrammar() });
    open.push(() => mesh.close());
    return mesh;
  }

  it('finds agents by their retained cards, also those of other products', async () => {
    const mesh = await joined(suite.running.url);
    const other = await connectMqtt({ url: suite.running.url, sessionSeconds: 0 });
    open.push(() => other.close());
    const topic = `$a2a/v1/discovery/${PLACE}/python`;
    const card = {
      name: 'Python',
      description: 'by the Python SDK',
      version: '1',
      capabilities: {},
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
      skills: [],
      supportedInterfaces: [{ url: 'mqtt://host:1883', protocolBinding: 'MQTTv5+JSONRPCv2', protocolVersion: '1.0.0' }],
    };
    const online = { 'a2a-status': 'online', 'a2a-status-source': 'agent' };
    await other.publish({ topic, payload: Buffer.from(JSON.stringify(card)), retain: true, properties: online });
    const served = await serveAgent(suite.running.url, 'found');
    const registry = await mesh.discover();
    const names = (): string[] => registry.peers().map(({ name }) => name);
    await expect.poll(names).toEqual(['found', 'python']);
    await other.publish({ topic, payload: Buffer.alloc(0), retain: true });
    await expect.poll(names).toEqual(['found']);
    await served.close();
    await expect.poll(names).toEqual([]);
  });

  it('drops agents that a restarted broker does not know, and remembered ones that do not appear', async () => {
    const broker = await startMosquitto();
    open.push(() => broker.stop());
    const [gone, stays] = [await serveAgent(broker.url, 'gone'), await serveAgent(broker.url, 'stays')];
    open.push(() => stays.close());
    const mesh = await joined(broker.url);
    const { card } = builtInAgents.get('echo')?.create() ?? { card: undefined };
    const known = card === undefined ? [] : [{ name: 'remembered', card }];
    const registry = await mesh.discover({ agentMsMax: 1500, known });
    const names = (): string[] => registry.peers().map(({ name }) => name);
    await expect.poll(names).toEqual(['gone', 'remembered', 'stays']);
    await expect.poll(names).toEqual(['gone', 'stays']);
    await broker.kill(); // with its retained cards
    await gone.close();
    await broker.start();
    await expect.poll(names).toEqual(['stays']);
  });

  it('receives events that agents publish', async () => {
    const broker = await connectMqtt({ url: suite.running.url, sessionSeconds: 0 });
    open.push(() => broker.close());
    const mesh = { broker, namespace: PLACE };
    const heard: unknown[] = [];
    await onMqttEvents({ mesh }, (agent, message) => heard.push([agent, jsonOf(message)]));
    await publishMqttEvent({ temperature: 21 }, { mesh, agent: 'sensor' });
    await expect.poll(() => heard).toEqual([['sensor', { temperature: 21 }]]);
  });
});
