import { afterAll, beforeAll, expect, it } from 'vitest';
import { authenticateBy } from '#mesh';
import { programOf, type RunningBroker, startMosquitto, startNats } from '../support/brokers.ts';
import { keysOf } from '../support/key-ring.ts';
import { suiteNeeding } from '../support/needs.ts';
import { jsonOf, PLACE, type Raw, rawRequester, type ServedAgent, sendBody, serveAgent, TASK } from './mqtt01-support.ts';

const REQUEST = `$a2a/v1/request/${PLACE}/scheduler`;
const BROKERS = [
  ['MQTT', 'mosquitto', () => startMosquitto()],
  ['NATS', 'nats-server', startNats],
] as const;
const keys = keysOf([
  { name: 'ci', tenant: 'acme' },
  { name: 'ci', tenant: 'other' },
]);
const [ACME, OTHER] = [0, 1].map((at) => ({ properties: { 'a2a-authorization': `Bearer ${keys.key(at)}` } }));
const METHODS: readonly (readonly [method: string, params: Record<string, unknown>])[] = [
  ['GetTask', { id: TASK }],
  ['ListTasks', {}],
  ['CancelTask', { id: TASK }],
  ['SubscribeToTask', { id: TASK }],
  ['SendMessage', { message: { messageId: 'm-2', role: 'ROLE_USER', taskId: TASK, contextId: '6d0f', parts: [{ text: 'x' }] } }],
  ['SendStreamingMessage', { message: { messageId: 'm-3', role: 'ROLE_USER', taskId: TASK, contextId: '6d0f', parts: [{ text: 'x' }] } }],
  ['ListTaskPushNotificationConfigs', { taskId: TASK }],
  ['GetTaskPushNotificationConfig', { taskId: TASK, id: 'one' }],
  ['DeleteTaskPushNotificationConfig', { taskId: TASK, id: 'one' }],
  ['CreateTaskPushNotificationConfig', { taskId: TASK, id: 'one', url: 'https://hook.example.org/' }],
  ['GetExtendedAgentCard', {}],
];

for (const [name, program, start] of BROKERS)
  suiteNeeding(program, programOf(program) !== undefined, `tenants over ${name}`, () => tenants(start));

function tenants(start: () => Promise<RunningBroker>): void {
  let running: RunningBroker;
  let served: ServedAgent;
  let raw: Raw;
  beforeAll(async () => {
    running = await start();
    served = await serveAgent(running.url, 'scheduler', { authenticate: authenticateBy([keys.auth]) });
    raw = await rawRequester(running.url);
    await raw.ask(REQUEST, sendBody('hello', {}, 'SendMessage'), ACME);
    await raw.until(1);
  });
  afterAll(async () => {
    await raw.broker.close();
    await served.close();
    await running.stop();
  });

  async function answerTo(method: string, params: Record<string, unknown>, key = OTHER): Promise<unknown> {
    const count = raw.heard.length + 1;
    await raw.ask(REQUEST, { jsonrpc: '2.0', id: 2, method, params }, key);
    const message = (await raw.until(count)).at(-1);
    return message === undefined ? undefined : jsonOf(message);
  }

  it('come from the key: its own tasks are found, with its tenant named or not', async () => {
    expect(await answerTo('GetTask', { id: TASK }, ACME)).toMatchObject({ result: { id: TASK } });
    expect(await answerTo('GetTask', { id: TASK, tenant: 'acme' }, ACME)).toMatchObject({ result: { id: TASK } });
    expect(await answerTo('GetTask', { id: TASK })).toMatchObject({ error: {} });
    expect(await answerTo('ListTasks', {})).toMatchObject({ result: { tasks: [] } });
  });

  it.each(METHODS)('refuse %s of the same name in another tenant', async (method, params) => {
    expect(await answerTo(method, { ...params, tenant: 'acme' })).toMatchObject({
      error: { message: expect.stringContaining('does not belong to that tenant') },
    });
  });
}
