import { afterEach, expect, it } from 'vitest';
import { createCard } from '#agents';
import type { Broker, ReceivedMessage } from '#mesh';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { eventually } from '../support/eventually.ts';
import { connectMesh, NODE_NAMESPACE, onRealBrokers, onStop, send, start, stopAll } from './nodes.ts';

afterEach(stopAll);
const status = async (url: string): Promise<number> => (await fetch(url)).status;

onRealBrokers('a gateway', (startBroker, kind) => {
  const opened = async (names: readonly string[], env: Record<string, string> = {}) => {
    const broker = await startBroker();
    const [, gateway] = await Promise.all([
      start(broker.url, ['script', 'echo'], { env }),
      start(broker.url, [], { command: ['mesh', 'gateway'], env }),
    ]);
    for (const name of names)
      await eventually(async () => expect(await status(`${gateway.url}/agents/${name}/.well-known/agent-card.json`)).toBe(200));
    return { broker, gateway };
  };

  it('queues the tasks of callers that nobody has authenticated, above the limit of one caller', async () => {
    const { gateway } = await opened(['script'], { PARLEY_CALLER_TASKS_MAX: '2' });
    const tasks = await Promise.all(Array.from({ length: 8 }, () => send({ url: `${gateway.url}/agents/script` }, 'sleep=300')));
    expect(tasks.map((task) => task.status.state)).toEqual(Array.from({ length: 8 }, () => 'TASK_STATE_COMPLETED'));
  });

  it('says an answer that is too large for the broker is too large', { timeout: 300_000 }, async () => {
    const { gateway } = await opened(['script'], { PARLEY_BODY_BYTES_MAX: '80000000' });
    const task = await send({ url: `${gateway.url}/agents/script` }, 'chunks=12 size=1000000');
    expect([task.status.state, task.status.message?.parts[0]?.text]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('the maximum over a broker is 10000000'),
    ]);
  });

  it.runIf(kind === 'Mosquitto')('sends a context with its first request, and names the cause of a failure', async () => {
    const { broker, gateway } = await opened(['echo']);
    const { requests, refuse } = await silentAgent(broker.url);
    await eventually(async () => expect(await status(`${gateway.url}/agents/Silent/.well-known/agent-card.json`)).toBe(200));
    const sent = send({ url: `${gateway.url}/agents/Silent` }, 'anybody there?');
    await eventually(() => expect(requests).toHaveLength(1));
    const { contextId } = JSON.parse(new TextDecoder().decode(requests[0]?.payload)).params.message as { contextId?: string };
    expect(contextId).toMatch(/./);
    await refuse('the model is out of tokens');
    expect((await sent).status.message?.parts[0]?.text).toContain('the model is out of tokens');
  });

  it.runIf(kind === 'Mosquitto')('resolves the embeds of files in the answer of an agent that is not ours', async () => {
    const { broker, gateway } = await opened(['echo']);
    const { requests, finish } = await silentAgent(broker.url);
    await eventually(async () => expect(await status(`${gateway.url}/agents/Silent/.well-known/agent-card.json`)).toBe(200));
    const sent = send({ url: `${gateway.url}/agents/Silent` }, 'what is in a.txt?');
    await eventually(() => expect(requests).toHaveLength(1));
    await finish('It says «artifact_content:a.txt».');
    const text = (await sent).artifacts?.[0]?.parts[0]?.text;
    expect(text).toMatch(/^It says \[Error loading artifact 'a.txt': .*\]\.$/);
    expect((await send({ url: `${gateway.url}/agents/echo` }, '«artifact_content:a.txt»')).artifacts?.[0]?.parts[0]?.text).toContain(
      '«artifact_content:a.txt»',
    );
  });

  it.runIf(kind === 'Mosquitto')('publishes a request once to an agent whose card does not say that it recognises repeats', async () => {
    const broker = await startBroker();
    const { requests } = await silentAgent(broker.url);
    const { link, ctx, request } = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    const silent = link({ agent: 'Silent', idleMsMax: 6000 }); // longer than the time after which requests are repeated
    await expect(silent.send(request('anybody there?'), ctx)).rejects.toThrow('Silent has sent nothing for 6 s');
    expect(requests).toHaveLength(1);
  });

  /** An agent as SAM's are: it works without a word. */
  async function silentAgent(url: string) {
    const broker: Broker = await connectMqtt({ url, sessionSeconds: 0 });
    onStop(() => broker.close());
    const requests: ReceivedMessage[] = [];
    await broker.subscribe({ filter: `${NODE_NAMESPACE}/a2a/v1/agent/request/Silent`, handle: (message) => void requests.push(message) });
    const card = {
      ...createCard({ name: 'Silent', description: 'Works without a word.' }),
      protocolVersion: '0.3.0',
      url: `solace:${NODE_NAMESPACE}/a2a/v1/agent/request/Silent`,
    };
    const announce = (): Promise<unknown> =>
      broker.publish({ topic: `${NODE_NAMESPACE}/a2a/v1/discovery/agentcards`, payload: new TextEncoder().encode(JSON.stringify(card)) });
    await announce();
    const timer = setInterval(() => void announce(), 1000);
    onStop(async () => clearInterval(timer));
    const refuse = async (details: string): Promise<void> => {
      const [request] = requests;
      const { id } = JSON.parse(new TextDecoder().decode(request?.payload)) as { id: string };
      const error = { code: -32603, message: 'Internal error', data: { details } };
      const answer = new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', id, error }));
      await broker.publish({ topic: request?.properties['replyTo'] ?? '', payload: answer });
    };
    const finish = async (text: string): Promise<void> => {
      const [request] = requests;
      const { id, params } = JSON.parse(new TextDecoder().decode(request?.payload)) as {
        id: string;
        params: { message: { contextId: string } };
      };
      const message = { kind: 'message', messageId: 'm1', role: 'agent', parts: [{ kind: 'text', text }] };
      const result = { kind: 'task', id, contextId: params.message.contextId, status: { state: 'completed', message } };
      const answer = new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', id, result }));
      await broker.publish({ topic: request?.properties['replyTo'] ?? '', payload: answer });
    };
    return { requests, refuse, finish };
  }
});
