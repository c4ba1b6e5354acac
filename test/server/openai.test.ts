import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifact, ask, defineAgent, status } from '#agents';
import type { Authenticate } from '#server';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { builtIn, handlerOf, jsonRequest, startServer } from '../support/server.ts';

interface Completion {
  readonly object: string;
  readonly model: string;
  readonly choices: readonly { readonly message: { readonly role: string; readonly content: string }; readonly finish_reason: string }[];
  readonly usage: object;
  readonly a2a: { readonly taskId?: string; readonly contextId?: string; readonly state?: string };
}

const echo = defineAgent({
  name: 'listener',
  description: 'Says what it hears, in which conversation.',
  inputModes: ['*/*'],
  outputModes: ['*/*'],
  run: (turn) => turn.parts,
});
const talker = defineAgent({
  name: 'talker',
  description: '',
  async *run(turn) {
    if (turn.text === 'ask') {
      yield ask('Which colour?');
      return;
    }
    if (turn.history.length > 0) {
      yield `You said ${turn.text} in ${turn.contextId}`;
      return;
    }
    yield status('thinking');
    yield 'Hello ';
    yield 'world';
    yield artifact({ parts: [{ url: 'https://files.example/a.png', mediaType: 'image/png', filename: 'a.png' }] });
  },
});

const where = defineAgent({ name: 'where', description: '', run: (turn) => `${turn.contextId} | ${turn.text}` });

let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ agents: [talker, echo, where, builtIn('script')] });
});
afterAll(() => server.close());

