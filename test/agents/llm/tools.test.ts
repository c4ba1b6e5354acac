import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LlmTool } from '#agents';
import { anthropicModel, llmAgent, openAiModel } from '#agents';
import type { Agent, JsonObject, Task } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { memoryStore } from '../../../src/engine/adapters/memory.ts';
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
const asked = (task: Task): string => (task.status.message === undefined ? '' : getTextFromMessage(task.status.message));

/** Counts its calls. */
function counter(more: Partial<LlmTool> = {}) {
  const inputs: JsonObject[] = [];
  const tool: LlmTool = {
    name: 'count',
    description: 'Counts.',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    run: async (input) => {
      inputs.push(input);
      return { text: `counted ${inputs.length}` };
    },
    ...more,
  };
  return { tool, inputs };
}

const ORDER = '[[call count|{"n":1}]] [[call count|{"n":2}]]';
const agentWith = (tool: LlmTool, more: { readonly approval?: 'never' } = {}): Agent =>
  llmAgent({ model: openAiModel({ baseUrl: `${fake.url}/v1`, model: 'fake' }), tools: [tool], ...more });

describe('tools of a language model', () => {
  it.each([
    ['OpenAI', () => openAiModel({ baseUrl: `${fake.url}/v1`, model: 'fake' })],
    ['Anthropic', () => anthropicModel({ baseUrl: fake.url, model: 'fake' })],
  ])('run with the API of %s, and the model gets their results', async (_, model) => {
    const { tool, inputs } = counter({ isReadOnly: true });
    const { task } = await talkTo(llmAgent({ model: model(), tools: [tool] }));
    expect(textOf(await task(ORDER))).toBe('All done.');
    expect(inputs).toEqual([{ n: 1 }, { n: 2 }]);
    const results = fake.asked.at(-1)?.filter(({ role }) => role === 'tool');
    expect(results?.map(({ text }) => text.replaceAll('"', ''))).toEqual(['counted 1', 'counted 2']);
  });

  it('need an approval, and a rejected one does not run', async () => {
    const { tool, inputs } = counter();
    const { task } = await talkTo(agentWith(tool));
    const first = await task(ORDER);
    expect([first.status.state, asked(first)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'May I call count with {"n":1}?']);
    const second = await task('no', { taskId: first.id });
    expect(asked(second)).toBe('May I call count with {"n":2}?');
    expect(inputs).toEqual([]);
    const done = await task('yes', { taskId: first.id });
    expect([done.status.state, inputs]).toEqual(['TASK_STATE_COMPLETED', [{ n: 2 }]]);
    expect(fake.asked.at(-1)?.filter(({ role }) => role === 'tool')[0]?.text).toBe('The user did not allow this call.');
  });

  it('give the model what a tool throws, and unknown names', async () => {
    const broken = counter({ isReadOnly: true, run: () => Promise.reject(new Error('no such city')) });
    const { task } = await talkTo(agentWith(broken.tool));
    await task('[[call count|{}]] [[call other|{}]]');
    expect(
      fake.asked
        .at(-1)
        ?.filter(({ role }) => role === 'tool')
        .map(({ text }) => text),
    ).toEqual(['no such city', 'There is no tool other.']);
  });

  it('continue after a crash: an answered approval is not asked again, and no tool runs twice', async () => {
    const store = memoryStore();
    const { tool, inputs } = counter();
    const before = await talkTo(agentWith(tool), { store });
    const waiting = await before.task(ORDER);
    await before.task('yes', { taskId: waiting.id });
    expect(inputs).toEqual([{ n: 1 }]);
    const requests = fake.requests.length;
    // The process ends while the second question waits.
    await before.stop();
    const after = await talkTo(agentWith(tool), { store });
    const done = await after.task('yes', { taskId: waiting.id });
    expect([done.status.state, textOf(done), inputs]).toEqual(['TASK_STATE_COMPLETED', 'All done.', [{ n: 1 }, { n: 2 }]]);
    expect(fake.requests.length).toBe(requests + 1);
  });

  it('tell the model of a call that a crash interrupted, and do not repeat it', async () => {
    const store = memoryStore();
    let calls = 0;
    const hanging = counter({
      run: () => {
        calls += 1;
        return new Promise(() => {});
      },
    });
    const before = await talkTo(agentWith(hanging.tool, { approval: 'never' }), { store });
    const { task } = await before.begin('[[call count|{}]]');
    await eventually(() => calls === 1);
    await before.stop();
    const after = await talkTo(agentWith(hanging.tool, { approval: 'never' }), { store });
    if (task === undefined) throw new Error('no task');
    expect(textOf(await after.finished(task.id))).toBe('All done.');
    expect(calls).toBe(1);
    expect(fake.asked.at(-1)?.at(-1)?.text).toBe('The call was interrupted. It may have had its effect.');
  });
});
