import { TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveJsonRpc, serveRest } from '#bindings';
import { collect } from '../support/calls.ts';
import { CARD } from '../support/card.ts';
import type { Listening } from '../support/listen.ts';
import { listen } from '../support/listen.ts';
import type { MemoryService } from '../support/memory-service.ts';
import { memoryService } from '../support/memory-service.ts';
import { sdkRequest } from '../support/sdk-request.ts';

interface Interface {
  readonly name: string;
  readonly binding: string;
  readonly version: '1.0' | '0.3';
  readonly path: string;
  readonly dialect: string;
}

const INTERFACES: readonly Interface[] = [
  { name: '1.0 JSON-RPC', binding: 'JSONRPC', version: '1.0', path: '/a2a', dialect: 'v10' },
  { name: '1.0 HTTP+JSON', binding: 'HTTP+JSON', version: '1.0', path: '', dialect: 'v10' },
  { name: '0.3 JSON-RPC', binding: 'JSONRPC', version: '0.3', path: '/a2a/jsonrpc', dialect: 'v03' },
  { name: '0.3 HTTP+JSON', binding: 'HTTP+JSON', version: '0.3', path: '', dialect: 'v03.rest' },
];

/** The official SDK's client (@a2a-js/sdk 1.3.0), with its 0.3 layer too, against our serve halves over a real socket. */
describe('the official client and our server', () => {
  for (const face of INTERFACES) describe(face.name, () => suite(face));
});

function suite({ binding, version, path, dialect }: Interface): void {
  let server: Listening;
  let client: Client;
  const service: MemoryService = memoryService(CARD);

  beforeAll(async () => {
    server = await listen(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/.well-known/agent-card.json') {
        return Response.json({
          ...CARD,
          supportedInterfaces: [{ url: `${server.url}${path}`, protocolBinding: binding, protocolVersion: version }],
        });
      }
      return await (pathname.startsWith('/a2a') ? serveJsonRpc(request, service) : serveRest(request, service));
    });
    const legacyCompat = { enabled: true };
    const transports = [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory({ legacyCompat })];
    client = await new ClientFactory({ transports, cardResolver: new DefaultAgentCardResolver({ legacyCompat }) }).createFromUrl(
      server.url,
    );
  });
  afterAll(() => server.close());

  const running = async (): Promise<string> => {
    for await (const { payload } of client.sendMessageStream(sdkRequest('hang'))) if (payload?.$case === 'task') return payload.value.id;
    throw new Error('no task');
  };
  const finished = async (text = 'x'): Promise<string> => {
    const answer = await client.sendMessage(sdkRequest(text));
    if (!('status' in answer)) throw new Error('no task');
    return answer.id;
  };

  it(`is understood as ${dialect}`, async () => {
    expect(client.protocolVersion).toBe(version);
    await finished();
    expect(service.seen.at(-1)?.ctx.dialect).toBe(dialect);
  });

  it('sends and waits', async () => {
    const task = await client.sendMessage(sdkRequest('chunks=3'));
    if (!('status' in task)) throw new Error('no task');
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts.map((part) => part.content?.value)).toEqual(['chunk 1chunk 2chunk 3']);
  });

  it('gets a direct message', async () => {
    const answer = await client.sendMessage(sdkRequest('message'));
    expect('messageId' in answer && answer.parts[0]?.content?.value).toBe('said directly');
  });

  it('streams', async () => {
    const events = await collect(client.sendMessageStream(sdkRequest('chunks=3')));
    expect(events.map(({ payload }) => payload?.$case)).toEqual([
      'task',
      'statusUpdate',
      ...['artifactUpdate', 'artifactUpdate', 'artifactUpdate'],
      'statusUpdate',
    ]);
    const last = events.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('streams a direct message', async () => {
    const events = await collect(client.sendMessageStream(sdkRequest('message')));
    expect(events.map(({ payload }) => payload?.$case)).toEqual(['message']);
  });

  it('frees the stream of a client that leaves', async () => {
    await running();
    await expect.poll(() => service.openStreams()).toBe(0);
  });

  it('gets', async () => {
    const id = await finished('chunks=2');
    const task = await client.getTask({ tenant: '', id, historyLength: 1 });
    expect([task.id, task.history.length, task.artifacts.length]).toEqual([id, 1, 1]);
  });

  it('cancels, and sees it on a subscription', async () => {
    const id = await running();
    const reading = collect(client.resubscribeTask({ tenant: '', id }));
    await expect.poll(() => service.openStreams()).toBe(1);
    const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const last = (await reading).at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('reads our errors', async () => {
    const nameOf = (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => 'none',
        (thrown: Error) => thrown.name,
      );
    expect(await nameOf(client.getTask({ tenant: '', id: 'nobody', historyLength: 0 }))).toBe('TaskNotFoundError');
    expect(await nameOf(client.cancelTask({ tenant: '', id: 'nobody', metadata: undefined }))).toBe('TaskNotFoundError');
    const id = await finished();
    expect(await nameOf(client.cancelTask({ tenant: '', id, metadata: undefined }))).toBe('TaskNotCancelableError');
    expect(await nameOf(collect(client.resubscribeTask({ tenant: '', id: 'nobody' })))).not.toBe('none');
  });

  it('manages push configs', async () => {
    const taskId = await finished();
    const config = { tenant: '', id: 'p1', taskId, url: 'https://hook.example/a', token: 'tok', authentication: undefined };
    expect(await client.createTaskPushNotificationConfig(config)).toMatchObject({ id: 'p1', taskId, url: config.url });
    expect((await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'p1' })).token).toBe('tok');
    const listed = await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' });
    expect(listed.configs.map(({ id }) => id)).toEqual(['p1']);
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'p1' });
    expect((await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })).configs).toEqual([]);
  });

  it('gets the extended card', async () => {
    expect((await client.getAgentCard()).name).toBe('Echo');
  });

  it.runIf(version === '1.0')('lists', async () => {
    const page = await client.listTasks({
      tenant: '',
      contextId: '',
      status: 0,
      pageSize: 2,
      pageToken: '',
      historyLength: 0,
      statusTimestampAfter: undefined,
      includeArtifacts: true,
    });
    expect([page.tasks.length, page.pageSize, page.nextPageToken]).toEqual([2, 2, '2']);
  });
}
