import fc from 'fast-check';
import type { Broker, Grammar } from '#mesh';
import { mqttGrammar, samGrammar } from '#mesh';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../../src/mesh/adapters/nats.ts';
import { callContext } from '../../mesh/support.ts';
import type { RunningBroker } from '../../support/brokers.ts';
import { startMosquitto, startNats } from '../../support/brokers.ts';
import { rssMib } from '../../support/http-seeds.ts';
import type { Parley } from '../../support/parley.ts';
import { callerOn, PLACE } from '../mesh.ts';
import { startParley } from '../parley.ts';
import { BYTES, payloads } from './cases.ts';
import type { FuzzCase, FuzzSurface } from './surface.ts';
import { assertNoErrors, isJson, within } from './surface.ts';

interface FuzzedMesh {
  readonly name: string;
  readonly flags: readonly string[];
  readonly grammar: Grammar;
  readonly topics: readonly string[];
  readonly methods: readonly string[];
  start(): Promise<RunningBroker>;
  connect(url: string): Promise<Broker>;
}

const MQTT: FuzzedMesh = {
  name: 'mqtt',
  flags: ['--mesh-grammar', 'mqtt01', '--mesh-root', 'a2a/v1'],
  grammar: mqttGrammar({ root: 'a2a/v1' }),
  topics: ['request', 'discovery', 'reply', 'event'].map((kind) => `a2a/v1/${kind}/${PLACE}/echo`),
  methods: ['SendMessage', 'SendStreamingMessage', 'GetTask', 'CancelTask', 'ListTasks', 'SubscribeToTask'],
  start: () => startMosquitto(),
  connect: (url) => connectMqtt({ url, sessionSeconds: 0 }),
};
const NATS: FuzzedMesh = {
  name: 'nats',
  flags: ['--mesh-grammar', 'sam'],
  grammar: samGrammar,
  topics: ['agent/request/echo', 'discovery/agentcards', 'agent/response/echo/x', 'agent/status/echo/x', 'gateway/response/gw/x'].map(
    (rest) => `${PLACE}/a2a/v1/${rest}`,
  ),
  methods: ['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe'],
  start: startNats,
  connect: (url) => connectNats({ servers: url }),
};

/** Messages of anybody on a real broker, to a node that serves there. */
export async function brokerSurfaces(folder: string): Promise<readonly FuzzSurface[]> {
  return [await brokerSurface(MQTT, `${folder}/mqtt`), await brokerSurface(NATS, `${folder}/nats`)];
}

async function brokerSurface(mesh: FuzzedMesh, data: string): Promise<FuzzSurface> {
  const running = await mesh.start();
  const args = ['--mesh', running.url, '--namespace', PLACE, ...mesh.flags];
  const server = await startParley({ agent: 'echo', data, args });
  const enemy = await mesh.connect(running.url);
  const caller = await callerOn(await mesh.connect(running.url), mesh.grammar);
  const seen = { readable: 0, tasks: 0 };
  return {
    name: mesh.name,
    cases: messages(mesh),
    send: async ([topic = '', payload = '', responseTopic = '', correlation = '', property = '', value = '']) => {
      if (isJson(Buffer.from(payload, 'latin1').toString('utf8'))) seen.readable += 1;
      const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
      const more = {
        ...(responseTopic === '' ? {} : { responseTopic }),
        ...(correlation === '' ? {} : { correlation: bytes(correlation) }),
        ...(property === '' ? {} : { properties: { [property]: value } }),
      };
      // The broker or our adapter may refuse the topic or the header. That is not the node's matter.
      await within(
        'publishing',
        enemy.publish({ topic, payload: bytes(payload), ...more }).catch(() => undefined),
      );
    },
    check: async () => {
      const request = { message: createUserMessage('still here') };
      const answer = await within('a good request', caller.link({ agent: 'echo' }).send(request, callContext()));
      if (!JSON.stringify(answer).includes('COMPLETED')) throw new Error(`a good request got ${JSON.stringify(answer).slice(0, 500)}`);
      assertNoErrors(server.errors());
      const tasks = await total(server);
      // One for the good request. A message that is no JSON makes no task.
      if (tasks - seen.tasks > seen.readable + 1)
        throw new Error(`${tasks - seen.tasks} tasks were made by ${seen.readable} readable messages`);
      Object.assign(seen, { readable: 0, tasks });
    },
    rssMib: () => rssMib(server.pid),
    close: async () => {
      await caller.mesh.close().catch(() => undefined);
      await enemy.close().catch(() => undefined);
      await server.kill();
      await running.stop();
    },
  };
}

function messages({ topics, methods }: FuzzedMesh): fc.Arbitrary<FuzzCase> {
  const message = { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
  const old = { ...message, kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
  const documents = methods.flatMap((method) =>
    [message, old].map((each) =>
      JSON.stringify({ jsonrpc: '2.0', id: '1', method, params: { message: each, id: 't', metadata: { agent_name: 'echo' } } }),
    ),
  );
  const [requests = '', ...others] = topics;
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom('#', '+/+', '', `${PLACE}/a`, '$SYS/x', 'a'.repeat(3000), '\0', '>', '*'),
  );
  const property = fc.constantFrom(
    'replyTo',
    'clientId',
    'userId',
    'a2aStatusTopic',
    'a2a-method',
    'a2a-requester',
    'timestamp',
    '__proto__',
    '',
  );
  const topic = fc.oneof({ weight: 6, arbitrary: fc.constant(requests) }, { weight: 3, arbitrary: fc.constantFrom(...others) }, text);
  return fc.tuple(topic, payloads(documents), text, BYTES, property, text).map((all): FuzzCase => all);
}

async function total({ url }: Parley): Promise<number> {
  const { totalSize } = (await (await fetch(`${url}/api/parley/v1/tasks?pageSize=1`)).json()) as { readonly totalSize: number };
  return totalSize;
}
