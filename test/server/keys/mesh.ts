import { join } from 'node:path';
import { expect } from 'vitest';
import type { Broker } from '#mesh';
import type { ParleyConfig } from '#server';
import { findAgent } from '../../../src/cli/agents.ts';
import { connectBroker } from '../../../src/cli/mesh/broker.ts';
import { serveOnMesh } from '../../../src/cli/mesh/serving.ts';
import { logFor } from '../../../src/server/adapters/node-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { Checks } from './serving.ts';
import { resolved } from './serving.ts';

const folder = scratchFolder();

export const MESH_CHECKS: Checks = {
  mesh: async () => expect(await announced({}, 'parley')).toContain('solace:parley/a2a/v1/agent/request/'),
  namespace: async () => expect(await announced({ namespace: 'acme/lab' }, 'acme/lab')).toContain('solace:acme/lab/a2a/v1/agent/request/'),
  meshScopes: async () => {
    const answer = await answered({ meshScopes: ['tasks:read'] }, { kind: 'text', text: 'x' });
    expect(answer).toContain('this needs the scope tasks:write');
  },
  artifacts: async () => {
    const file = { name: 'f.bin', mimeType: 'application/octet-stream', bytes: Buffer.alloc(150_000).toString('base64') };
    expect(await answered({ artifacts: join(folder, 'artifacts') }, { kind: 'file', file })).toContain('artifact://');
  },
};

/** The card by which a node announces its agent in a namespace. */
function announced(config: ParleyConfig, namespace: string): Promise<string> {
  return onMesh(config, `${namespace}/a2a/v1/discovery/agentcards`);
}

/** What a node says to one message with this part. */
function answered(config: ParleyConfig, part: object): Promise<string> {
  const message = { kind: 'message', messageId: 'm', contextId: 'c', role: 'user', parts: [part] };
  const payload = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 't', method: 'message/send', params: { message } }));
  return onMesh(config, 'parley/a2a/v1/client/response/c', (broker) =>
    broker.publish({ topic: 'parley/a2a/v1/agent/request/echo', payload, properties: { clientId: 'c' } }),
  );
}

/** The first that is said on a topic of a broker inside this process, which is listened to before the node is there. */
async function onMesh(config: ParleyConfig, filter: string, ask?: (broker: Broker) => Promise<unknown>): Promise<string> {
  const broker = await connectBroker('memory');
  const heard: string[] = [];
  await broker.subscribe({ filter, take: ({ payload }) => void heard.push(Buffer.from(payload).toString('utf8')) });
  const settings = resolved({ port: 0, memory: true, agents: ['echo'], log: 'silent', mesh: 'memory', ...config });
  const found = await Promise.all(settings.agents.map((given) => findAgent(given, settings)));
  const server = await serveOnMesh(found, settings, { log: logFor(settings) });
  try {
    await ask?.(broker);
    await eventually(() => heard.length > 0);
    return heard[0] ?? '';
  } finally {
    await server.close();
    await broker.close();
  }
}
