import { afterAll, describe, expect, it } from 'vitest';
import { framesIn } from '../support/frames.ts';
import { handlerOf, jsonRequest } from '../support/server.ts';

/** What the clients of PromptKit, CortexPrism and 0.1 rely on when they list and follow tasks (docs/dialects/). */
const handler = handlerOf();
afterAll(() => handler.close());

interface Answered {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
  readonly artifacts?: readonly { readonly parts: readonly { readonly text: string }[] }[];
}

const ask = async (path: string, method: string, params: object, headers: Record<string, string> = {}): Promise<Response> =>
  await handler.fetch(jsonRequest(`http://localhost${path}`, { jsonrpc: '2.0', id: 1, method, params }, headers));
const call = async <T = Answered>(path: string, method: string, params: object): Promise<T> => {
  const body = (await (await ask(path, method, params)).json()) as { readonly result: T };
  return body.result;
};
const flat = (text: string, more: object = {}): object => ({ messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more });
const textsOf = ({ artifacts = [] }: Answered): string => artifacts.flatMap(({ parts }) => parts.map(({ text }) => text)).join('');

describe('PromptKit', () => {
  it('lists whole tasks', async () => {
    const { id, contextId } = await call('/a2a', 'message/send', { message: flat('chunks=2') });
    const { tasks } = await call<{ readonly tasks: readonly Answered[] }>('/a2a', 'tasks/list', { contextId });
    expect(tasks.map((task) => [task.id, textsOf(task)])).toEqual([[id, 'chunk 1chunk 2']]);
  });

  it('returns at once if blocking is false', async () => {
    const { id, status } = await call('/a2a', 'message/send', { message: flat('sleep=60000'), configuration: { blocking: false } });
    expect(status.state).toBe('working');
    await call('/a2a', 'tasks/cancel', { id });
  });

  it('gets one status and the end for a finished task, and for one that waits', async () => {
    for (const [text, state] of [
      ['chunks=2', 'completed'],
      ['chunks=1 ask', 'input_required'],
    ] as const) {
      const { id } = await call('/a2a', 'message/send', { message: flat(text) });
      const frames = await framesIn(await ask('/a2a', 'tasks/subscribe', { id })).rest();
      expect(frames.map((data) => JSON.parse(data).result.status?.state)).toEqual([state]);
    }
  });
});

describe('CortexPrism', () => {
  it('lists whole tasks', async () => {
    const context = crypto.randomUUID();
    const message = flat('chunks=2', { metadata: { contextId: context } });
    const { id } = await call('/a2a', 'SendMessage', { message });
    const { tasks } = await call<{ readonly tasks: readonly Answered[] }>('/api/a2a', 'ListTasks', { contextId: context });
    expect(tasks.map((task) => [task.id, textsOf(task)])).toEqual([[id, 'chunk 1chunk 2']]);
  });
});

const PRODUCTS = {
  PromptKit: {
    send: () => ask('/a2a', 'message/stream', { message: flat('chunks=3') }),
    resume: (id: string, after: string) => ask('/a2a', 'tasks/subscribe', { id }, { 'Last-Event-ID': after }),
    taskIn: (result: Record<string, string>) => result['taskId'],
  },
  'A2A 0.1': {
    send: () =>
      ask('/', 'tasks/sendSubscribe', {
        id: crypto.randomUUID(),
        sessionId: 's',
        message: { role: 'user', parts: [{ type: 'text', text: 'chunks=3' }] },
      }),
    resume: (id: string, after: string) => ask('/', 'tasks/resubscribe', { id }, { 'Last-Event-ID': after }),
    taskIn: (result: Record<string, string>) => result['id'],
  },
};

describe.each(Object.entries(PRODUCTS))('resuming a stream of %s by Last-Event-ID', (_, { send, resume, taskIn }) => {
  it('sends what came after that event, and nothing twice', async () => {
    const text = await (await send()).text();
    const blocks = text.split('\n\n').filter((block) => block !== '');
    const datas = blocks.map((block) => /^data: (.*)$/m.exec(block)?.[1] ?? '');
    const id = taskIn(JSON.parse(datas[0] ?? '').result) ?? '';
    for (const [at, block] of blocks.entries()) {
      const after = /^id: (\d+)$/m.exec(block)?.[1];
      if (after === undefined) continue;
      expect(await framesIn(await resume(id, after)).rest()).toEqual(datas.slice(at + 1));
    }
  });
});
