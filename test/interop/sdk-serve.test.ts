import { TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { sdkRequest } from '../support/sdk-request.ts';

/** The official client, also with its 0.3 layer, with the real `parley serve`. It starts from the card. */
const INTERFACES = [
  { name: '1.0 JSON-RPC', transport: 'JSONRPC', version: '1.0' },
  { name: '1.0 HTTP+JSON', transport: 'HTTP+JSON', version: '1.0' },
  { name: '0.3 JSON-RPC', transport: 'JSONRPC', version: '0.3' },
  { name: '0.3 HTTP+JSON', transport: 'HTTP+JSON', version: '0.3' },
] as const;

describe('the official client and parley serve', () => {
  let server: Parley;
  beforeAll(async () => {
    server = await parleyServe({ args: ['echo', 'script', '--memory'] });
  });
  afterAll(() => server.stop());

  for (const face of INTERFACES) describe(face.name, () => suite(() => server, face));
});

type Face = (typeof INTERFACES)[number];

function suite(server: () => Parley, { transport, version }: Face): void {
  let client: Client;
  beforeAll(async () => {
    const legacyCompat = { enabled: true };
    const transports =
      transport === 'JSONRPC' ? [new JsonRpcTransportFactory({ legacyCompat })] : [new RestTransportFactory({ legacyCompat })];
    const resolver = new DefaultAgentCardResolver({ legacyCompat });
    const card = await resolver.resolve(`${server().url}/agents/script/`);
    const interfaces = card.supportedInterfaces.filter(
      ({ protocolVersion, protocolBinding }) => protocolVersion === version && protocolBinding === transport,
    );
    expect(interfaces).toHaveLength(1);
    client = await new ClientFactory({ transports, cardResolver: resolver }).createFromAgentCard({
      ...card,
      supportedInterfaces: interfaces,
    });
  });

  it('sends', async () => {
    const answer = await client.sendMessage(sdkRequest('chunks=2'));
    if (!('status' in answer)) throw new Error('no task');
    expect(answer.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answer.artifacts[0]?.parts.map((part) => part.content?.value)).toEqual(['chunk 1chunk 2']);
  });

  it('streams', async () => {
    const kinds: (string | undefined)[] = [];
    for await (const { payload } of client.sendMessageStream(sdkRequest('chunks=3'))) kinds.push(payload?.$case);
    expect(kinds).toEqual(['task', 'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  it('gets a direct message', async () => {
    const answer = await client.sendMessage(sdkRequest('message'));
    expect('parts' in answer).toBe(true);
  });

  it('cancels', async () => {
    const id = await running();
    const canceled = await client.cancelTask({ id, tenant: '', metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect((await client.getTask({ id, tenant: '', historyLength: undefined })).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('resumes a stream', async () => {
    const id = await running('chunks=40 delay=20');
    const kinds: (string | undefined)[] = [];
    let state: TaskState | undefined;
    for await (const { payload } of client.resubscribeTask({ id, tenant: '' })) {
      kinds.push(payload?.$case);
      if (payload?.$case === 'statusUpdate') state = payload.value.status?.state;
    }
    expect(kinds[0]).toBe('task');
    expect(state).toBe(TaskState.TASK_STATE_COMPLETED);
    await eventually(
      async () =>
        (await client.getTask({ id, tenant: '', historyLength: undefined })).artifacts[0]?.parts[0]?.content?.value
          ?.toString()
          .endsWith('chunk 40') === true,
    );
  });

  it('answers a question', async () => {
    const asked = await client.sendMessage(sdkRequest('ask'));
    if (!('status' in asked)) throw new Error('no task');
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const body = sdkRequest('forty-two');
    const done = await client.sendMessage({ ...body, message: { ...body.message, taskId: asked.id, contextId: asked.contextId } });
    if (!('status' in done)) throw new Error('no task');
    expect([done.id, done.status?.state]).toEqual([asked.id, TaskState.TASK_STATE_COMPLETED]);
  });

  it('gets an error for an unknown task', async () => {
    await expect(client.getTask({ id: 'none', tenant: '', historyLength: undefined })).rejects.toThrow(/not found|no task/i);
  });

  async function running(text = 'sleep=60000'): Promise<string> {
    for await (const { payload } of client.sendMessageStream(sdkRequest(text))) if (payload?.$case === 'task') return payload.value.id;
    throw new Error('no task');
  }
}
