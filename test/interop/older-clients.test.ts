import * as sdk02 from 'a2a-js-02/client';
import * as sdk03 from 'a2a-js-03/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { listenRaw } from '../support/listen.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { THEIR_CLIENT } from './matrix.ts';

/** The official clients of 0.3 and 0.2 with the real `parley serve`. Both use `kind`; this file hides their differences. */
interface Said {
  readonly kind: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly status?: { readonly state: string };
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}

interface Caller {
  send(params: object): Promise<Said>;
  stream(params: object): AsyncIterable<Said>;
  get(params: { readonly id: string }): Promise<Said>;
  cancel(params: { readonly id: string }): Promise<Said>;
  resubscribe(params: { readonly id: string }): AsyncIterable<Said>;
  setPush(params: object): Promise<unknown>;
  getPush(task: string, config: string): Promise<{ readonly pushNotificationConfig: { readonly url: string } }>;
}

async function caller(sdk: string, binding: string, url: string): Promise<Caller> {
  if (sdk === '0.2.5') return caller02(url);
  const transports = binding === 'JSONRPC' ? [new sdk03.JsonRpcTransportFactory()] : [new sdk03.RestTransportFactory()];
  const client = await new sdk03.ClientFactory({ transports, cardResolver: new sdk03.DefaultAgentCardResolver() }).createFromUrl(url);
  return {
    send: async (params) => (await client.sendMessage(params as never)) as Said,
    stream: (params) => client.sendMessageStream(params as never) as AsyncIterable<Said>,
    get: async (params) => (await client.getTask(params)) as Said,
    cancel: async (params) => (await client.cancelTask(params)) as Said,
    resubscribe: (params) => client.resubscribeTask(params) as AsyncIterable<Said>,
    setPush: (params) => client.setTaskPushNotificationConfig(params as never),
    getPush: (id, pushNotificationConfigId) => client.getTaskPushNotificationConfig({ id, pushNotificationConfigId } as never),
  };
}

function caller02(url: string): Caller {
  const client = new sdk02.A2AClient(url);
  const result = <T>(answer: object): T => {
    if ('error' in answer) throw new Error((answer.error as { message: string }).message);
    return (answer as { result: T }).result;
  };
  return {
    send: async (params) => result<Said>(await client.sendMessage(params as never)),
    stream: (params) => client.sendMessageStream(params as never) as AsyncIterable<Said>,
    get: async (params) => result<Said>(await client.getTask(params)),
    cancel: async (params) => result<Said>(await client.cancelTask(params)),
    resubscribe: (params) => client.resubscribeTask(params) as AsyncIterable<Said>,
    setPush: async (params) => result(await client.setTaskPushNotificationConfig(params as never)),
    getPush: async (id) => result(await client.getTaskPushNotificationConfig({ id })),
  };
}

const message = (text: string, more: object = {}): object => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...more },
});

describe('older official clients and parley serve', () => {
  let server: Parley;
  beforeAll(async () => {
    server = await parleyServe({ args: ['script', '--memory'], env: { PARLEY_ALLOW_LOOPBACK_TARGETS: 'true' } });
  });
  afterAll(() => server.stop());

  for (const { sdk, version, binding } of THEIR_CLIENT.filter((face) => face.sdk !== '1.3.0')) {
    describe(`${sdk}: ${version} ${binding}`, () => suite(() => caller(sdk, binding, server.url)));
  }
});

function suite(open: () => Promise<Caller>): void {
  let client: Caller;
  beforeAll(async () => {
    client = await open();
  });

  it('sends', async () => {
    const task = await client.send(message('chunks=2'));
    expect([task.kind, task.status?.state]).toEqual(['task', 'completed']);
    expect(task.artifacts?.[0]?.parts.map((part) => part.text)).toEqual(['chunk 1chunk 2']);
  });

  it('streams', async () => {
    const kinds: string[] = [];
    let last: Said | undefined;
    for await (const said of client.stream(message('chunks=3'))) {
      kinds.push(said.kind);
      last = said;
    }
    expect(kinds[0]).toBe('task');
    expect(kinds.filter((kind) => kind === 'artifact-update')).toHaveLength(3);
    expect(last?.status?.state).toBe('completed');
  });

  it('gets a direct message', async () => expect((await client.send(message('message'))).kind).toBe('message'));

  it('answers a question', async () => {
    const asked = await client.send(message('ask'));
    expect(asked.status?.state).toBe('input-required');
    const done = await client.send(message('blue', { taskId: asked.id, contextId: asked.contextId }));
    expect([done.id, done.status?.state]).toEqual([asked.id, 'completed']);
  });

  it('gets a task, and an error for an unknown one', async () => {
    const { id = '' } = await client.send(message('one'));
    expect((await client.get({ id })).status?.state).toBe('completed');
    await expect(client.get({ id: 'nobody' })).rejects.toThrow(/not found|no task/i);
  });

  it('cancels', async () => {
    const { id = '' } = await running('sleep=60000');
    expect((await client.cancel({ id })).status?.state).toBe('canceled');
  });

  it('resumes a stream', async () => {
    const { id = '' } = await running('chunks=20 delay=20');
    let state: string | undefined;
    for await (const said of client.resubscribe({ id })) state = said.status?.state ?? state;
    expect(state).toBe('completed');
  });

  it('gets webhooks', async () => {
    const told: string[] = [];
    const hook = await listenRaw(async (incoming, outgoing) => {
      for await (const chunk of incoming) told.push(String(chunk));
      outgoing.end();
    });
    const { id = '' } = await running('sleep=60000');
    await client.setPush({ taskId: id, pushNotificationConfig: { id: 'c1', url: hook.url } });
    expect((await client.getPush(id, 'c1')).pushNotificationConfig.url).toBe(hook.url);
    await client.cancel({ id });
    await eventually(() => told.some((body) => body.includes('canceled')));
    await hook.close();
  });

  async function running(text: string): Promise<Said> {
    for await (const said of client.stream(message(text))) if (said.kind === 'task') return said;
    throw new Error('no task');
  }
}
