import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import type { Part, SendResult, Task } from '#protocol';
import { createUserMessage, messageId } from '#protocol';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import type { Talk } from '../support/talk.ts';
import { callContext, course, said, statusText, talkTo, taskIn } from '../support/talk.ts';

let talk: Talk;
beforeAll(async () => {
  const agent = builtInAgents.get('conformance')?.create();
  if (agent === undefined) throw new Error('no conformance agent');
  talk = await talkTo(agent);
});
afterAll(() => talk.stop());

const FILE: Part = { raw: 'dGNr', filename: 'output.txt', mediaType: 'text/plain' };
const FILE_URL: Part = { url: 'https://example.com/output.txt', filename: 'output.txt', mediaType: 'text/plain' };

interface Expected {
  readonly state: string;
  readonly parts?: readonly Part[];
  readonly words?: string | RegExp;
}
const completedWith = (...parts: readonly Part[]): Expected => ({ state: 'COMPLETED', parts });

const SHARED: readonly (readonly [string, Expected])[] = [
  ['tck-complete-task', { state: 'COMPLETED', words: 'Hello from TCK' }],
  ['tck-input-required', { state: 'INPUT_REQUIRED' }],
  ['tck-auth-required', { state: 'AUTH_REQUIRED', words: /./ }],
  ['tck-reject-task', { state: 'REJECTED', words: /./ }],
  ['tck-artifact-text', completedWith({ text: 'Generated text content' })],
  ['tck-artifact-file-url', completedWith(FILE_URL)],
  ['tck-artifact-file', completedWith(FILE)],
  ['tck-artifact-data', completedWith({ data: { key: 'value', count: 42 } })],
];
const KIT: readonly (readonly [string, Expected])[] = [
  ...SHARED,
  ['tck-stream-001', completedWith({ text: 'Stream hello from TCK' })],
  ['tck-stream-002', { state: 'COMPLETED' }],
  ['tck-stream-003', completedWith({ text: 'Stream task lifecycle' })],
  ['tck-stream-ordering-001', completedWith({ text: 'Ordered output' })],
  ['tck-stream-artifact-text', completedWith({ text: 'Streamed text content' })],
  ['tck-stream-artifact-file', completedWith(FILE)],
  ['tck-stream-artifact-chunked', completedWith({ text: 'chunk-1 chunk-2' })],
  ['tck-infer-ctx', { state: 'COMPLETED', words: /./ }],
];
const ACTS: readonly (readonly [string, Expected])[] = [
  ...SHARED,
  ['tck-task-failure', { state: 'FAILED', words: /./ }],
  ['tck-multi-turn', { state: 'INPUT_REQUIRED' }],
  ['tck-stream-basic', completedWith({ text: 'Stream hello' })],
  ['tck-stream-chunked', completedWith({ text: 'chunk-1 chunk-2 chunk-3' })],
  ['anything', { state: 'COMPLETED' }],
];

function meets(task: Task, { state, parts, words }: Expected): void {
  expect(task.status.state).toBe(`TASK_STATE_${state}`);
  expect(task.status.timestamp).toMatch(/Z$/);
  expect(task.contextId).toMatch(/./);
  if (parts !== undefined) expect(task.artifacts?.flatMap((artifact) => artifact.parts)).toEqual(parts);
  if (words !== undefined) expect(statusText(task)).toMatch(words);
}

/** The final task of a send that returned immediately. */
async function settled(begun: SendResult): Promise<Task> {
  const { id } = taskIn(begun);
  const task = (): Promise<Task> => talk.service.get({ id }, callContext());
  await eventually(async () => /COMPLETED|FAILED|CANCELED|REJECTED|REQUIRED/.test((await task()).status.state));
  return await task();
}

type Say = (name: string) => Parameters<Talk['send']>;
const SUITES: readonly (readonly [string, typeof KIT, Say])[] = [
  ['the official kit', KIT, (name) => ['Hello', { messageId: messageId(`${name}-17`) }]],
  ['the ACTS draft', ACTS, (name) => [`${name} and noise`]],
];

describe.each(SUITES)('%s', (_, table, say) => {
  it.each(table)('%s, with a blocking send', async (name, expected) => {
    meets(await talk.task(...say(name)), expected);
  });

  it.each(table)('%s, with returnImmediately', async (name, expected) => {
    meets(await settled(await talk.begin(...say(name))), expected);
  });

  it.each(table.filter(([, { state }]) => !state.endsWith('REQUIRED')))('%s, streamed', async (name, expected) => {
    const events = await talk.stream(...say(name));
    const [first] = events;
    expect(course(events).at(-1)).toBe(`status ${expected.state}`);
    expect(first?.task).toBeDefined();
    if (first?.task !== undefined) meets(await talk.service.get({ id: first.task.id }, callContext()), expected);
  });

  it('a direct message, with no task', async () => {
    const { message, task } = await talk.send(...say('tck-message-response'));
    expect(task).toBeUndefined();
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'Direct message response' }] });
    expect(message).not.toHaveProperty('taskId');
    expect(course(await talk.stream(...say('tck-message-response')))).toEqual(['message']);
  });
});

