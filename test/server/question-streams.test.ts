import { ask, defineAgent } from 'parley-a2a/agents';
import { afterAll, describe, expect, it } from 'vitest';
import type { Frames } from '../support/frames.ts';
import { framesIn } from '../support/frames.ts';
import { handlerOf, jsonRequest } from '../support/server.ts';

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
] as const;

/** Asks within its run, or at its end (`question`). */
const asking = (name: string, questionsKeepStream: boolean) =>
  defineAgent({
    name,
    description: 'Asks for an approval.',
    questionsKeepStream,
    async *run(turn) {
      if (turn.text === 'question') return yield ask('Which color?');
      if (turn.history.length > 0) return yield `chose ${turn.text}`;
      yield 'before ';
      const { option } = await turn.ask('Delete 3 files?', { options: OPTIONS });
      yield `after ${option}`;
    },
  });

const handler = handlerOf({ agents: [asking('open', true), asking('closing', false)] });
afterAll(() => handler.close());

let count = 0;
async function call(agent: string, method: string, message: object): Promise<Response> {
  count += 1;
  const sent = { kind: 'message', messageId: `m-${count}`, role: 'user', parts: [{ kind: 'text', text: 'go' }], ...message };
  const body = { jsonrpc: '2.0', id: 1, method, params: { message: sent } };
  return await handler.fetch(jsonRequest(`http://localhost/agents/${agent}/a2a/jsonrpc`, body));
}

interface Update {
  readonly taskId: string;
  readonly contextId: string;
  readonly final?: boolean;
  readonly status?: { readonly state: string };
}

async function until(frames: Frames, state: string): Promise<Update> {
  for (let frame = await frames.json(); frame !== undefined; frame = await frames.json()) {
    const update = frame['result'] as Update;
    if (update.status?.state === state) return update;
  }
  throw new Error(`the stream ended without ${state}`);
}

describe('a stream of A2A 0.3 at an approval', () => {
  it('stays open without `final` where the run waits, and continues after an answer by context alone', async () => {
    const stream = framesIn(await call('open', 'message/stream', {}));
    const asked = await until(stream, 'input-required');
    expect(asked.final).toBe(false);
    const parts = [{ kind: 'text', text: 'y' }];
    const answered = (await (await call('open', 'message/send', { contextId: asked.contextId, parts })).json()) as { result: object };
    expect(answered.result).toMatchObject({ id: asked.taskId, status: { state: 'completed' } });
    const rest = (await stream.rest()).map((data) => JSON.parse(data).result);
    expect(JSON.stringify(rest)).toContain('after allow');
    expect(rest.at(-1)).toMatchObject({ status: { state: 'completed' }, final: true });
  });

  it('ends at a question after which no run waits', async () => {
    const stream = framesIn(await call('open', 'message/stream', { parts: [{ kind: 'text', text: 'question' }] }));
    expect(await until(stream, 'input-required')).toMatchObject({ final: true });
    expect(await stream.rest()).toEqual([]);
  });

  it('stays open again at the second question of the same stream', async () => {
    const stream = framesIn(await call('open', 'message/stream', {}));
    const { taskId } = await until(stream, 'input-required');
    const unclear = framesIn(await call('open', 'message/stream', { taskId, parts: [{ kind: 'text', text: 'what is this?' }] }));
    expect(await until(unclear, 'input-required')).toMatchObject({ final: false });
    expect(await until(stream, 'input-required')).toMatchObject({ final: false });
    await (await call('open', 'message/send', { taskId, parts: [{ kind: 'text', text: 'n' }] })).json();
    for (const each of [stream, unclear]) expect(await until(each, 'completed')).toMatchObject({ final: true });
  });

  it('ends there for an agent that does not say that it stays open', async () => {
    const stream = framesIn(await call('closing', 'message/stream', {}));
    expect(await until(stream, 'input-required')).toMatchObject({ final: true });
    expect(await stream.rest()).toEqual([]);
  });
});

describe('a stream of A2A 1.0 and of A2A 0.3 over HTTP+JSON', () => {
  it('ends at an approval of the same agent, where the clients of the SDKs ask their users', async () => {
    count += 1;
    const [messageId, base] = [`m-${count}`, 'http://localhost/agents/open'];
    const current = { message: { messageId, role: 'ROLE_USER', parts: [{ text: 'go' }] } };
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: current };
    const rest = { message: { messageId: `${messageId}-rest`, role: 'ROLE_USER', content: [{ text: 'go' }] } };
    for (const request of [jsonRequest(`${base}/a2a/jsonrpc`, rpc), jsonRequest(`${base}/v1/message:stream`, rest)]) {
      expect((await framesIn(await handler.fetch(request)).rest()).at(-1)).toContain('INPUT_REQUIRED');
    }
  });
});
