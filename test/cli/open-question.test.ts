import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import type { OpenQuestionServer } from '../support/open-question-server.ts';
import { openQuestionServer } from '../support/open-question-server.ts';
import { fakeAgent } from './fake-agent.ts';
import { HAS_PYTHON, onTerminal } from './on-terminal.ts';
import { run } from './run.ts';

let server: OpenQuestionServer;
beforeEach(async () => {
  server = await openQuestionServer();
});
afterEach(() => server.close());

describe('an agent that keeps its stream open at a question', () => {
  it('is answered by `parley ask --answer`, which shows the question and the rest of the work', async () => {
    const { code, out } = await run(['ask', server.url, '2', '--answer', 'y', '--answer', 'n']);
    expect(code).toBe(0);
    expect(out).toMatch(/^before \nApprove: rm 1\?\nafter y \nApprove: rm 2\?\nafter n \n$/);
    expect(server.answers).toEqual(['y', 'n']);
  });

  it('leaves `parley ask` with exit code 6 if nobody can answer', async () => {
    const { code, out } = await run(['ask', server.url, '1']);
    expect([code, out]).toEqual([6, 'before \nApprove: rm 1?\n']);
  });

  it('is answered by the next line of `parley chat`', async () => {
    const { code, out } = await run(['chat', server.url, '--json'], { input: '1\nyes\n' });
    const answers = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly state: string; readonly text: string });
    expect(code).toBe(0);
    expect(answers.map(({ state }) => state)).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED']);
    expect(answers[1]?.text).toBe('before after yes ');
  });
});

suiteNeeding('python3', HAS_PYTHON, 'on a terminal', () => {
  it('the question is answered in place, on the stream that stays open', async () => {
    const { code, out } = await onTerminal(['ask', server.url, '1'], 'Approve: rm 1\\?[\\s\\S]*> ', 'yes\\r');
    expect([code, out]).toEqual([0, expect.stringContaining('after yes')]);
    expect(server.answers).toEqual(['yes']);
  });

  it('Ctrl-C in a chat cancels a message that nobody answers, and at the prompt it leaves', async () => {
    const silent = await fakeAgent({ on: { '*': () => new Promise(() => undefined) } });
    const { code, out } = await onTerminal(
      ['chat', silent.url],
      ...['> ', 'hello\\r'],
      ...['sending', '\\x03'],
      ...['canceled before the agent answered[\\s\\S]*> ', '\\x03'],
    );
    expect([code, out.split('once more leaves at once').length]).toEqual([130, 2]);
    await silent.close();
  });

  it('a second Ctrl-C in a chat ends it at once although the agent does not answer the cancellation', async () => {
    const frames = [{ task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } }];
    const stuck = await fakeAgent({
      on: { SendStreamingMessage: () => ({ frames, holdMs: 60_000 }), '*': () => new Promise(() => undefined) },
      card: { capabilities: { streaming: true } },
    });
    const { code, out } = await onTerminal(
      ['chat', stuck.url],
      ...['> ', 'hello\\r'],
      ...['working', '\\x03'],
      ...['once more leaves at once', '\\x03'],
    );
    expect([code, out]).toEqual([130, expect.stringContaining('canceling')]);
    await stuck.close();
  });
});
