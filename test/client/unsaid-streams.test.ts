import { afterEach, describe, expect, it } from 'vitest';
import { serveJsonRpc } from '#bindings';
import type { ClientOptions, Interceptor } from '#client';
import { A2AClient } from '#client';
import type { TaskEvent } from '#protocol';
import { createRegistry, DIALECTS, dialectId } from '#protocol';
import { badCalls, html, json, rpcOf } from '../support/broken-servers.ts';
import { CARD } from '../support/card.ts';
import { listen } from '../support/listen.ts';
import { memoryService } from '../support/memory-service.ts';
import type { SdkVersion } from '../support/sdk-server.ts';
import { sdkExpress } from '../support/sdk-server.ts';
import { course } from '../support/talk.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

function kept<Server extends { close(): Promise<void> }>(server: Server): Server {
  open.push(server);
  return server;
}

/** A client, and its requests: the method of each call, or its path. */
async function watched(url: string, options: ClientOptions = {}): Promise<{ readonly client: A2AClient; readonly asked: string[] }> {
  const asked: string[] = [];
  const watch: Interceptor = async (request, next) => {
    const body = request.method === 'POST' ? ((await request.clone().json()) as { method?: string }) : {};
    if (!request.url.includes('.well-known')) asked.push(body.method ?? new URL(request.url).pathname.replace(/.*\//, ''));
    return await next(request);
  };
  return { client: await A2AClient.connect(url, { ...options, interceptors: [watch] }), asked };
}

async function read(events: AsyncIterable<TaskEvent>): Promise<readonly TaskEvent[]> {
  const all: TaskEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const textIn = ({ task }: TaskEvent): string | undefined => task?.artifacts?.[0]?.parts.map((part) => part.text).join(' ');

interface Official {
  readonly sdk: SdkVersion;
  readonly options: ClientOptions;
  readonly sends: string;
  readonly streams: string;
  readonly gets: string;
}

const OFFICIAL: readonly Official[] = [
  { sdk: '1.3.0', options: {}, sends: 'SendMessage', streams: 'SendStreamingMessage', gets: 'GetTask' },
  { sdk: '1.3.0', options: { binding: 'HTTP+JSON' }, sends: 'message:send', streams: 'message:stream', gets: '' },
  { sdk: '0.3.13', options: {}, sends: 'message/send', streams: 'message/stream', gets: 'tasks/get' },
  { sdk: '0.2.5', options: {}, sends: 'message/send', streams: 'message/stream', gets: 'tasks/get' },
];

describe('an agent of the official SDK whose card does not say whether it streams', () => {
  for (const { sdk, options, sends, streams, gets } of OFFICIAL) {
    it(`refuses the stream, and gets the message once without a stream (${sdk} ${options.binding ?? 'JSONRPC'})`, async () => {
      const server = kept(await sdkExpress(sdk, 'unsaid'));
      const { client, asked } = await watched(server.url, options);
      expect(client.card?.capabilities.streaming).toBeUndefined();
      const events = await read(client.stream('chunks=3 delay=60'));
      expect(asked.slice(0, 2)).toEqual([streams, sends]);
      expect(asked.filter((method) => method === sends)).toHaveLength(1);
      if (gets !== '') expect(new Set(asked.slice(2))).toEqual(new Set([gets]));
      expect(course(events).at(-1)).toMatch(/COMPLETED$/);
      const told = events.flatMap((event) => event.artifactUpdate?.artifact.parts ?? event.task?.artifacts?.[0]?.parts ?? []);
      expect(told.map((part) => part.text)).toEqual(['chunk 1', 'chunk 2', 'chunk 3']);

      asked.length = 0;
      expect(await client.stream('chunks=1').text()).toBe('chunk 1');
      expect(asked[0]).toBe(sends); // after one refusal the client requests no more streams

      expect(course(await read(client.stream('message')))).toEqual(['message']);
      const hanging = client.stream('hang');
      const states: string[] = [];
      for await (const event of hanging) {
        if (states.push(...course([event])) === 1) await hanging.cancel(); // the task id is known at once
      }
      expect(states.at(-1)).toMatch(/CANCELED$/);
    });
  }
});

describe('a product whose card does not say whether it streams', () => {
  const registry = createRegistry(DIALECTS);

  it('streams if it supports streams', async () => {
    const dialect = registry.byId(dialectId('promptkit'));
    if (dialect === undefined) throw new Error('no such dialect');
    const server = kept(
      await listen(async (request) =>
        request.method === 'POST'
          ? await serveJsonRpc(request, memoryService(CARD), { dialect })
          : Response.json(dialect.card.write({ ...CARD, capabilities: {}, supportedInterfaces: [] })),
      ),
    );
    const { client, asked } = await watched(server.url);
    const events = await read(client.stream('chunks=3'));
    expect(asked).toEqual(['message/stream']);
    expect(events.filter(({ artifactUpdate }) => artifactUpdate !== undefined)).toHaveLength(3);
  });
});

const DONE = {
  task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'a', parts: [{ text: 'done' }] }] },
};