const chat = (body: object, path = '/v1/chat/completions'): Promise<Response> =>
  fetch(`${server.url}${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const user = (content: unknown): object => ({ role: 'user', content });

async function completed(body: object): Promise<Completion> {
  const response = await chat(body);
  expect(response.status).toBe(200);
  return (await response.json()) as Completion;
}

async function frames(response: Response): Promise<readonly string[]> {
  const text = await response.text();
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
}

describe('/v1/models', () => {
  it('lists the agents of the node', async () => {
    const list = (await (await fetch(`${server.url}/v1/models`)).json()) as { object: string; data: { id: string; object: string }[] };
    expect(list.object).toBe('list');
    expect(list.data.map(({ id, object }) => [id, object])).toEqual([
      ['talker', 'model'],
      ['listener', 'model'],
      ['where', 'model'],
      ['script', 'model'],
    ]);
  });

  it('shows one agent, or a 404', async () => {
    expect(await (await fetch(`${server.url}/v1/models/listener`)).json()).toMatchObject({ id: 'listener', owned_by: 'parley' });
    const none = await fetch(`${server.url}/v1/models/gpt`);
    expect([none.status, await none.json()]).toMatchObject([404, { error: { code: 'model_not_found', type: 'invalid_request_error' } }]);
    const own = (await (await fetch(`${server.url}/agents/where/v1/models`)).json()) as { data: unknown[] };
    expect(own.data).toMatchObject([{ id: 'where' }]);
  });
});

describe('/v1/chat/completions', () => {
  it('returns a complete answer', async () => {
    const made = await completed({ model: 'talker', messages: [user('hi')] });
    expect(made).toMatchObject({
      object: 'chat.completion',
      model: 'talker',
      choices: [
        { message: { role: 'assistant', content: 'Hello world\n\n\n![a.png](https://files.example/a.png)\n' }, finish_reason: 'stop' },
      ],
      a2a: { state: 'TASK_STATE_COMPLETED' },
    });
    const { id } = (await (await fetch(`${server.url}/tasks/${made.a2a.taskId}`)).json()) as { id: string };
    expect(id).toBe(made.a2a.taskId);
  });

  it('streams chunks, keeps status notes apart, and ends with [DONE]', async () => {
    const response = await chat({ model: 'talker', messages: [user('hi')], stream: true, stream_options: { include_usage: true } });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const all = await frames(response);
    expect(all.at(-1)).toBe('[DONE]');
    const chunks = all
      .slice(0, -1)
      .map((data) => JSON.parse(data) as { choices: { delta: object; finish_reason: string | null }[]; usage: unknown });
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'thinking' },
      { content: 'Hello ' },
      { content: 'world' },
      { content: '\n\n\n![a.png](https://files.example/a.png)\n' },
      {},
      undefined,
    ]);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });

  it('accepts text, images, audio and files', async () => {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } },
      { type: 'image_url', image_url: { url: 'https://x.example/b.jpg' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
    ];
    const { a2a } = await completed({ model: 'listener', messages: [user(content)] });
    const task = (await (await fetch(`${server.url}/agents/listener/tasks/${a2a.taskId}`)).json()) as { artifacts: { parts: unknown[] }[] };
    expect(task.artifacts[0]?.parts).toEqual([
      { text: 'look' },
      { raw: 'iVBORw0K', mediaType: 'image/png' },
      { url: 'https://x.example/b.jpg', mediaType: 'image/*' },
      { raw: 'AAAA', mediaType: 'audio/mpeg' },
      { raw: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' },
    ]);
  });

  it('continues the conversation that the messages belong to', async () => {
    const first = [{ role: 'system', content: 'be brief' }, user('one')];
    const { choices, a2a } = await completed({ model: 'where', messages: first });
    const said = choices[0]?.message.content ?? '';
    expect(said).toBe(`${a2a.contextId} | be brief\none`);
    const second = await completed({ model: 'where', messages: [...first, { role: 'assistant', content: ` ${said}\n` }, user('two')] });
    expect(second.choices[0]?.message.content).toBe(`${a2a.contextId} | two`);
    const other = await completed({ model: 'where', messages: first });
    expect(other.a2a.contextId).not.toBe(a2a.contextId);
  });

  it('sends the agent the whole conversation if the node does not know it', async () => {
    const messages = [user('my name is Ann'), { role: 'assistant', content: 'Hello Ann' }, user('who am I?')];
    const { choices } = await completed({ model: 'where', messages });
    expect(choices[0]?.message.content).toMatch(
      /\| The conversation so far:\nuser: my name is Ann\nassistant: Hello Ann\n\nNow:\nwho am I\?$/,
    );
  });

  it('returns a question of the agent, and takes the next message as the answer', async () => {
    const messages = [user('ask')];
    const asked = await completed({ model: 'talker', messages });
    expect(asked.choices[0]?.message.content).toBe('Which colour?');
    const next = [...messages, { role: 'assistant', content: 'Which colour?' }, user('blue')];
    const answered = await completed({ model: 'talker', messages: next });
    expect(answered.choices[0]?.message.content).toBe(`You said blue in ${asked.a2a.contextId}`);
    expect(answered.a2a.taskId).toBe(asked.a2a.taskId);
  });

  it('uses the context that metadata names', async () => {
    const { a2a } = await completed({ model: 'where', messages: [user('x')], metadata: { contextId: 'my-context' } });
    expect(a2a.contextId).toBe('my-context');
  });

  it('accepts any model name below an agent’s path', async () => {
    const response = await chat({ model: 'gpt-9', messages: [user('hi')] }, '/agents/where/v1/chat/completions');
    expect([response.status, ((await response.json()) as Completion).model]).toEqual([200, 'gpt-9']);
  });

  it('cancels the task when the client disconnects', async () => {
    const stop = new AbortController();
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'script', stream: true, messages: [user('chunks=2 delay=60000')] }),
      signal: stop.signal,
    });
    await response.body?.getReader().read();
    stop.abort();
    const states = async (): Promise<readonly string[]> => {
      const { tasks } = (await (await fetch(`${server.url}/agents/script/tasks`)).json()) as { tasks: { status: { state: string } }[] };
      return tasks.map(({ status: { state } }) => state);
    };
    await eventually(async () => (await states()).includes('TASK_STATE_CANCELED'));
  });
});

describe('errors', () => {
  it.each([
    [{ messages: [user('x')] }, 400, { param: 'model', type: 'invalid_request_error' }],
    [{ model: 'talker' }, 400, { param: 'messages' }],
    [{ model: 'talker', messages: [] }, 400, { param: 'messages' }],
    [{ model: 'talker', messages: [{ role: 'robot', content: 'x' }] }, 400, { param: 'messages[0].role' }],
    [{ model: 'talker', messages: [user([{ type: 'video' }])] }, 400, { param: 'messages[0].content[0].type' }],
    [
      { model: 'talker', messages: [user([{ type: 'file', file: { file_data: '<>' } }])] },
      400,
      { param: 'messages[0].content[0].file.file_data' },
    ],
    [{ model: 'talker', messages: [{ role: 'assistant', content: 'x' }] }, 400, { param: 'messages' }],
    [{ model: 'talker', messages: [user('x')], n: 2 }, 400, { param: 'n' }],
    [{ model: 'nobody', messages: [user('x')] }, 404, { code: 'model_not_found', param: 'model' }],
    [
      { model: 'script', messages: [user('fail')] },
      500,
      { message: 'The message asked me to fail.', code: 'task_failed', type: 'server_error' },
    ],
    [{ model: 'script', messages: [user('reject')] }, 400, { message: 'The message asked me to reject this.' }],
  ])('%j is %d', async (body, status, error) => {
    const response = await chat(body);
    expect([response.status, await response.json()]).toMatchObject([status, { error }]);
  });

  it('are a chunk once the stream has begun', async () => {
    const all = await frames(await chat({ model: 'script', stream: true, messages: [user('chunks=1 fail')] }));
    expect(JSON.parse(all.at(-2) ?? '')).toMatchObject({ error: { message: 'The message asked me to fail.' } });
    expect(all.at(-1)).toBe('[DONE]');
  });

  it('have OpenAI’s format for bodies that are not JSON, too large, or of another type', async () => {
    const post = (body: string, type = 'application/json'): Promise<Response> =>
      fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers: { 'Content-Type': type }, body });
    expect(await (await post('{')).json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    const typed = await post('{}', 'text/plain');
    expect([typed.status, await typed.json()]).toMatchObject([415, { error: { type: 'invalid_request_error' } }]);
    const large = await post(JSON.stringify({ model: 'talker', messages: [user('x'.repeat(1_100_000))] }));
    expect([large.status, await large.json()]).toMatchObject([413, { error: { type: 'invalid_request_error' } }]);
  });

  it('have OpenAI’s format if authentication fails', async () => {
    const authenticate: Authenticate = () => ({ status: 401, headers: { 'WWW-Authenticate': 'Bearer' }, body: null });
    const handler = handlerOf({ authenticate });
    const body = { model: 'script', messages: [user('x')] };
    const response = await handler.fetch(jsonRequest('http://localhost/v1/chat/completions', body));
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { error: { type: 'authentication_error', code: 'invalid_api_key' } },
    ]);
    expect((await handler.fetch(new Request('http://localhost/v1/models'))).status).toBe(401);
    await handler.close();
  });

  it('name a missing scope', async () => {
    const handler = handlerOf({ agents: [where], authenticate: () => ({ principal: { id: 'ann', scopes: ['tasks:read'] } }) });
    const response = await handler.fetch(jsonRequest('http://localhost/v1/chat/completions', { model: 'where', messages: [user('x')] }));
    expect([response.status, await response.json()]).toMatchObject([403, { error: { type: 'permission_error' } }]);
    await handler.close();
  });

  it('a chat of one caller is not visible to another', async () => {
    const authenticate: Authenticate = (asked) => ({ principal: { id: asked.header('x-user') ?? '', scopes: ['*'] } });
    const handler = handlerOf({ agents: [where], authenticate });
    const ask1 = async (who: string, messages: object[]): Promise<Completion> => {
      const body = { model: 'where', messages };
      return (await (
        await handler.fetch(jsonRequest('http://localhost/v1/chat/completions', body, { 'X-User': who }))
      ).json()) as Completion;
    };
    const { choices, a2a } = await ask1('ann', [user('hi')]);
    const next = [user('hi'), { role: 'assistant', content: choices[0]?.message.content }, user('again')];
    expect((await ask1('bob', next)).a2a.contextId).not.toBe(a2a.contextId);
    expect((await ask1('ann', next)).a2a.contextId).toBe(a2a.contextId);
    await handler.close();
  });
});
