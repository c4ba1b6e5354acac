import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Broker, ReceivedMessage } from '#mesh';
import type { ParleyConfig } from '#server';
import { connectBroker } from '../../../src/cli/mesh/broker.ts';
import { serveOnMesh } from '../../../src/cli/mesh/serving.ts';
import { findAgent } from '../../../src/cli/serve/find-agent.ts';
import { logFor } from '../../../src/server/adapters/serve-configured.ts';
import { eventually } from '../../support/eventually.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { Checks } from './serving.ts';
import { resolved } from './serving.ts';

const folder = scratchFolder();

const MQTT: ParleyConfig = { meshGrammar: 'mqtt01', namespace: 'acme/lab' };

export const MESH_CHECKS: Checks = {
  mesh: async () => expect(await announcedAt('parley/a2a/v1/discovery/agentcards')).toContain('solace:parley/a2a/v1/agent/request/'),
  namespace: async () => {
    const card = await announcedAt('acme/lab/a2a/v1/discovery/agentcards', { namespace: 'acme/lab' });
    expect(card).toContain('solace:acme/lab/a2a/v1/agent/request/');
  },
  meshGrammar: async () => expect(await announcedAt('$a2a/v1/discovery/acme/lab/echo', MQTT)).toContain('MQTTv5+JSONRPCv2'),
  meshRoot: async () => {
    const card = await announcedAt('own/v1/discovery/acme/lab/echo', { ...MQTT, meshRoot: 'own/v1' });
    expect(card).toContain('"root":"own/v1"');
  },
  meshInstance: async () => {
    const card = await announcedAt('$a2a/v1/discovery/acme/lab/echo-7', { ...MQTT, meshInstance: '7' });
    expect(card).toContain('"agent":"echo-7"');
  },
  meshPools: async () => {
    const responseTopic = '$a2a/v1/reply/acme/lab/me/abc';
    const message = { messageId: 'm', taskId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x' }] };
    const payload = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 't', method: 'SendMessage', params: { message } }));
    const topic = '$a2a/v1/request/acme/lab/pool/workers';
    const answer = await heardOn(responseTopic, { ...MQTT, meshPools: ['workers'] }, (broker) =>
      broker.publish({ topic, payload, responseTopic, correlation: Buffer.from('c') }),
    );
    expect(answer.properties).toMatchObject({ 'a2a-responder-agent-id': 'echo' });
    expect(textOf(answer)).toContain('TASK_STATE_COMPLETED');
  },
  meshScopes: async () => {
    const answer = await answered({ kind: 'text', text: 'x' }, { meshScopes: ['tasks:read'] });
    expect(answer).toContain('this needs the scope tasks:write');
  },
  artifacts: async () => {
    const file = { name: 'f.bin', mimeType: 'application/octet-stream', bytes: Buffer.alloc(150_000).toString('base64') };
    expect(await answered({ kind: 'file', file }, { artifacts: join(folder, 'artifacts') })).toContain('artifact://');
  },
  artifactsLayout: async () => {
    const place = join(folder, 'shared');
    const file = { name: 'f.bin', mimeType: 'application/octet-stream', bytes: Buffer.from('small').toString('base64') };
    await answered({ kind: 'file', file }, { artifacts: place, artifactsLayout: 'sam' });
    expect(readdirSync(join(place, 'parley'), { recursive: true }).map(String)).toContainEqual(expect.stringMatching(/f\.bin\/0\.meta$/));
  },
};

/** The card that a node publishes on a topic. */
async function announcedAt(topic: string, config: ParleyConfig = {}): Promise<string> {
  return textOf(await heardOn(topic, config));
}

/** The reply of a node to one message with this part. */
async function answered(part: object, config: ParleyConfig): Promise<string> {
  const message = { kind: 'message', messageId: 'm', contextId: 'c', role: 'user', parts: [part] };
  const payload = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 't', method: 'message/send', params: { message } }));
  const answer = await heardOn('parley/a2a/v1/client/response/c', config, (broker) =>
    broker.publish({ topic: 'parley/a2a/v1/agent/request/echo', payload, properties: { clientId: 'c' } }),
  );
  return textOf(answer);
}

/** The first message on a topic of an in-process broker. The subscription exists before the node starts. */
async function heardOn(filter: string, config: ParleyConfig, ask?: (broker: Broker) => Promise<unknown>): Promise<ReceivedMessage> {
  const broker = await connectBroker('memory');
  const heard: ReceivedMessage[] = [];
  // A retained message would be one of an earlier check.
  await broker.subscribe({ filter, handle: (message) => void (message.isRetained || heard.push(message)) });
  const settings = resolved({ port: 0, memory: true, agents: ['echo'], log: 'silent', mesh: 'memory', ...config });
  const found = await Promise.all(settings.agents.map((given) => findAgent(given, settings)));
  const server = await serveOnMesh(found, settings, { log: logFor(settings) });
  try {
    await ask?.(broker);
    await eventually(() => heard.length > 0);
    return heard[0] as ReceivedMessage;
  } finally {
    await server.close();
    await broker.close();
  }
}

function textOf({ payload }: ReceivedMessage): string {
  return Buffer.from(payload).toString('utf8');
}
