import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { delegate, joinMesh } from '#mesh';
import type { Task } from '#protocol';
import { createTaskStatus, LOCAL_PRINCIPAL, taskId } from '#protocol';
import { connectMqtt } from '../../../src/mesh/adapters/mqtt.ts';
import { programOf } from '../../support/brokers.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteNeeding } from '../../support/needs.ts';
import { CONVERSATIONS } from '../conversations.ts';
import { pythonByUv } from '../install.ts';
import { ourTalk } from '../our-talk.ts';
import { samGatewayTalk } from './gateway-talk.ts';
import { MODEL_CONVERSATIONS } from './model-conversations.ts';
import type { SamWorld } from './world.ts';
import { NAMESPACE, startSamWorld } from './world.ts';

const VERSION = '1.28.8';
const TITLE = `Solace Agent Mesh ${VERSION}, Mosquitto`;
const python = pythonByUv(`solace-agent-mesh-${VERSION}`, {
  packages: [`solace-agent-mesh==${VERSION}`, 'paho-mqtt==2.1.0'],
  excludes: new URL('excludes.txt', import.meta.url).pathname,
});
const isThere = python !== undefined && programOf('mosquitto') !== undefined;

/** What SAM's gateway has no way for. */
const GATEWAY_EXCEPT: Readonly<Record<string, string>> = {
  question: 'the gateway makes a new task of every message',
  approval: 'the gateway makes a new task of every message',
  parts: 'the gateway passes on text and references to its own uploads',
  unknown: 'the gateway has no get',
  list: 'the gateway has no list',
  restart: 'it is about HTTP; test/mesh/killed.test.ts kills nodes on a broker',
};

const folder = mkdtempSync(join(tmpdir(), 'parley-sam-'));
let world: SamWorld;
beforeAll(async () => {
  if (isThere) world = await startSamWorld(python, folder);
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

suiteNeeding('its package and mosquitto', isThere, `their client: ${TITLE}`, () => {
  for (const { id, title, run } of CONVERSATIONS) {
    if (GATEWAY_EXCEPT[id] === undefined) it(`gateway: ${title}`, () => run(samGatewayTalk(world.samGateway, 'peer_test'), {}));
  }

  it('gateway: an answer of 1 MB', async () => {
    const reply = await samGatewayTalk(world.samGateway, 'peer_test').send({ text: `large ${'x'.repeat(1_000_000)}` });
    expect(reply.texts.join('')).toHaveLength('echo: large '.length + 1_000_000);
  });

  it('orchestrator: our agent is a tool, and its answer reaches the model', async () => {
    const talk = samGatewayTalk(world.samGateway, 'SamOrchestrator');
    const reply = await talk.send({ text: 'Do [[call peer_peer_test|{"task_description":"hello there"}]] [[report]]' });
    expect(reply).toMatchObject({ state: 'completed', note: expect.stringContaining('echo: hello there') });
  });

  it('orchestrator: the failure of our agent reaches the model with its reason', async () => {
    const talk = samGatewayTalk(world.samGateway, 'SamOrchestrator');
    const reply = await talk.send({ text: 'Do [[call peer_peer_test|{"task_description":"fail"}]] [[report]]' });
    expect(reply.note).toContain('it broke');
  });

  it('orchestrator: a cancel reaches our agent', async () => {
    const talk = samGatewayTalk(world.samGateway, 'SamOrchestrator');
    const heard = await world.listen('agent/+/SamOrchestrator/#');
    const { taskId = '' } = await talk.begin({ text: 'Do [[call peer_peer_test|{"task_description":"work"}]] [[report]]' });
    await eventually(() => heard.some((body) => body.includes('"working"')));
    expect((await talk.cancel(taskId)).state).toBe('canceled');
    await eventually(() => heard.some((body) => body.includes('"canceled"')));
  });

  it('workflow: a node calls our agent with data and gets its output', async () => {
    const reply = await samGatewayTalk(world.samGateway, 'SamWorkflow').send({ text: 'A-17' });
    expect(reply).toMatchObject({ state: 'completed', note: expect.stringContaining('Workflow completed successfully') });
  });

  it('workflow: a node that fails says why', async () => {
    const reply = await samGatewayTalk(world.samGateway, 'SamWorkflow').send({ text: 'forbidden' });
    expect(reply).toMatchObject({ state: 'failed', note: expect.stringContaining('this order is forbidden') });
  });
});

suiteNeeding('its package and mosquitto', isThere, `their server: ${TITLE}`, () => {
  for (const { title, run } of MODEL_CONVERSATIONS) {
    it(title, async () => run(await ourTalk(`${world.ourGateway}/agents/SamWorker`, true), {}));
  }

  it('one of our agents delegates to it', async () => {
    const mesh = joinMesh({ broker: await connectMqtt({ url: world.broker.url, sessionSeconds: 0 }), namespace: NAMESPACE });
    try {
      const registry = await mesh.discover();
      await eventually(() => registry.agent('SamWorker') !== undefined);
      const caller = await mesh.call({ kind: 'agent', id: 'Delegator' });
      const task: Task = { id: taskId(crypto.randomUUID()), status: createTaskStatus('TASK_STATE_WORKING') };
      const turn = { task, history: [], principal: LOCAL_PRINCIPAL, signal: new AbortController().signal };
      const peers = delegate(turn, { self: 'Delegator', registry, caller });
      const [result] = await peers.call([{ agent: 'SamWorker', task_description: 'Do [[say delegated]]' }]);
      expect(result).toMatchObject({ status: 'completed', task: { artifacts: [{ parts: [{ text: 'delegated' }] }] } });
    } finally {
      await mesh.close();
    }
  });
});
