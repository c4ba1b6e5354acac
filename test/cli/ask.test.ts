import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SdkVersion } from '../support/sdk-server.ts';
import { sdkExpress } from '../support/sdk-server.ts';
import { fakeAgent, taskOf } from './fake-agent.ts';
import { HAS_PYTHON, onTerminal } from './on-terminal.ts';
import { jsonOf, run, start } from './run.ts';

let script: Parley;
let demo: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  [script, demo] = await Promise.all([parleyServe({ args: ['script', '--memory'] }), parleyServe({ args: ['demo', '--memory'] })]);
});
afterAll(async () => {
  await Promise.all([script.stop(), demo.stop()]);
});

describe('parley ask', () => {
  it('prints the answer and nothing else', async () => {
    expect(await run(['ask', script.url, 'chunks=3'])).toEqual({ code: 0, out: 'chunk 1chunk 2chunk 3\n', err: '' });
    expect((await run(['ask', script.url, 'message'])).code).toBe(0);
  });

  it('prints the answer while it arrives', async () => {
    const running = start(['ask', script.url, 'chunks=3 delay=1200']);
    await running.until(/chunk 1/);
    expect(running.out()).not.toContain('chunk 3');
    expect((await running.ended).out).toContain('chunk 3');
  });

  it.each(['1.3.0', '0.3.13', '0.2.5'] satisfies SdkVersion[])('calls the official server of %s without a flag', async (version) => {
    const sdk = await sdkExpress(version);
    const ran = await run(['ask', sdk.url, 'chunks=2']);
    expect([ran.code, ran.out], ran.err).toEqual([0, expect.stringContaining('chunk 2')]);
    await sdk.close();
  });

  it.each(['v03', 'v02', 'v01', 'society', 'promptkit', 'cortex'])('uses the dialect %s with --dialect', async (dialect) => {
    const path = dialect === 'cortex' ? '/api/a2a' : dialect === 'society' ? '/' : '/a2a';
    const ran = await run(['ask', `${script.url}${path}`, '--dialect', dialect, 'hello']);
    expect([ran.code, ran.out], ran.err).toEqual([0, expect.stringContaining('chunk 1')]);
  });

  it('calls an agent without streams whose card does not say so', async () => {
    const sdk = await sdkExpress('1.3.0', 'unsaid');
    const ran = await run(['ask', sdk.url, 'chunks=2 delay=300']);
    expect(ran).toEqual({ code: 0, out: 'chunk 1chunk 2\n', err: '' });
    await sdk.close();
  });

  it('finds a card in a file, by a path that could be a host', async () => {
    const card = await (await fetch(`${script.url}/.well-known/agent-card.json`)).text();
    mkdirSync(join(folder, 'cards'));
    writeFileSync(join(folder, 'cards', 'agent.json'), card);
    expect(await run(['ask', 'cards/agent.json', 'chunks=1'], { cwd: folder })).toMatchObject({ code: 0, out: 'chunk 1\n' });
  });

  it('prints an open question and the command that answers it', async () => {
    const open = await run(['ask', script.url, 'ask']);
    expect([open.code, open.out]).toEqual([6, 'What should I answer?\n']);
    const [, task = ''] = /--task-id (\S+)/.exec(open.err) ?? [];
    expect(await run(['ask', script.url, '--task-id', task, 'red'])).toMatchObject({ code: 0, out: 'answer: red\n' });
    expect(await run(['ask', script.url, 'ask', '--answer', 'blue'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('answer: blue'),
    });
  });

  it('reports failure by exit code, and details with --json', async () => {
    const failed = await run(['ask', script.url, 'fail']);
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining('the task failed')]);
    const json = await run(['ask', script.url, 'ask', '--json']);
    expect([json.code, jsonOf(json)]).toMatchObject([
      6,
      { state: 'TASK_STATE_INPUT_REQUIRED', question: { kind: 'input', text: 'What should I answer?' } },
    ]);
    const gone = await run(['ask', 'http://127.0.0.1:65000', 'hi', '--json']);
    expect([gone.code, jsonOf(gone)]).toMatchObject([3, { error: { code: 'A2ACLI_ERR_UNREACHABLE' } }]);
  });

  it('sends files and standard input, and saves the files of the answer', async () => {
    const image = join(folder, 'in.png');
    writeFileSync(image, 'png');
    const artifacts = [{ artifactId: 'a', parts: [{ text: 'here' }, { raw: 'aGVsbG8=', filename: '../x.txt', mediaType: 'text/plain' }] }];
    const agent = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED', { artifacts }) } }) },
    });
    const out = join(folder, 'out');
    const ran = await run(['ask', agent.url, 'look', '-', '-f', image, '--save', out], { input: 'piped' });
    expect([ran.code, ran.out], ran.err).toEqual([0, 'here\n[file ../x.txt (text/plain, 5 bytes)]\n']);
    expect(readFileSync(join(out, 'x.txt'), 'utf8')).toBe('hello');
    const file = await run(['ask', agent.url, 'look', '--save', image]);
    expect([file.code, file.err]).toEqual([1, expect.stringContaining(`${image} is a file, and a folder is wanted`)]);
    expect((await run(['ask', agent.url, 'look', '--save', join(image, 'x')])).err).toContain('something on its path is a file');
    expect(agent.calls('SendMessage')[0]?.params).toMatchObject({
      message: { parts: [{ text: 'look\n\npiped' }, { raw: 'cG5n', filename: 'in.png', mediaType: 'image/png' }] },
    });
    await agent.close();
  });

  it('cancels the task on Ctrl-C', async () => {
    const running = start(['ask', script.url, 'chunks=100 delay=300']);
    await running.until(/chunk 1/);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    const listed = await run(['task', 'list', '-a', script.url, '--status', 'canceled', '-o', 'json']);
    expect(jsonOf<{ tasks: unknown[] }>(listed).tasks.length).toBeGreaterThan(0);
  });

  it('reaches an agent by its name in parley.config', async () => {
    writeFileSync(
      join(folder, 'parley.config.json'),
      JSON.stringify({ a2a: { remoteAgents: { scripted: { endpoint: script.url, authToken: 'sk-hidden-1' } } } }),
    );
    const at = { cwd: folder };
    expect((await run(['ask', 'scripted', 'hello'], at)).out).toBe('chunk 1\n');
    expect((await run(['send', '-a', 'scripted', 'hello'], at)).out).toContain('State: COMPLETED');
    const listed = await run(['remote', 'ls'], at);
    expect(listed.out).toMatch(/^Remote: scripted\nEndpoint: .*\nToken: set\n/);
    expect(listed.out + (await run(['remote', 'ls', '--json'], at)).out).not.toContain('sk-hidden-1');
    expect((await run(['remote', 'ls'])).err).toContain('no agents are named here');
  });
});

