import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../../src/server/adapters/node.ts';
import { eventually } from '../../support/eventually.ts';
import { startServer } from '../../support/server.ts';
import { AGENTS, gates, openAi, refused } from './agents.ts';

let server: NodeServer;
let client: OpenAI;
beforeAll(async () => {
  server = await startServer({ agents: AGENTS });
  client = openAi(server.url);
});
afterAll(() => server.close());

type WithOrigin = { readonly a2a: { readonly taskId: string; readonly contextId: string; readonly state: string } };
const originOf = (response: object): WithOrigin['a2a'] => (response as WithOrigin).a2a;

describe('/v1/responses with the official client', () => {
  it('answers, and reads the same response again', async () => {
    const made = await client.responses.create({ model: 'talker', input: 'world', metadata: { a: 'b' }, instructions: 'Be kind.' });
    expect(made).toMatchObject({
      ...{ object: 'response', status: 'completed', model: 'talker', metadata: { a: 'b' }, instructions: 'Be kind.', error: null },
      output: [
        { type: 'reasoning', summary: [{ text: 'Thinking' }] },
        { type: 'message', role: 'assistant', status: 'completed' },
      ],
    });
    expect(made.output_text).toBe('Hello Be kind.\nworld');
    const again = await client.responses.retrieve(made.id);
    expect(again).toMatchObject({ id: made.id, status: 'completed', metadata: { a: 'b' }, created_at: made.created_at });
    expect(again.output_text).toBe(made.output_text);
  });

  it('streams every event with its number, and ends with the whole response', async () => {
    const stream = await client.responses.create({ model: 'talker', input: 'world', stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      ...['created', 'in_progress', 'output_item.added', 'reasoning_summary_part.added', 'reasoning_summary_text.delta'],
      ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done', 'output_item.added', 'content_part.added'],
      ...['output_text.delta', 'output_text.delta', 'output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    const final = await client.responses.stream({ model: 'talker', input: 'you' }).finalResponse();
    expect(final.output_text).toBe('Hello you');
  });

  it('continues after a previous response, and in a conversation', async () => {
    const first = await client.responses.create({ model: 'where', input: 'a' });
    const second = await client.responses.create({ model: 'where', input: 'b', previous_response_id: first.id });
    expect(second.output_text).toBe(first.output_text);
    expect(second.previous_response_id).toBe(first.id);
    const { id } = await client.conversations.create();
    const inside = await client.responses.create({ model: 'where', input: 'c', conversation: id });
    expect(inside.output_text).toBe(id);
    expect(inside.conversation).toEqual({ id });
    const both = client.responses.create({ model: 'where', input: 'c', conversation: id, previous_response_id: first.id });
    expect(await refused(both)).toMatchObject({ status: 400, param: 'conversation' });
    const unknown = client.responses.create({ model: 'where', input: 'c', previous_response_id: 'resp_nothing' });
    expect(await refused(unknown)).toMatchObject({ status: 400, code: 'previous_response_not_found', param: 'previous_response_id' });
    const other = client.responses.create({ model: 'talker', input: 'c', previous_response_id: first.id });
    expect(await refused(other)).toMatchObject({ status: 400, param: 'model' });
  });

  it('answers a question of the agent with the next request', async () => {
    const asked = await client.responses.create({ model: 'talker', input: 'colour' });
    expect([asked.output_text, asked.status, originOf(asked).state]).toEqual(['Which colour?', 'completed', 'TASK_STATE_INPUT_REQUIRED']);
    const told = await client.responses.create({ model: 'talker', input: 'blue', previous_response_id: asked.id });
    expect(told.output_text).toBe('You said blue');
    expect(originOf(told).taskId).toBe(originOf(asked).taskId);
    expect((await client.responses.retrieve(asked.id)).output_text).toBe('Which colour?');
    expect((await client.responses.retrieve(told.id)).output_text).toBe('You said blue');
  });

  it('passes calls of functions to the caller, and their outputs back', async () => {
    const tools = [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: false }];
    const asked = await client.responses.create({ model: 'talker', input: 'tool', tools });
    const [call] = asked.output;
    if (call?.type !== 'function_call') throw new Error('no call');
    expect(call).toMatchObject({ name: 'weather', arguments: '{"city":"Rome"}', status: 'completed' });
    const output = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' }];
    const done = await client.responses.create({ model: 'talker', input: output, tools, previous_response_id: asked.id });
    expect(done.output_text).toBe('The weather is sunny');
    expect((await client.responses.retrieve(asked.id)).output).toMatchObject([{ type: 'function_call', call_id: call.call_id }]);
    // A client that keeps the conversation itself.
    const streamed = await client.responses.stream({ model: 'talker', input: 'tool', tools }).finalResponse();
    const [again] = streamed.output;
    if (again?.type !== 'function_call') throw new Error('no call');
    const all = [
      { role: 'user' as const, content: 'tool' },
      again,
      { type: 'function_call_output' as const, call_id: again.call_id, output: 'wet' },
    ];
    expect((await client.responses.create({ model: 'talker', input: all, tools })).output_text).toBe('The weather is wet');
    const without = await client.responses.create({ model: 'talker', input: 'tool' });
    expect(without.output_text).toBe('Please run weather.');
  });

  it('takes images and files, and gives its input items back', async () => {
    const content: OpenAI.Responses.ResponseInputContent[] = [
      { type: 'input_text', text: 'parts' },
      { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aGk=' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
      { type: 'input_file', file_url: 'https://files.example/b.pdf' },
    ];
    const made = await client.responses.create({ model: 'talker', input: [{ role: 'user', content }] });
    expect(made.output_text).toBe('aGk= image/png, aGk= application/pdf, https://files.example/b.pdf application/octet-stream');
    const { data } = await client.responses.inputItems.list(made.id);
    expect(data).toMatchObject([
      { type: 'message', role: 'user', content: [{ text: 'parts' }, { image_url: 'data:image/png;base64,aGk=' }, {}, {}] },
    ]);
  });

  it('tells an agent that it has not met a conversation that the client kept', async () => {
    const input = [
      { role: 'user' as const, content: 'My name is Ada.' },
      { role: 'assistant' as const, content: 'Hello Ada.' },
      { role: 'user' as const, content: 'And now?' },
    ];
    expect((await client.responses.create({ model: 'talker', input })).output_text).toContain(
      'user: My name is Ada.\nassistant: Hello Ada.',
    );
  });

  it('reports a failed task', async () => {
    const made = await client.responses.create({ model: 'talker', input: 'fail' });
    expect(made).toMatchObject({ status: 'failed', error: { message: 'The disk is full.' } });
    const stream = await client.responses.create({ model: 'talker', input: 'fail', stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types.at(-1)).toBe('response.failed');
  });

  it('deletes a response, and keeps nothing with store: false', async () => {
    const made = await client.responses.create({ model: 'talker', input: 'x' });
    await client.responses.delete(made.id);
    expect(await refused(client.responses.retrieve(made.id))).toMatchObject({ status: 404, code: 'response_not_found' });
    const unkept = await client.responses.create({ model: 'talker', input: 'x', store: false });
    expect(unkept.output_text).toBe('Hello x');
    expect((await refused(client.responses.retrieve(unkept.id))).status).toBe(404);
  });
});

describe('background mode', () => {
  it('returns at once, is polled, and outlives its caller', async () => {
    const made = await client.responses.create({ model: 'slow', input: 'go', background: true });
    expect(['queued', 'in_progress']).toContain(made.status);
    expect(made.background).toBe(true);
    await eventually(() => expect(gates.has(originOf(made).contextId)).toBe(true));
    gates.get(originOf(made).contextId)?.();
    await eventually(async () => expect((await client.responses.retrieve(made.id)).status).toBe('completed'));
    expect((await client.responses.retrieve(made.id)).output_text).toBe('One two.');
  });

  it('is canceled by the caller, and only in this mode', async () => {
    const made = await client.responses.create({ model: 'slow', input: 'go', background: true });
    expect((await client.responses.cancel(made.id)).status).toBe('cancelled');
    expect((await client.responses.cancel(made.id)).status).toBe('cancelled');
    const other = await client.responses.create({ model: 'talker', input: 'x' });
    expect((await refused(client.responses.cancel(other.id))).status).toBe(400);
  });

  it('resumes a stream after a sequence number', async () => {
    const stream = await client.responses.create({ model: 'slow', input: 'go', background: true, stream: true });
    let id = '';
    let last = -1;
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      last = event.sequence_number;
      if (event.type === 'response.output_text.delta') break;
    }
    gates.get(originOf(await client.responses.retrieve(id)).contextId)?.();
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: last });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of rest) events.push(event);
    expect(events[0]?.sequence_number).toBe(last + 1);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    expect(events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))).toEqual(['two.']);
  });

  it('a response that answers a question is followed until it ends, and its question can be read again', async () => {
    const asked = await client.responses.create({ model: 'slow', input: 'ask first' });
    const answer = { model: 'slow', input: 'yes', previous_response_id: asked.id, background: true };
    const { id } = await client.responses.create(answer);
    const followed = async (response: string): Promise<readonly [string, string | undefined]> => {
      let [text, last] = ['', ''];
      for await (const event of await client.responses.retrieve(response, { stream: true })) {
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (text === 'One ') for (const open of gates.values()) open();
        last = event.type;
      }
      return [text, last];
    };
    expect(await followed(id)).toEqual(['One two.', 'response.completed']);
    expect(await followed(asked.id)).toEqual(['Sure?', 'response.completed']);
    expect(await followed(id)).toEqual(['One two.', 'response.completed']);
  });

  const left = async (store: boolean): Promise<string> => {
    const leave = new AbortController();
    const stream = await client.responses.create({ model: 'slow', input: 'go', stream: true, store }, { signal: leave.signal });
    let id = '';
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') break;
    }
    leave.abort();
    return id;
  };

  it('a response of another mode is canceled when its caller hangs up', async () => {
    const id = await left(true);
    await eventually(async () => expect((await client.responses.retrieve(id)).status).toBe('cancelled'));
  });

  it('nothing is kept of a response with store: false whose caller hangs up', async () => {
    const id = await left(false);
    await eventually(async () => expect((await refused(client.responses.retrieve(id))).status).toBe(404));
  });
});
