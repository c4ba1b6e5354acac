import { expect, it } from 'vitest';
import { answer, play, result, told } from '../support/replay.ts';
import { statusText } from '../support/talk.ts';

/**
 * The output of the CLIs of docs/coding-agents.md when each wrote a file, touched another and reported it, recorded byte by byte except for
 * the paths. The recordings have forms that no documentation has.
 */
const SAID = 'All done now.';

it.each([
  ['claude:native', 'claude', ['tool_use Write', 'tool_result Write', 'tool_use Bash', 'approval_required Bash', 'tool_result Bash']],
  [
    'codex:native',
    'codex',
    ['tool_use apply_patch', 'tool_result apply_patch', 'tool_use shell', 'approval_required shell', 'tool_result shell'],
  ],
])('%s writes a file, asks and continues', async (name, stream, expected) => {
  const { talk } = await play(name, `recorded/${stream}`, { approvals: { rules: [{ kind: 'edit', decision: 'allow' }] } });
  const waiting = await talk.task('go');
  expect(waiting.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(statusText(waiting)).toMatch(/^Approve: .*touch .*\/x/);
  const task = await talk.task('y', { taskId: waiting.id });
  await talk.stop();
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(answer(task)).toBe(SAID);
  expect(told(task)).toEqual(['init', ...expected]);
});

it.each([
  ['codex-exec', ['init', 'tool_use apply_patch', 'tool_result apply_patch'], SAID],
  ['gemini', ['init', 'tool_use write_file', 'tool_result write_file'], expect.stringMatching(/^I have no shell among /)],
  ['opencode', ['init', 'tool_use write', 'tool_result write', 'tool_use bash', 'tool_result bash error'], ''],
  ['copilot', ['tool_use create', 'tool_result create', 'tool_use bash', 'tool_result bash error', 'init'], SAID],
])('%s writes a file, and does without what it could not ask', async (stream, expected, words) => {
  const { talk } = await play(stream === 'codex-exec' ? stream : `${stream}:native`, `recorded/${stream}`);
  const task = await talk.task('go');
  await talk.stop();
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(answer(task)).toEqual(words);
  expect(told(task)).toEqual(expected);
  expect(result(task)).toMatchObject({ sessionId: expect.stringMatching(/./) });
});
