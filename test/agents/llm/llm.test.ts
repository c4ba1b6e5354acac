import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatModel, LlmAgentOptions } from '#agents';
import { anthropicModel, llmAgent, openAiModel } from '#agents';
import type { Task } from '#protocol';
import { contextId, getTextFromMessage } from '#protocol';
import { eventually } from '../../support/eventually.ts';
import type { FakeModel } from '../../support/fake-model/server.ts';
import { startFakeModel } from '../../support/fake-model/server.ts';
import { talkTo } from '../../support/talk.ts';

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
afterAll(() => fake.close());

const textOf = (task: Task): string => (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
const reasonOf = (task: Task): string => (task.status.message === undefined ? '' : getTextFromMessage(task.status.message));
const inContext = { contextId: contextId('c1') };

interface Wire {
  readonly name: string;
  readonly keyName: string;
  model(options?: { readonly model?: string; readonly apiKey?: string }): ChatModel;
}

const WIRES: readonly Wire[] = [
  {
    name: 'OpenAI',
    keyName: 'OPENAI_API_KEY',
    model: ({ model = 'fake', ...more } = {}) => openAiModel({ baseUrl: `${fake.url}/v1/`, model, ...more }),
  },
  {
    name: 'Anthropic',
    keyName: 'ANTHROPIC_API_KEY',
    model: ({ model = 'fake', ...more } = {}) => anthropicModel({ baseUrl: fake.url, model, ...more }),
  },
];

describe.each(WIRES)('a model with the API of $name', ({ model, keyName }) => {
  const talk = (more: Partial<LlmAgentOptions> = {}) => talkTo(llmAgent({ model: model(), ...more }));

  it('streams its answer, and tells the used tokens', async () => {
    const { stream } = await talk();
    const events = await stream('good morning');
    expect(events.filter(({ artifactUpdate }) => artifactUpdate !== undefined).length).toBeGreaterThan(2);
    const last = events.at(-1)?.statusUpdate;
    expect(last?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(last?.metadata).toEqual({ model: 'fake', usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } });
  });

  it('remembers the conversation', async () => {
    const { task } = await talk({ system: 'Be kind.' });
    await task('I am Ada', inContext);
    await task('who am I?', inContext);
    expect(
      fake.asked
        .at(-1)
        ?.filter(({ role }) => role !== 'tool')
        .slice(-3),
    ).toEqual([
      { role: 'user', text: 'I am Ada' },
      { role: 'model', text: 'You said I am Ada' },
      { role: 'user', text: 'who am I?' },
    ]);
  });

  it('sends pictures', async () => {
    const { task } = await talk();
    await task([{ text: 'what is it?' }, { raw: 'iVBORw0KGgo=', mediaType: 'image/png', filename: 'a.png' }]);
    expect(JSON.stringify(fake.bodies.at(-1))).toContain('iVBORw0KGgo=');
  });

  const faults: readonly [string, { readonly model?: string; readonly apiKey?: string }, string, string][] = [
    ['a wrong key', { apiKey: 'wrong-key' }, 'hi', `The model refuses the key (HTTP 401). Set ${keyName} to a valid one.`],
    ['an unknown model', { model: 'missing-model' }, 'hi', 'There is no model missing-model at this endpoint (HTTP 404)'],
    ['a rate limit', {}, '[[fail rate]]', "The model's rate limit is reached. Try again in 40 s."],
    ['a context that is too long', {}, '[[fail length]]', 'The conversation is too long for fake.'],
    ['an overloaded model', {}, '[[fail busy]]', 'The model is not available (HTTP 503). Try again in 60 s.'],
    ['a stream that is cut', {}, '[[cut]] one two three four five six', "The model's answer was cut off."],
  ];
  it.each(faults)('tells %s plainly', async (_, options, text, reason) => {
    const { task, reports } = await talkTo(llmAgent({ model: model(options) }));
    const failed = await task(text);
    expect(failed.status.state).toBe('TASK_STATE_FAILED');
    expect(reasonOf(failed)).toContain(reason);
    expect(JSON.stringify(failed)).not.toContain('127.0.0.1');
    expect(reports).toHaveLength(1);
  });

  it('asks a busy model again', async () => {
    const { task } = await talk();
    const requests = fake.requests.length;
    const done = await task(`[[fail rate-once]] ${keyName}`);
    expect([done.status.state, fake.requests.length - requests]).toEqual(['TASK_STATE_COMPLETED', 2]);
  });

  it('stops the request when the task is canceled', async () => {
    const { begin, cancel } = await talk();
    const { task } = await begin('[[mumble 500|20]]');
    await eventually(() => fake.speaking > 0);
    if (task === undefined) throw new Error('no task');
    expect((await cancel(task.id)).status.state).toBe('TASK_STATE_CANCELED');
    await eventually(() => fake.speaking === 0);
  });
});

it('says that a model can not be reached', async () => {
  const closed = await startFakeModel();
  await closed.close();
  const { task } = await talkTo(llmAgent({ model: openAiModel({ baseUrl: `${closed.url}/v1`, model: 'fake' }) }));
  expect(reasonOf(await task('hi'))).toBe("The model can't be reached (ECONNREFUSED). Is its server running, and is the base URL right?");
});

it('lets the model summarise what it no longer remembers', async () => {
  const model = openAiModel({ baseUrl: `${fake.url}/v1`, model: 'fake' });
  const { task } = await talkTo(llmAgent({ model, conversation: { messagesMax: 2 } }));
  for (const text of ['one', 'two', 'three']) await task(text, inContext);
  const [system] = fake.asked.at(-1) ?? [];
  expect(system?.text).toContain('A summary of the conversation before the first message:\nYou said User: one');
  expect(textOf(await task('four', inContext))).toBe('You said four');
});