describe('a hand-written server', () => {
  const answered = (error: object, card: object): Promise<{ readonly url: string; close(): Promise<void> }> =>
    badCalls(async (incoming, outgoing) => {
      const { id, method } = await rpcOf(incoming);
      json(outgoing, 200, { jsonrpc: '2.0', id, ...(method === 'SendMessage' ? { result: DONE } : { error }) });
    }, card);

  for (const [code, message] of [
    [-32601, 'Method not found'],
    [-32004, 'This operation is not supported'],
  ] as const) {
    for (const capabilities of [{}, { streaming: true }]) {
      it(`that refuses a stream with ${code} gets the message without one, whatever its card says (${JSON.stringify(capabilities)})`, async () => {
        const { url } = kept(await answered({ code, message }, { capabilities }));
        const { client, asked } = await watched(url);
        expect((await read(client.stream('hi'))).map(textIn)).toEqual(['done']);
        expect(asked).toEqual(['SendStreamingMessage', 'SendMessage']);
        expect(client.connection).toMatchObject({ dialect: 'v10', settled: true });
      });
    }
  }

  it('that declares streams and refuses a message to a task gets that message once', async () => {
    const { url } = kept(await answered({ code: -32004, message: 'the task has ended' }, { capabilities: { streaming: true } }));
    const { client, asked } = await watched(url);
    await expect(client.stream('again', { taskId: 't' }).result()).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
    expect(asked).toEqual(['SendStreamingMessage', 'GetTask']);
  });

  it('that fails during the stream gets no second message', async () => {
    const { url } = kept(await answered({ code: -32603, message: 'it broke' }, { capabilities: {} }));
    const { client, asked } = await watched(url);
    await expect(client.stream('hi').result()).rejects.toMatchObject({ kind: 'INTERNAL_ERROR' });
    expect(asked).toEqual(['SendStreamingMessage']);
  });

  it('whose card declares no streaming is not asked for a stream', async () => {
    const { url } = kept(await answered({ code: -32603, message: 'it broke' }, { capabilities: { streaming: false } }));
    const { client, asked } = await watched(url);
    expect((await read(client.stream('hi'))).map(textIn)).toEqual(['done']);
    expect(asked).toEqual(['SendMessage']);
  });

  it('that answers a stream with the result itself is read', async () => {
    const server = kept(
      await badCalls(async (incoming, outgoing) => json(outgoing, 200, { jsonrpc: '2.0', id: (await rpcOf(incoming)).id, result: DONE }), {
        capabilities: {},
      }),
    );
    const { client, asked } = await watched(server.url);
    expect((await read(client.stream('hi'))).map(textIn)).toEqual(['done']);
    expect(asked).toEqual(['SendStreamingMessage']);
  });

  it('without the stream path of HTTP+JSON gets the message without a stream', async () => {
    const server: { readonly url: string; close(): Promise<void> } = kept(
      await badCalls(
        async (incoming, outgoing) => (incoming.url === '/a2a/message:send' ? json(outgoing, 200, DONE) : html(outgoing, 404)),
        {
          capabilities: {},
          get supportedInterfaces() {
            return [{ url: `${server.url}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }];
          },
        },
      ),
    );
    const { client, asked } = await watched(server.url);
    expect((await read(client.stream('hi'))).map(textIn)).toEqual(['done']);
    expect(asked).toEqual(['message:stream', 'message:send']);
  });
});
