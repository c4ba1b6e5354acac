import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import { eventually } from '../support/eventually.ts';
import type { OpenQuestionServer } from '../support/open-question-server.ts';
import { openQuestionServer } from '../support/open-question-server.ts';

let server: OpenQuestionServer;
let client: A2AClient;
beforeEach(async () => {
  server = await openQuestionServer();
  client = await A2AClient.connect(server.url);
});
afterEach(() => server.close());

describe('an agent that keeps its stream open at a question', () => {
  it('gets the answer by a message, and the rest is read from the same stream', async () => {
    const handle = client.stream('1');
    const states: (string | undefined)[] = [];
    for await (const { task, statusUpdate } of handle) states.push((task ?? statusUpdate)?.status.state);
    expect(states.at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(await handle.question()).toMatchObject({ text: 'Approve: rm 1?', taskId: 'task-uuid' });
    const answered = handle.answer('y');
    const texts: string[] = [];
    for await (const { artifactUpdate } of answered) texts.push(...(artifactUpdate?.artifact.parts ?? []).map(({ text = '' }) => text));
    expect(texts.join('')).toBe('after y ');
    expect(await answered.text()).toBe('before after y ');
    expect((await answered.result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(server.answers).toEqual(['y']);
  });

  it('may ask again on the same stream', async () => {
    const first = client.stream('2');
    expect((await first.question())?.text).toBe('Approve: rm 1?');
    const second = first.answer('y');
    expect((await second.question())?.text).toBe('Approve: rm 2?');
    expect(await second.answer('n').text()).toBe('before after y after n ');
    expect(server.answers).toEqual(['y', 'n']);
  });

  it('is left by closing the handle', async () => {
    const handle = client.stream('1');
    await handle.question();
    expect(server.open()).toBe(1);
    await handle.close();
    await eventually(() => server.open() === 0);
  });

  it('is left if the answer is aborted', async () => {
    const handle = client.stream('1');
    await handle.question();
    await expect(handle.answer('y', { signal: AbortSignal.abort() }).result()).rejects.toMatchObject({ kind: 'aborted' });
    await eventually(() => server.open() === 0);
  });
});