suiteNeeding('python3', HAS_PYTHON, 'on a terminal', () => {
  it('a question is answered in place', async () => {
    const { code, out } = await onTerminal(['ask', script.url, 'ask'], 'What should I answer[^>]*> ', 'green\\r');
    expect([code, out]).toEqual([0, expect.stringContaining('answer: green')]);
  });

  it('an approval is chosen by number, and other input is rejected', async () => {
    const { out } = await onTerminal(['ask', demo.url, 'approve'], 'Which\\? ', 'perhaps\\r', 'Choose 1 to[\\s\\S]*Which\\? ', '1\\r');
    expect(out).toMatch(/Choose 1 to \d/);
    expect(out).toContain('[file approved.md (text/markdown');
    expect(out).toContain('Thank you. approved.md is');
  });

  it('a status line is shown while the agent works, then cleared', async () => {
    const { code, out } = await onTerminal(['ask', script.url, 'sleep=1500']);
    expect(code).toBe(0);
    expect(out).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /);
    expect(out).toContain('\r\u001b[K');
  });

  it('a chat lasts until the user leaves it', async () => {
    const { code, out } = await onTerminal(
      ['chat', script.url],
      '> ',
      'ask\\r',
      'answer\\?[\\s\\S]*> ',
      'mauve\\r',
      'answer: mauve[\\s\\S]*> ',
      '/quit\\r',
    );
    expect([code, out]).toEqual([0, expect.stringContaining('answer: mauve')]);
  });
});

describe('parley chat --json', () => {
  it('prints an object for each line, in one context, and answers a question with the next', async () => {
    const { code, out, err } = await run(['chat', script.url, '--json'], { input: 'chunks=1\nask\nblue\nfail\n' });
    const answers = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { state: string; text: string; contextId: string; question: { text: string } | null });
    expect([code, err]).toEqual([0, '']);
    expect(answers.map(({ state }) => state.replace('TASK_STATE_', ''))).toEqual(['COMPLETED', 'INPUT_REQUIRED', 'COMPLETED', 'FAILED']);
    expect(answers.map(({ text }) => text).slice(0, 3)).toEqual(['chunk 1', '', 'answer: blue']);
    expect(answers[1]?.question?.text).toBe('What should I answer?');
    expect(new Set(answers.map(({ contextId }) => contextId)).size).toBe(1);
  });

  it('reports as JSON that the agent is unreachable', async () => {
    const { code, out } = await run(['chat', '127.0.0.1:1', '--json'], { input: 'hi\n' });
    expect([code, JSON.parse(out)]).toEqual([3, { error: expect.objectContaining({ code: 'A2ACLI_ERR_UNREACHABLE' }) }]);
  });
});
