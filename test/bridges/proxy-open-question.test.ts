import { A2AClient } from 'parley-a2a';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getTextFromMessage } from '#protocol';
import type { OpenQuestionServer } from '../support/open-question-server.ts';
import { openQuestionServer } from '../support/open-question-server.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';

describe('a proxied agent of 0.3 that keeps its stream open at a question', () => {
  let origin: OpenQuestionServer;
  let proxy: Parley;
  beforeAll(async () => {
    origin = await openQuestionServer();
    proxy = await parleyServe({ command: ['proxy', origin.url], args: ['--memory'] });
  });
  afterAll(async () => {
    await proxy.stop();
    await origin.close();
  });

  it('asks the caller of the proxy, and continues with the answer', async () => {
    const client = await A2AClient.connect(proxy.url);
    const sent = client.stream('2');
    const states: string[] = [];
    for await (const { statusUpdate } of sent) if (statusUpdate !== undefined) states.push(statusUpdate.status.state);
    expect(states.at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
    const { task: asked } = await sent.result();
    expect(asked?.status.message && getTextFromMessage(asked.status.message)).toBe('Approve: rm 1?');

    const taskId = asked?.id ?? '';
    const again = await client.send('y', { taskId }).result();
    expect(again.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const done = await client.send('n', { taskId }).result();
    expect(done.task?.status.state).toBe('TASK_STATE_COMPLETED');
    const parts = (done.task?.artifacts ?? []).flatMap((artifact) => artifact.parts);
    expect(parts.map(({ text }) => text).join('')).toBe('before after y after n ');
    expect(origin.answers).toEqual(['y', 'n']);
    expect(origin.open()).toBe(0);
  });
});
