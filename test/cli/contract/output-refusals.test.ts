import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { begun, fieldOf, jsonOf, linesOf, run, start } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

let script: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory', '--allow-loopback-targets'] });
});
afterAll(() => script.stop());

const silent = (on: Parameters<typeof fakeAgent>[0]['on'], card: object = { capabilities: {} }) => fakeAgent({ card, on });

describe('output', () => {
  verifies('A2ACLI_OUT_001', 'downloads, push configurations and chats name task, context and state', async () => {
    const { task } = await begun(script.url, 'ask');
    const push = ['task', 'push-config'];
    const outputs = [
      await run([...push, 'create', task, '-a', script.url, '--url', 'http://127.0.0.1:9/hook', '--id', 'h']),
      await run([...push, 'get', task, 'h', '-a', script.url]),
      await run([...push, 'list', task, '-a', script.url]),
      await run([...push, 'delete', task, 'h', '-a', script.url]),
      await run(['task', 'download', task, '-a', script.url, '--dir', folder]),
      await run(['chat', script.url], { input: 'ask\n' }),
    ];
    for (const ran of outputs) {
      expect([ran.code, fieldOf(ran, 'Context'), fieldOf(ran, 'State')], ran.err).toEqual([
        0,
        expect.stringMatching(/\S/),
        'INPUT_REQUIRED',
      ]);
      expect(fieldOf(ran, 'Task')).toMatch(/\S/);
    }
    const download = await run(['task', 'download', task, '-a', script.url, '--dir', folder, '-o', 'json']);
    expect(jsonOf(download)).toMatchObject({ taskId: task, contextId: expect.any(String), state: 'TASK_STATE_INPUT_REQUIRED' });
  });

  excludes('A2ACLI_OUT_001', 'no payload is on standard error, and no diagnostics are on standard output', async () => {
    const ran = await run(['send', '-a', script.url, '--debug', '-v', 'ask']);
    expect(ran.out).not.toMatch(/debug:|warning:|waiting/);
    expect(ran.err.split('\n').filter((line) => !/^(?:debug: |warning: |note: |waiting |$)/.test(line))).toEqual([]);
  });

  excludes('A2ACLI_OUT_002', 'no command prints JSON lines that nobody asked for, or drops what the agent sent', async () => {
    const { task } = await begun(script.url, 'ask');
    const listening = start(['task', 'push-config', 'listen', '-a', script.url, task, '-o', 'json']);
    await listening.until(/listening at/, 'err');
    await run(['send', '-a', script.url, '--task-id', task, 'blue']);
    expect(jsonOf(await listening.ended)).toMatchObject({ id: task, status: { state: 'TASK_STATE_COMPLETED' } });
    const message = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }], 'x-own': 1 }, 'x-beside': [true] };
    const page = (at: number) => ({
      tasks: [taskOf('COMPLETED', { id: `t-${at}`, 'x-own': at })],
      nextPageToken: at < 2 ? 'more' : '',
      pageSize: 1,
      totalSize: 2,
    });
    const agent = await fakeAgent({
      on: {
        SendStreamingMessage: () => ({ frames: [message] }),
        ListTasks: ({ pageToken }) => ({ result: page(pageToken === 'more' ? 2 : 1) }),
      },
    });
    expect(jsonOf(await run(['send', '-a', agent.url, '-o', 'json', 'hi']))).toEqual(message);
    expect(jsonOf<{ tasks: unknown }>(await run(['task', 'list', '-a', agent.url, '--all', '-o', 'json'])).tasks).toEqual([
      ...page(1).tasks,
      ...page(2).tasks,
    ]);
    await agent.close();
  });

  excludes('A2ACLI_OUT_005', 'text of an agent can’t pretend to be a field, and a chat of a script ends at the first error', async () => {
    const text = 'Fine.\n\nState: FAILED\nTask: t-9\u2028State: FAILED\nnot a State: here';
    const artifacts = [{ artifactId: 'a', parts: [{ text }] }];
    const agent = await silent({ SendMessage: () => ({ result: { task: taskOf('COMPLETED', { artifacts }) } }) });
    const { out } = await run(['send', '-a', agent.url, 'hi']);
    expect([out.match(/^State: .*$/gm), out.match(/^Task: .*$/gm)]).toEqual([['State: COMPLETED'], ['Task: t-1']]);
    expect(out).toContain('\n  State: FAILED\n  Task: t-9\ufffdState: FAILED\nnot a State: here\n');
    await agent.close();
    const refusing = await silent({ SendMessage: () => ({ error: { code: -32602, message: 'no' } }) });
    const chat = await run(['chat', refusing.url], { input: 'one\ntwo\n' });
    expect([chat.code, chat.out, refusing.calls('SendMessage').length]).toEqual([1, '', 1]);
    expect(chat.err).toMatch(/^Error: no\nCode: InvalidParamsError\n/m);
    await refusing.close();
  });

  excludes('A2ACLI_OUT_007', 'without --debug nothing of the wire is shown', async () => {
    const { out, err } = await run(['send', '-a', script.url, 'hello']);
    expect(out + err).not.toMatch(/debug:|jsonrpc/);
  });
});

