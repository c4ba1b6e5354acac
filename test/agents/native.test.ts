import { describe, expect, it } from 'vitest';
import { contextId } from '#protocol';
import { answer, play, result, told } from '../support/replay.ts';
import { statusText } from '../support/talk.ts';

interface Expected {
  readonly answer: string;
  readonly told: readonly string[];
  readonly result: object;
  readonly args: readonly string[];
  readonly input?: string;
}

const STREAMS: readonly (readonly [name: string, stream: string, Expected])[] = [
  [
    'codex-exec',
    'codex-exec',
    {
      answer: 'Done with it.',
      told: ['init', 'tool_use shell', 'tool_result shell', 'tool_use apply_patch', 'tool_result apply_patch', 'plan'],
      result: { adapter: 'codex-exec', sessionId: 'x-1', stats: { inputTokens: 100, outputTokens: 12, cachedTokens: 40 } },
      args: ['exec', '--json', '--skip-git-repo-check', '-C', '@CWD', '-s', 'workspace-write', '-m', 'm-1', '-'],
      input: 'go',
    },
  ],
  [
    'gemini:native',
    'gemini',
    {
      answer: 'Let me look.\n\nIt is not there.',
      told: ['init', 'tool_use read_file', 'tool_result read_file error'],
      result: {
        adapter: 'gemini',
        sessionId: 'g-1',
        model: 'gemini-2.5-flash',
        stats: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
      },
      args: ['--output-format', 'stream-json', '--skip-trust', '--approval-mode', 'default', '-m', 'm-1'],
      input: 'go',
    },
  ],
  [
    'opencode:native',
    'opencode',
    {
      answer: 'Edited a.txt.',
      told: ['init', 'tool_use edit', 'tool_result edit'],
      result: { adapter: 'opencode', sessionId: 'ses_1', stats: { inputTokens: 30, outputTokens: 5, costUsd: 0.03 } },
      args: ['run', '--format', 'json', '--dir', '@CWD', '-m', 'm-1'],
      input: 'go',
    },
  ],
  [
    'copilot:native',
    'copilot',
    {
      answer: 'Reading\n\nIt says hello.',
      told: ['init', 'tool_use view', 'tool_result view'],
      result: { adapter: 'copilot', sessionId: 'p-1', model: 'gpt-5.2', stats: { inputTokens: 7, outputTokens: 3 } },
      args: ['--prompt=go', '--output-format', 'json', '--stream', 'on', '--add-dir', '@CWD', '--no-color', '--model', 'm-1'],
    },
  ],
  [
    'cursor:native',
    'cursor',
    {
      answer: 'Writing.\n\nWrote it.',
      told: ['init', 'tool_use write', 'tool_result write', 'tool_use shell', 'tool_result shell error'],
      result: { adapter: 'cursor', sessionId: 'k-1', summary: 'Writing.Wrote it.' },
      args: [
        '-p',
        '--output-format',
        'stream-json',
        '--stream-partial-output',
        '--trust',
        '--workspace',
        '@CWD',
        '--model',
        'm-1',
        '--',
        'go',
      ],
    },
  ],
  [
    'vibe:native',
    'vibe',
    {
      answer: 'There is a.txt.',
      told: ['tool_use bash', 'tool_result bash'],
      result: { adapter: 'vibe', summary: 'There is a.txt.' },
      args: ['--prompt=go', '--output', 'streaming', '--workdir', '@CWD', '--trust'],
    },
  ],
];

describe('a recorded stream of', () => {
  it.each(STREAMS)('%s', async (name, stream, expected) => {
    const { talk, cwd, record } = await play(name, stream);
    const task = await talk.task('go', { metadata: { model: 'm-1' } });
    await talk.stop();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answer(task)).toBe(expected.answer);
    expect(told(task)).toEqual(expected.told);
    expect(result(task)).toMatchObject(expected.result);
    const [call, end] = record();
    expect(call).toMatchObject({ cwd, args: expected.args.map((arg) => arg.replace('@CWD', cwd)) });
    if (expected.input !== undefined) expect(end).toEqual({ input: expected.input });
  });
});

