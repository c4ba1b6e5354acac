import { defineAgent } from 'parley-a2a/agents';
import { afterAll, describe, expect, it } from 'vitest';
import { handlerOf, jsonRequest } from '../support/server.ts';

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
] as const;
const agent = defineAgent({
  name: 'asking',
  description: 'Asks for an approval.',
  async *run(turn) {
    const { option } = await turn.ask('Delete 3 files?', { options: OPTIONS });
    yield `chosen: ${option}`;
  },
});
const handler = handlerOf({ agents: [agent] });
afterAll(() => handler.close());

let count = 0;
async function rpc(path: string, method: string, params: object): Promise<string> {
  const answer = await handler.fetch(jsonRequest(`http://localhost${path}`, { jsonrpc: '2.0', id: 'c', method, params }));
  return JSON.stringify(await answer.json());
}

/** How each dialect sends a text in a conversation. Only the conversation says which question the text answers. */
const FORMS: Readonly<Record<string, (text: string, conversation: string) => Promise<string>>> = {
  'A2A 0.3': (text, contextId) =>
    rpc('/a2a/jsonrpc', 'message/send', {
      message: { kind: 'message', messageId: `m-${count}`, role: 'user', contextId, parts: [{ kind: 'text', text }] },
    }),
  'A2A 0.3 HTTP+JSON': async (text, contextId) => {
    const message = { messageId: `m-${count}`, role: 'ROLE_USER', contextId, content: [{ text }] };
    return JSON.stringify(await (await handler.fetch(jsonRequest('http://localhost/v1/message:send', { message }))).json());
  },
  'A2A 0.2': (text, contextId) =>
    rpc('/a2a/jsonrpc?dialect=v02', 'message/send', {
      message: { kind: 'message', messageId: `m-${count}`, role: 'user', contextId, parts: [{ kind: 'text', text }] },
    }),
  'A2A 0.1': (text, id) => rpc('/', 'tasks/send', { id, sessionId: id, message: { role: 'user', parts: [{ type: 'text', text }] } }),
  Society: (text, id) => rpc('/', 'tasks/send', { id, message: { role: 'user', parts: [{ type: 'text', text }] } }),
  PromptKit: (text, contextId) =>
    rpc('/a2a', 'message/send', { message: { messageId: `m-${count}`, contextId, role: 'user', parts: [{ text }] } }),
  CortexPrism: (text, contextId) =>
    rpc('/a2a', 'SendMessage', { message: { messageId: `m-${count}`, role: 'user', parts: [{ text }], metadata: { contextId } } }),
};

/** How the dialects that resume by the task's id only do it. Without one they make a task. */
const BY_ID: Readonly<Record<string, (text: string, contextId: string, taskId?: string) => Promise<string>>> = {
  'A2A 1.0 JSON-RPC': (text, contextId, taskId) =>
    rpc('/a2a/jsonrpc', 'SendMessage', { message: { messageId: `m-${count}`, role: 'ROLE_USER', contextId, taskId, parts: [{ text }] } }),
  'A2A 1.0 HTTP+JSON': async (text, contextId, taskId) => {
    const message = { messageId: `m-${count}`, role: 'ROLE_USER', contextId, taskId, parts: [{ text }] };
    return JSON.stringify(await (await handler.fetch(jsonRequest('http://localhost/message:send', { message }))).json());
  },
};

describe.each(Object.entries(BY_ID))('an approval in %s', (name, send) => {
  const say = async (text: string, taskId?: string): Promise<string> => {
    count += 1;
    return await send(text, `talk-${name}`, taskId);
  };
  it('is asked for again after a text that chooses no option, and no other task of its context waits behind it', async () => {
    const asked = await say('go');
    expect(asked).toContain('Delete 3 files?');
    const id = /"task":\{"id":"([^"]+)"/.exec(asked)?.[1];
    const again = await say('which files are these?', id);
    expect(again).toContain('Delete 3 files?');
    expect(again).not.toContain('chosen');
    const other = await say('which files are these?');
    expect(other).toContain('Delete 3 files?');
    expect(other).not.toContain(`"task":{"id":"${id}"`);
    expect(await say('y', id)).toContain('chosen: allow');
  });
});

describe.each(Object.entries(FORMS))('an approval in %s', (name, send) => {
  it('is asked for again after a text that chooses no option, and nothing waits behind it', async () => {
    const say = async (text: string): Promise<string> => {
      count += 1;
      return await send(text, `talk-${name}`);
    };
    expect(await say('go')).toContain('Delete 3 files?');
    const again = await say('which files are these?');
    expect(again).toContain('Delete 3 files?');
    expect(again).not.toContain('chosen');
    expect(await say('y')).toContain('chosen: allow');
  });
});

it('each of twenty simultaneous A2A 0.1 messages under one new name is dealt with', async () => {
  const echo = handlerOf();
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const message = { role: 'user', parts: [{ type: 'text', text: `message ${at}` }] };
      const body = { jsonrpc: '2.0', id: at, method: 'tasks/send', params: { id: 'one-name', sessionId: 's', message } };
      return JSON.stringify(await (await echo.fetch(jsonRequest('http://localhost/agents/echo/', body))).json());
    }),
  );
  for (const [at, answer] of answers.entries()) expect(answer).toContain(`message ${at}`);
  await echo.close();
});
