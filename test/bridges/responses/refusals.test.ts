import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../../src/server/adapters/node.ts';
import { startServer } from '../../support/server.ts';
import { AGENTS, openAi, refused } from './agents.ts';

let server: NodeServer;
let client: OpenAI;
beforeAll(async () => {
  server = await startServer({ agents: AGENTS });
  client = openAi(server.url);
});
afterAll(() => server.close());

describe('what is not supported', () => {
  it.each([
    ['temperature', { temperature: 0.2 }],
    ['max_output_tokens', { max_output_tokens: 10 }],
    ['top_p', { top_p: 0.5 }],
    ['truncation', { truncation: 'auto' as const }],
    ['reasoning', { reasoning: { effort: 'high' as const } }],
    ['text', { text: { format: { type: 'json_object' as const } } }],
    ['include', { include: ['message.output_text.logprobs' as const] }],
    ['tool_choice', { tool_choice: 'required' as const }],
    ['prompt', { prompt: { id: 'p' } }],
    ['tools[0].type', { tools: [{ type: 'web_search' as const }] }],
    ['input[0].type', { input: [{ type: 'item_reference' as const, id: 'x' }] }],
    ['input[0].content[0].file_id', { input: [{ role: 'user' as const, content: [{ type: 'input_file' as const, file_id: 'f' }] }] }],
  ])('is refused by name: %s', async (param, more) => {
    expect(await refused(client.responses.create({ model: 'talker', input: 'x', ...more }))).toMatchObject({
      ...{ status: 400, param, code: 'unsupported_parameter' },
    });
  });

  it('is accepted where it changes nothing', async () => {
    const neutral = {
      temperature: 1,
      top_p: 1,
      truncation: 'disabled' as const,
      service_tier: 'auto' as const,
      user: 'u',
      tool_choice: 'auto' as const,
    };
    expect((await client.responses.create({ model: 'talker', input: 'x', ...neutral })).output_text).toBe('Hello x');
  });

  it('names the wrong member of a malformed request', async () => {
    const raw = async (body: object): Promise<unknown> => {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(`${server.url}/v1/responses`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, ...((await response.json()) as object) };
    };
    expect(await raw({ input: 'x' })).toMatchObject({ status: 400, error: { param: 'model', type: 'invalid_request_error' } });
    expect(await raw({ model: 'talker', input: [] })).toMatchObject({ status: 400, error: { param: 'input' } });
    expect(await raw({ model: 'talker', input: [{ role: 'pilot', content: 'x' }] })).toMatchObject({ error: { param: 'input[0].role' } });
    expect(await raw({ model: 'nobody', input: 'x' })).toMatchObject({ status: 404, error: { code: 'model_not_found' } });
    for (const name of ['stream', 'background', 'store', 'parallel_tool_calls', 'instructions', 'previous_response_id']) {
      const value = name.startsWith('i') || name.startsWith('pre') ? 5 : 'no';
      expect(await raw({ model: 'talker', input: 'x', [name]: value })).toMatchObject({ status: 400, error: { param: name } });
    }
    const input = [{ type: 'function_call_output', call_id: 'call_x' }];
    expect(await raw({ model: 'talker', input })).toMatchObject({ status: 400, error: { param: 'input[0].output' } });
  });

  it('refuses to continue a stream after something that is no sequence number', async () => {
    const { id } = await client.responses.create({ model: 'talker', input: 'x' });
    const answer = await fetch(`${server.url}/v1/responses/${id}?stream=true&starting_after=abc`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: 'starting_after' } }]);
  });
});

describe('/v1/conversations', () => {
  it('lists its messages, reads one item, and is deleted', async () => {
    const { id, created_at } = await client.conversations.create();
    expect(created_at).toBeGreaterThan(1_700_000_000);
    await client.responses.create({ model: 'talker', input: 'colour', conversation: id });
    await client.responses.create({ model: 'talker', input: 'red', conversation: id });
    const { data } = await client.conversations.items.list(id, { order: 'asc' });
    const texts = data.flatMap((item) => (item.type === 'message' ? [[item.role, (item.content[0] as { text: string }).text]] : []));
    expect(texts).toEqual([
      ['user', 'colour'],
      ['assistant', 'Which colour?'],
      ['user', 'red'],
      ['assistant', 'You said red'],
    ]);
    const [first] = data;
    expect(await client.conversations.items.retrieve(first?.id ?? '', { conversation_id: id })).toEqual(first);
    expect((await client.conversations.items.list(id, { limit: 1 })).data).toHaveLength(1);
    expect(await client.conversations.retrieve(id)).toMatchObject({ id, object: 'conversation' });
    expect(await client.conversations.delete(id)).toEqual({ id, object: 'conversation.deleted', deleted: true });
    expect((await client.conversations.items.list(id)).data).toEqual([]);
  });

  it('refuses what contexts do not have', async () => {
    expect(await refused(client.conversations.create({ metadata: { a: 'b' } }))).toMatchObject({ status: 400, param: 'metadata' });
    expect(await refused(client.conversations.create({ items: [{ role: 'user', content: 'x' }] }))).toMatchObject({ param: 'items' });
    expect(await refused(client.conversations.items.create('conv_x', { items: [] }))).toMatchObject({ param: 'items' });
    expect((await refused(client.conversations.retrieve('nobody'))).status).toBe(404);
  });
});

describe('callers', () => {
  it('see only their own responses and conversations, and one agent below its path', async () => {
    const keyed = await startServer({
      agents: AGENTS,
      authenticate: (request) => ({ principal: { id: request.header('authorization') ?? 'nobody', scopes: ['*'] } }),
    });
    const [ann, bob] = [openAi(keyed.url, 'ann'), openAi(keyed.url, 'bob')];
    const made = await ann.responses.create({ model: 'talker', input: 'x', conversation: 'shared' });
    expect((await refused(bob.responses.retrieve(made.id))).status).toBe(404);
    expect((await refused(bob.responses.delete(made.id))).status).toBe(404);
    expect((await refused(bob.responses.create({ model: 'talker', input: 'y', previous_response_id: made.id }))).code).toBe(
      'previous_response_not_found',
    );
    expect((await bob.conversations.items.list('shared')).data).toEqual([]);
    const own = new OpenAI({ apiKey: 'ann', baseURL: `${keyed.url}/agents/where/v1`, maxRetries: 0 });
    expect((await own.responses.create({ model: 'gpt', input: 'x' })).model).toBe('where');
    expect((await refused(own.responses.retrieve(made.id))).status).toBe(404);
    await keyed.close();
  });
});
