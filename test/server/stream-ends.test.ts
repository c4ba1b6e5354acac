import { afterAll, describe, expect, it } from 'vitest';
import type { Frames } from '../support/frames.ts';
import { framesIn } from '../support/frames.ts';
import { handlerOf, jsonRequest } from '../support/server.ts';

const handler = handlerOf();
afterAll(() => handler.close());

let count = 0;
const rpc = async (path: string, method: string, params: object): Promise<Response> =>
  await handler.fetch(jsonRequest(`http://localhost${path}`, { jsonrpc: '2.0', id: 1, method, params }));

/** How one dialect sends a message, follows a task and reads what it needs from a frame. */
interface StreamForm {
  readonly send: (text: string, task?: string) => Promise<Response>;
  readonly follow?: (task: string) => Promise<Response>;
}

const nextId = (): string => {
  count += 1;
  return `m-${count}`;
};
const FORMS: Readonly<Record<string, StreamForm>> = {
  'A2A 0.3': {
    send: (text, task) =>
      rpc('/a2a/jsonrpc', 'message/stream', {
        message: { kind: 'message', messageId: nextId(), role: 'user', parts: [{ kind: 'text', text }], ...(task ? { taskId: task } : {}) },
      }),
    follow: (id) => rpc('/a2a/jsonrpc', 'tasks/resubscribe', { id }),
  },
  'A2A 0.3 HTTP+JSON': {
    send: async (text, task) =>
      await handler.fetch(
        jsonRequest('http://localhost/v1/message:stream', {
          message: { messageId: nextId(), role: 'ROLE_USER', content: [{ text }], ...(task ? { taskId: task } : {}) },
        }),
      ),
    follow: async (id) => await handler.fetch(new Request(`http://localhost/v1/tasks/${id}:subscribe`)),
  },
  'A2A 0.1': {
    send: (text, task) =>
      rpc('/', 'tasks/sendSubscribe', {
        id: task ?? nextId(),
        sessionId: 's',
        message: { role: 'user', parts: [{ type: 'text', text }] },
      }),
    follow: (id) => rpc('/', 'tasks/resubscribe', { id }),
  },
  CortexPrism: {
    send: (text) => rpc('/a2a', 'SendStreamingMessage', { message: { messageId: nextId(), role: 'user', parts: [{ text }] } }),
  },
};

interface Status {
  readonly task: string;
  readonly state: string;
  readonly final: unknown;
}

/** The status of a frame, whatever its dialect wraps it in. */
function statusIn(frame: Record<string, unknown>): Status | undefined {
  const result = (frame['result'] ?? frame) as Record<string, unknown>;
  const event = (result['statusUpdate'] ?? result['task'] ?? result) as Record<string, unknown>;
  const status = event['status'] as { readonly state: string } | undefined;
  if (status === undefined) return undefined;
  const state = status.state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
  return { task: String(event['taskId'] ?? event['id']), state, final: event['final'] ?? false };
}

/** Reads until a status of this state. Fails if the stream ends before. */
async function until(frames: Frames, state: string | RegExp): Promise<Status> {
  for (let frame = await frames.json(); frame !== undefined; frame = await frames.json()) {
    const status = statusIn(frame);
    if (status !== undefined && (typeof state === 'string' ? status.state === state : state.test(status.state))) return status;
  }
  throw new Error(`the stream ended without ${state}`);
}

describe.each(Object.entries(FORMS))('final in %s', (_, { send, follow }) => {
  it('is true at a question, where the stream of a message closes', async () => {
    const asked = framesIn(await send('ask'));
    expect(await until(asked, 'input-required')).toMatchObject({ final: true });
    expect((await asked.rest()).every((data) => data === '[DONE]' || statusIn(JSON.parse(data))?.final === false)).toBe(true);
  });

  it('is false where the stream stays open for a credential', async () => {
    const open = framesIn(await send('auth'));
    // 0.1 and CortexPrism have no auth-required and write input-required.
    expect(await until(open, /^(auth|input)-required$/)).toMatchObject({ final: false });
    await open.cancel();
  });

  it('is false on a subscription, which stays open at a question', async () => {
    if (follow === undefined) return; // CortexPrism can't subscribe
    const asked = framesIn(await send('ask'));
    const { task } = await until(asked, 'input-required');
    const followed = framesIn(await follow(task));
    expect(await until(followed, 'input-required')).toMatchObject({ final: false });
    await framesIn(await send('done', task)).rest();
    expect(await until(followed, 'completed')).toMatchObject({ final: true });
    expect(await followed.rest()).toEqual([]);
  });
});