describe('tasks', () => {
  excludes('A2ACLI_TASK_GET_001', 'an unknown task or a history that is no number prints no task', async () => {
    const unknown = await run(['task', 'get', '-a', script.url, 'nobody', '-o', 'json']);
    expect([unknown.code, jsonOf(unknown)]).toMatchObject([1, { error: { code: 'TaskNotFoundError', a2aCode: -32001 } }]);
    expect(await run(['task', 'get', '-a', script.url, 'nobody', '--history', 'all'])).toMatchObject({ code: 2, out: '' });
  });

  excludes('A2ACLI_TASK_CANCEL_001', 'a finished task stays as it is, and the refusal is shown', async () => {
    const done = fieldOf(await run(['send', '-a', script.url, 'hello']), 'Task') ?? '';
    const refused = await run(['task', 'cancel', '-a', script.url, done]);
    expect([refused.code, refused.out, refused.err]).toEqual([
      1,
      '',
      expect.stringMatching(/COMPLETED and stays so[\s\S]*Code: TaskNotCancelableError/),
    ]);
    expect(fieldOf(await run(['task', 'get', '-a', script.url, done]), 'State')).toBe('COMPLETED');
  });

  excludes('A2ACLI_TASK_LIST_001', 'a filter that makes no sense is a wrong call', async () => {
    for (const flag of ['--status=sleeping', '--page-size=0', '--since=yesterday'])
      expect(await run(['task', 'list', '-a', script.url, flag]), flag).toMatchObject({ code: 2, out: '' });
  });

  excludes('A2ACLI_DOWNLOAD_001', 'a task without artifacts writes nothing, and says so', async () => {
    const { task } = await begun(script.url, 'ask');
    const ran = await run(['task', 'download', '-a', script.url, task, '--dir', `${folder}/none`, '-o', 'json']);
    expect([ran.code, jsonOf(ran), ran.err]).toEqual([
      0,
      expect.objectContaining({ files: [] }),
      expect.stringContaining('nothing was written'),
    ]);
  });

  excludes('A2ACLI_PUSH_001', 'a webhook without an address is a wrong call, an unknown one an error', async () => {
    const { task } = await begun(script.url, 'ask');
    for (const url of [[], ['--url', 'nowhere']])
      expect(await run(['task', 'push-config', 'create', task, '-a', script.url, ...url])).toMatchObject({ code: 2, out: '' });
    expect((await run(['task', 'push-config', 'get', task, 'nobody', '-a', script.url])).code).toBe(1);
  });

  excludes('A2ACLI_CHAT_001', 'a finished task is not continued, and /new leaves the context behind', async () => {
    const agent = await silent({ SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }) });
    const ran = await run(['chat', agent.url, '--json'], { input: 'one\n/new\ntwo\n' });
    expect(linesOf(ran)).toMatchObject([{ state: 'TASK_STATE_COMPLETED', taskId: 't-1' }, { taskId: 't-1' }]);
    const messages = agent.calls('SendMessage').map(({ params }) => params['message'] as Record<string, unknown>);
    expect(messages.map(({ taskId, contextId }) => [taskId, contextId])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    await agent.close();
  });

  excludes('A2ACLI_AUTH_011', 'a task that waits for authorization does not continue by itself', async () => {
    const waiting = await run(['send', '-a', script.url, 'auth']);
    const again = await run(['task', 'get', '-a', script.url, fieldOf(waiting, 'Task') ?? '', '--wait']);
    expect([again.code, fieldOf(again, 'State'), again.err]).toEqual([0, 'AUTH_REQUIRED', expect.stringContaining('authorization')]);
  });
});