describe('the events of a stream', () => {
  it.each([
    ['tck-stream-003', ['task WORKING', 'status WORKING', 'artifact .', 'status COMPLETED']],
    ['tck-stream-artifact-chunked', ['task WORKING', 'status WORKING', 'artifact', 'artifact + .', 'status COMPLETED']],
    ['tck-stream-002', ['task WORKING', 'status COMPLETED']],
  ])('%s', async (id, expected) => {
    expect(course(await talk.stream('Hello', { messageId: messageId(`${id}-1`) }))).toEqual(expected);
  });

  it('tck-stream-chunked', async () => {
    const expected = ['task WORKING', 'status WORKING', 'artifact', 'artifact +', 'artifact + .', 'status COMPLETED'];
    expect(course(await talk.stream('tck-stream-chunked'))).toEqual(expected);
  });
});

describe('turns', () => {
  it('tck-input-required stays on follow-ups that name only the task, and returns each time', async () => {
    const first = await talk.task('Hello', { messageId: messageId('tck-input-required-1') });
    const second = await talk.task('more', { messageId: messageId('tck-input-required-2'), taskId: first.id });
    const third = await talk.task('more', { messageId: messageId('other'), taskId: first.id });
    for (const task of [second, third]) {
      expect([task.id, task.contextId, task.status.state]).toEqual([first.id, first.contextId, 'TASK_STATE_INPUT_REQUIRED']);
    }
  });

  it('tck-multi-turn continues until done, with only the user in its history', async () => {
    const { id } = await talk.task('tck-multi-turn please');
    for (const text of ['more', 'tck-multi-turn']) {
      expect((await talk.task(text, { taskId: id })).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    }
    const done = await talk.task('done', { taskId: id });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(said(done)).toEqual(['tck-multi-turn please', 'more', 'tck-multi-turn', 'done'].map((text) => `ROLE_USER ${text}`));
  });

  it('repeated message ids make new tasks', async () => {
    const one = await talk.task('Hello', { messageId: messageId('tck-complete-task') });
    const two = await talk.task('Hello', { messageId: messageId('tck-complete-task') });
    expect(one.id).not.toBe(two.id);
  });
});

describe('time', () => {
  it('is spent as the kits expect', async () => {
    const took = async (...said: Parameters<Talk['task']>): Promise<number> => {
      const begun = performance.now();
      expect((await talk.task(...said)).status.state).toBe('TASK_STATE_COMPLETED');
      return performance.now() - begun;
    };
    const [long, delayed, resubscribe, basic] = await Promise.all([
      took('tck-long-running'),
      took('Hello', { messageId: messageId('tck-delayed-complete') }),
      took('Hello', { messageId: messageId('test-resubscribe-message-id') }),
      took('tck-stream-basic'),
    ]);
    expectFigure(long, { above: 3000 });
    expectFigure(long, { below: 25_000 });
    expectFigure(delayed, { above: 1900 });
    expectFigure(resubscribe, { above: 3900 });
    expectFigure(basic, { above: 300 });
  });

  it('tck-cancel works until it is canceled', async () => {
    const begun = taskIn(await talk.begin('tck-cancel'));
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(begun.status.state);
    expect((await talk.cancel(begun.id)).status.state).toBe('TASK_STATE_CANCELED');
    expect(talk.reports).toEqual([]);
  });
});

describe('content that the agent does not accept', () => {
  it('is refused before a task is created', async () => {
    const odd = talk.send([{ data: {}, mediaType: 'application/x-unsupported-type-12345' }]);
    await expect(odd).rejects.toMatchObject({ kind: 'CONTENT_TYPE_NOT_SUPPORTED' });
  });
});

it('repeated ids of a kit start new tasks, also after a dropped stream', async () => {
  const dropped = { ...callContext(), onDelivered: () => undefined };
  const message = { ...createUserMessage('Hello'), messageId: messageId('tck-complete-task-1') };
  const ids = new Set<string | undefined>();
  for (let at = 0; at < 3; at += 1) {
    for await (const [first] of talk.service.stream({ message }, dropped)) {
      ids.add(first?.event.task?.id);
      break;
    }
  }
  expect(ids.size).toBe(3);
});