describe('claude', () => {
  const FLAGS = ['-p', '--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose', '--include-partial-messages'];

  it.each([
    ['y', { behavior: 'allow', updatedInput: { command: 'npm test' } }],
    ['Always allow', { behavior: 'allow', updatedPermissions: [{ type: 'addRules' }] }],
    ['n', { behavior: 'deny' }],
  ])('asks, and gets %s', async (words, expected) => {
    const { talk, record } = await play('claude:native', 'claude');
    const waiting = await talk.task('run the tests', { metadata: { budgetUsd: 2, mode: 'acceptEdits' } });
    expect(waiting.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(statusText(waiting)).toContain('Approve: Bash: npm test?');
    const task = await talk.task(words, { taskId: waiting.id });
    await talk.stop();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answer(task)).toBe('I will run it.\n\nAll tests pass.');
    expect(told(task)).toEqual(['init', 'tool_use Bash', 'approval_required Bash', 'tool_result Bash']);
    expect(result(task)).toMatchObject({
      model: 'claude-opus-4-5',
      sessionId: 'c-1',
      stats: { costUsd: 0.0123, inputTokens: 10, turns: 2 },
    });
    const [call, end] = record();
    const untrusted = ['--setting-sources', 'user', '--strict-mcp-config'];
    expect(call?.['args']).toEqual([
      ...FLAGS,
      '--permission-prompt-tool',
      'stdio',
      ...untrusted,
      '--permission-mode',
      'acceptEdits',
      '--max-budget-usd',
      '2',
    ]);
    const reply = JSON.parse(
      `{"type":"control_response","response":{"subtype":"success","request_id":"r1"${String(end?.['input']).trim()}`,
    ) as { response: { response: object } };
    expect(reply.response.response).toMatchObject(expected);
  });

  it('withdraws a question, and the task fails with its own error', async () => {
    const { talk } = await play('claude:native', 'claude-withdrawn');
    const { task } = await talk.begin('write');
    const done = await talk.finished((task ?? { id: '' as never }).id);
    await talk.stop();
    expect(done.status.state).toBe('TASK_STATE_FAILED');
    expect(statusText(done)).toBe('error max turns');
    expect(JSON.stringify(done.history)).toContain('The agent no longer asks: Write:');
  });

  it('continues its session, and starts a new one if that is lost', async () => {
    const { talk, record } = await play('claude:native', 'claude', { approvals: { otherwise: 'allow' } });
    const here = { contextId: contextId('c') };
    await talk.task('one', here);
    await talk.task('two', here);
    await talk.stop();
    const args = record().flatMap(({ args: given }) => (Array.isArray(given) ? [given.join(' ')] : []));
    expect(args[0]).not.toContain('--resume');
    expect(args[1]).toContain('--resume c-1');
  });

  it('starts a new session if the old one is lost, with a notice', async () => {
    const { talk, record } = await play('gemini:native', 'gemini-lost');
    const here = { contextId: contextId('c') };
    await talk.task('one', here);
    const task = await talk.task('two', here);
    await talk.stop();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(task.history)).toContain('The earlier session is lost');
    expect(record().map(({ args }) => Array.isArray(args) && args.includes('--resume'))).toEqual([false, true, false]);
  });

  it('refuses a mode that allows everything', async () => {
    const { talk, record } = await play('claude:native', 'claude');
    const task = await talk.task('go', { metadata: { mode: 'bypassPermissions' } });
    await talk.stop();
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
    expect(() => record()).toThrow();
  });
});

describe('codex', () => {
  it('asks over its app-server', async () => {
    const { talk, record } = await play('codex:native', 'codex');
    const waiting = await talk.task('clean');
    expect(statusText(waiting)).toContain('Approve: shell: rm -rf build — needs write access?');
    const task = await talk.task('acceptForSession', { taskId: waiting.id });
    await talk.stop();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answer(task)).toBe('Cleaned.');
    expect(told(task)).toEqual(['init', 'tool_use shell', 'approval_required shell', 'tool_result shell', 'plan']);
    expect(result(task)).toMatchObject({ model: 'gpt-5.2-codex', sessionId: 'th-1', stats: { inputTokens: 50, outputTokens: 7 } });
    expect(record()[0]).toMatchObject({ args: ['app-server'] });
  });
});
